import type {
  ApplyResult,
  JournalEntry,
  MerchantNote,
  MerchantOutcome,
  Outcome,
  Phase,
  StopCause,
} from "./apply.ts";
import type { AccountEntry, RefusedChange } from "./approval-account.ts";
import type { Failure } from "./errors.ts";
import type { MemberField } from "./field-values.ts";
import type { Change, Deferred, Finding, Plan } from "./plan.ts";

/**
 * The importance of an event: text shows `debug` events only with `--verbose`, if at all; JSON and journals do not
 * depend on the level.
 */
export type EventLevel = "debug" | "info" | "warn" | "error";

/** One kind of event: its level, its meaning, and the meaning of each field of its payload. */
export interface EventEntry<Event> {
  readonly level: EventLevel;
  readonly doc: string;
  readonly fields: { readonly [Field in Exclude<keyof Event, "type">]-?: string };
}

/** Every kind of a union of events. */
export type EventEntries<Event extends { readonly type: string }> = {
  readonly [One in Event as One["type"]]: EventEntry<One>;
};

/** The events by their source; a code is `<source>.<type>`. */
export interface EventRegistry {
  /** Events for the log and the progress display. */
  readonly service: EventEntries<LiveEvent>;
  /** Events for the JSON stream, the log and the progress display. */
  readonly apply: EventEntries<ApplyEvent>;
  /** Events of the JSON stream, which are part of the output in text. */
  readonly report: EventEntries<ReportEvent>;
  /** Events for the journal of a run. */
  readonly journal: EventEntries<JournalEntry>;
}

/** A line of the JSON stream of `apply` and `undo`, without its time. */
export type StreamEvent = ApplyEvent | ReportEvent;

/** Events of the client; they never contain a header or a body. */
export type LiveEvent =
  | { readonly type: "request"; readonly method: string; readonly path: string; readonly attempt: number }
  | {
      readonly type: "response";
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly ms: number;
    }
  | {
      readonly type: "no-response";
      readonly method: string;
      readonly path: string;
      readonly reason: string;
      readonly ms: number;
    }
  | {
      readonly type: "wait";
      readonly method: string;
      readonly path: string;
      readonly attempt: number;
      readonly status: number | null;
      readonly reason: string;
      readonly ms: number;
      readonly until: number;
      readonly retryAfter: boolean;
      readonly leftMs: number;
    }
  | {
      readonly type: "read";
      readonly merchant: string;
      readonly members: number;
      readonly total: number | null;
    }
  | {
      readonly type: "proxy";
      readonly service: string;
      readonly proxy: string | null;
      readonly because: string;
    }
  | { readonly type: "pace"; readonly perSecond: number | null }
  | { readonly type: "caller-unknown"; readonly reason: string };

/** Events of an apply at one merchant. */
export type ApplyEvent =
  | { readonly type: "apply-started"; readonly merchant: string; readonly changes: number }
  | {
      readonly type: "phase-started";
      readonly merchant: string;
      readonly phase: Phase;
      readonly changes: number;
    }
  | {
      readonly type: "change-started";
      readonly merchant: string;
      readonly phase: Phase;
      readonly change: Change;
    }
  | {
      readonly type: "fields-emptied";
      readonly merchant: string;
      readonly phase: Phase;
      readonly change: Change;
      readonly fields: readonly MemberField[];
    }
  | {
      readonly type: "change-ended";
      readonly merchant: string;
      readonly phase: Phase;
      readonly outcome: Outcome;
    }
  | {
      readonly type: "apply-stopped";
      readonly merchant: string;
      readonly failure: Failure | null;
      readonly cause: StopCause | null;
    }
  | { readonly type: "apply-ended"; readonly merchant: string; readonly result: ApplyResult };

/** A failure for other programs: why a merchant has no plan, or a file cannot be used. */
export interface FailureJson {
  /** `null` if a file has the problem. */
  readonly merchant: string | null;
  /** `null` without a file. */
  readonly file: string | null;
  /** Counted from 1; `null` without a location in a file. */
  readonly line: number | null;
  readonly column: number | null;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** Events around an apply: what was planned, refused, verified and recorded. */
export type ReportEvent =
  | { readonly type: "undo"; readonly run: string; readonly notes: readonly MerchantNote[] }
  | { readonly type: "planned"; readonly merchant: string; readonly plan: Plan }
  | ({ readonly type: "failed" } & FailureJson)
  | {
      readonly type: "compared";
      readonly merchant: string;
      readonly refused: readonly RefusedChange[];
      readonly account: readonly AccountEntry[];
    }
  | {
      readonly type: "refused";
      readonly merchants: readonly string[];
      readonly reasons: readonly string[];
    }
  | {
      readonly type: "password-planned";
      readonly merchant: string;
      readonly name: string;
      readonly passwordEnv: string;
    }
  | {
      readonly type: "verified";
      readonly merchant: string;
      readonly remaining: readonly Change[];
      readonly errors: readonly Finding[];
      readonly notCreated: readonly string[];
      readonly deferred: readonly Deferred[];
      readonly leftOut: number;
      readonly refused: number;
    }
  | {
      readonly type: "unverified";
      readonly merchant: string;
      readonly message: string;
      readonly failure?: Failure;
    }
  | { readonly type: "journals"; readonly run: string; readonly files: readonly string[] }
  | {
      readonly type: "summary";
      readonly status: string;
      readonly exitCode: number;
      readonly merchants: number;
      readonly writes: number;
      readonly changes: Readonly<Record<Outcome["status"], number>>;
      readonly results: readonly MerchantOutcome[];
    };
