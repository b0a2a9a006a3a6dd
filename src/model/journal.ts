import type { Phase } from "./apply.ts";
import type { Failure } from "./errors.ts";
import type { MemberImage, Reason, RoleImage } from "./plan.ts";

/** The journal of one apply at one merchant, line by line; `at` of each line is ISO 8601. Nothing in it is secret. */
export type JournalLine = JournalEntry & { readonly at: string };

/** One line of a journal, before it is dated. */
export type JournalEntry = RunStarted | WriteIntended | WriteEnded | RunEnded | RunVerified;

/** The first line: who applies what, where, and from which commit. */
export interface RunStarted {
  readonly type: "run";
  readonly format: 1;
  /**
   * The run's id, the same at all its merchants: the journals' file names begin with it. Before runs had several
   * merchants it was the journal's file name without its extension.
   */
  readonly run: string;
  readonly merchant: string;
  readonly environment: "live" | "test" | null;
  /** Base URL of the service. */
  readonly service: string;
  /** Of the plan. */
  readonly fingerprint: string;
  /** How many changes the plan holds. */
  readonly changes: number;
  /** rolecall's version. */
  readonly version: string;
  readonly user: string | null;
  readonly host: string;
  readonly pid: number;
  /** The commit that the files were at; `clean` is false where something was not committed. */
  readonly commit: { readonly id: string; readonly clean: boolean } | null;
  /** Address of the CI run, where one can be told. */
  readonly job: string | null;
  /** The run that this one takes back. */
  readonly undoes: string | null;
}

/** A write that is about to be sent; on the disk before it is. */
export interface WriteIntended {
  readonly type: "intent";
  /** Counts the writes of a run, from 1. */
  readonly write: number;
  readonly phase: Phase;
  /** Which of a change's writes it is; see `Step`. */
  readonly part: "whole" | "set-aside" | "create" | "remove" | "restore";
  readonly resource: "role" | "member";
  readonly kind: "create" | "update" | "replace" | "delete";
  readonly name: string;
  /** Null where the write creates; for a new invitation that of the expired one. */
  readonly id: string | null;
  readonly reason: Reason;
  /** Of the change. */
  readonly fingerprint: string;
  /** The planned state of `id`; null where the write creates. */
  readonly before: RoleImage | MemberImage | null;
  /** What this write makes of it; null where it removes. */
  readonly after: RoleImage | MemberImage | null;
  /** It sets a new password, which is not told, and changes nothing else. */
  readonly password?: true;
}

/** What became of a write. */
export interface WriteEnded {
  readonly type: "outcome";
  readonly write: number;
  /** `not-sent`: the run was stopped while the write waited for its turn. */
  readonly status: "done" | "failed" | "unknown" | "stale" | "not-sent";
  /** What was created or touched; null where nothing is known to be. */
  readonly id: string | null;
  readonly adopted: boolean;
  readonly failure: Failure | null;
  /** It had to wait, and was so already when it was looked at again; nothing was sent. */
  readonly already?: true;
}

/** The apply has ended; without this line it was cut short. */
export interface RunEnded {
  readonly type: "end";
  /** `incomplete`: but for invitations that were refused for their address alone, and what depends on them. */
  readonly status: "done" | "incomplete" | "stopped";
  /** Why it stopped, in a sentence; null where it did not. */
  readonly cause: string | null;
  /** How many of the plan's changes ended how. */
  readonly outcomes: Readonly<
    Record<"done" | "failed" | "unknown" | "stale" | "unfinished" | "not-started", number>
  >;
}

/** What was found when everything was read again. */
export interface RunVerified {
  readonly type: "verified";
  /** Changes that are left, each as kind, resource and name. */
  readonly left: readonly string[];
  /** Changes that wait for an acceptance, likewise. */
  readonly deferred: readonly string[];
}

/** Where a run is recorded; resolves when the entry is on the disk, throws RolecallError where it cannot be. */
export interface Journal {
  write(entry: JournalEntry): Promise<void>;
}
