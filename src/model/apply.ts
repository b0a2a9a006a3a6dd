import type { Failure } from "./errors.ts";
import type { Change } from "./plan.ts";

/** What became of one planned change. */
export type Outcome =
  | {
      readonly status: "done";
      readonly change: Change;
      readonly id: string | null;
      /** The answer to its create was lost, and what it made was found and taken over. */
      readonly adopted: boolean;
    }
  /** It was looked at before the write, and is no longer what was planned; nothing was sent. */
  | { readonly status: "stale"; readonly change: Change; readonly failure: Failure }
  | { readonly status: "failed"; readonly change: Change; readonly failure: Failure }
  | { readonly status: "unknown"; readonly change: Change; readonly failure: Failure }
  /** One of several requests is done, and the run stopped before the others; the next run goes on. */
  | { readonly status: "unfinished"; readonly change: Change }
  | { readonly status: "not-started"; readonly change: Change };

/** A stretch of an apply: what belongs to one phase runs side by side (`free-names` in order), phases one after the other. */
export type Phase =
  | "free-names"
  | "create-roles"
  | "update-roles"
  | "clear-invitations"
  | "write-members"
  | "delete-members"
  | "delete-roles";

/** What an apply tells while it runs; the screen, the JSON stream and the journal listen. */
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
      readonly type: "change-ended";
      readonly merchant: string;
      readonly phase: Phase;
      readonly outcome: Outcome;
    }
  | { readonly type: "apply-stopped"; readonly merchant: string; readonly failure: Failure | null }
  | { readonly type: "apply-ended"; readonly merchant: string; readonly result: ApplyResult };

/** What became of a plan; `stopped` when anything in it was not done. */
export interface ApplyResult {
  readonly status: "done" | "stopped";
  /** One for each planned change, in the plan's order. */
  readonly outcomes: readonly Outcome[];
}
