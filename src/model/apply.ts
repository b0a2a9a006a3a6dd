import type { Failure } from "./errors.ts";
import type { MemberField, RoleImage } from "./field-values.ts";
import type { Change, MemberChange, MemberImage, Reason } from "./plan.ts";

/**
 * A new password for a managed user, requested on the command line. It is not part of a plan, and is applied as an update
 * of the password only.
 */
export type PasswordChange = MemberChange & {
  readonly kind: "update";
  /** Name of the environment variable with the password. */
  readonly passwordEnv: string;
};

/** The outcome of a planned change or of a new password. */
export type Outcome =
  | {
      readonly status: "done";
      readonly change: Change;
      readonly id: string | null;
      /**
       * True if the response to a create was lost and the resource was found and adopted, or the response to a new
       * password was lost and the retry was refused as a reused password.
       */
      readonly adopted: boolean;
      /**
       * Set if the recheck found it applied already, so that nothing was sent, or the service has refused a password as one
       * that was used before.
       */
      readonly already?: true;
    }
  /** The recheck found that the resource has changed since it was planned; nothing was sent. */
  | { readonly status: "stale"; readonly change: Change; readonly failure: Failure }
  | { readonly status: "failed"; readonly change: Change; readonly failure: Failure }
  | ({ readonly status: "unknown"; readonly change: Change; readonly failure: Failure } & Removal)
  /** After a failure or a stop, only some of several requests are done; the next run continues. */
  | ({ readonly status: "unfinished"; readonly change: Change; readonly failure?: Failure } & Removal)
  | { readonly status: "not-started"; readonly change: Change };

export interface Removal {
  /**
   * Set if the expired invitation in `change.before` is gone and no new one is known; "unknown" if its removal may have
   * taken effect, and no new one was sent.
   */
  readonly removed?: true | "unknown";
}

/**
 * A phase of an apply. Phases run in order; the changes of a phase run concurrently, except in `free-names`, and except that
 * a role is given before it is taken from others.
 */
export type Phase =
  | "free-names"
  | "create-roles"
  | "update-roles"
  | "clear-invitations"
  | "write-members"
  | "set-passwords"
  | "delete-members"
  | "reuse-addresses"
  | "widen-roles"
  | "delete-roles"
  | "own-access";

/** The part of a change in one phase; a change has one or several. */
export interface Step {
  readonly phase: Phase;
  readonly change: Change | PasswordChange;
  readonly part: ChangePart;
}

/**
 * A part of a change: `set-aside` renames a role temporarily to free its name; `create` and `remove` make up a replacement;
 * `narrow` and `widen` make up an update of a role that gets its new permissions last; `restore` restores fields of a member
 * that the service has emptied.
 */
export type ChangePart = "whole" | "set-aside" | "create" | "remove" | "narrow" | "widen" | "restore";

/**
 * The cause that stopped a merchant's apply, other than its own failure: another merchant's failure, a signal, or lost
 * output.
 */
export type StopCause =
  | { readonly by: "merchant"; readonly merchant: string }
  | { readonly by: "signal"; readonly signal: string }
  | { readonly by: "output"; readonly stream: "stdout" | "stderr" };

/**
 * The result of an apply: `stopped` after a failure, a signal, or a journal that cannot be written; `incomplete` if
 * only invitations and passwords that were refused for individual people, and what depends on them, remain.
 */
export interface ApplyResult {
  readonly status: "done" | "incomplete" | "stopped";
  /** One outcome for each planned change, in the plan's order, then one for each new password. */
  readonly outcomes: readonly Outcome[];
  /** Number of writes that the service applied, or may have applied. */
  readonly writes: number;
  /** Why the journal is incomplete; `null` if it is complete. */
  readonly journalFailure: Failure | null;
  /** Changes that were sent and whose outcome is not in the journal. */
  readonly unrecorded: readonly Change[];
}

/**
 * The effect of a failure at one merchant on the others; within a merchant, the first failure always stops the apply.
 */
export type OnError = "stop" | "continue";

/**
 * The outcome of an apply at one of its merchants: `unchanged` if there was nothing to do, `partial` if some
 * changes are made and others remain. If it is `refused` or has `failed`, nothing was changed there.
 */
export interface MerchantOutcome {
  readonly merchant: string;
  readonly status: "applied" | "unchanged" | "partial" | "refused" | "failed";
  /** Why it is not `applied` or `unchanged`, one sentence each; otherwise empty. */
  readonly reasons: readonly string[];
}

/** The journal of one apply at one merchant, line by line; `at` of each line is ISO 8601. Nothing in it is secret. */
export type JournalLine = JournalEntry & { readonly at: string };

/** An entry of a journal, without its time. */
export type JournalEntry = RunStarted | WriteIntended | WriteEnded | RunEnded | RunVerified;

/** The first line of a journal: who applies what, where, and from which commit. */
export interface RunStarted {
  readonly type: "run";
  readonly format: 1;
  /** The run's id, the same at all its merchants; the names of its journals begin with it. */
  readonly run: string;
  readonly merchant: string;
  readonly environment: "live" | "test" | null;
  /** Base URL of the service. */
  readonly service: string;
  /** Of the plan. */
  readonly fingerprint: string;
  /** Number of changes in the plan. */
  readonly changes: number;
  /** rolecall's version. */
  readonly version: string;
  readonly user: string | null;
  readonly host: string;
  readonly pid: number;
  /** The commit of the files; `clean` is `false` with uncommitted changes. */
  readonly commit: { readonly id: string; readonly clean: boolean } | null;
  /** URL of the CI run, if known. */
  readonly job: string | null;
  /** The run that this one undoes. */
  readonly undoes: string | null;
  /** The refusals that `--allow` has overridden, one sentence each. Absent: none, or an earlier version wrote it. */
  readonly overridden?: readonly string[];
}

/** A write that is about to be sent, recorded before it is sent. */
export interface WriteIntended {
  readonly type: "intent";
  /** Number of the write in its run, from 1. */
  readonly write: number;
  readonly phase: Phase;
  readonly part: ChangePart;
  readonly resource: "role" | "member";
  readonly kind: "create" | "update" | "replace" | "delete";
  readonly name: string;
  /** `null` if the write creates; for a renewed invitation, the id of the expired one. */
  readonly id: string | null;
  readonly reason: Reason;
  /** Of the change. */
  readonly fingerprint: string;
  /** The planned state before the write; `null` for a create. */
  readonly before: RoleImage | MemberImage | null;
  /** The state after the write; `null` for a delete. */
  readonly after: RoleImage | MemberImage | null;
  /** True if it only sets a new password, which is not recorded. */
  readonly password?: true;
}

/** The outcome of a write. */
export interface WriteEnded {
  readonly type: "outcome";
  readonly write: number;
  /** `not-sent`: the run was stopped before the write was sent. */
  readonly status: "done" | "failed" | "unknown" | "stale" | "not-sent";
  /** Id of the created or changed resource; `null` if unknown or none. */
  readonly id: string | null;
  readonly adopted: boolean;
  readonly failure: Failure | null;
  /** Set if a recheck found it already applied, so that nothing was sent, or if the password was used before. */
  readonly already?: true;
}

/** The end of an apply in a journal. If this line is missing, the apply was interrupted. */
export interface RunEnded {
  readonly type: "end";
  /** `incomplete`: only changes that were refused for one person, and those that depend on them, remain. */
  readonly status: "done" | "incomplete" | "stopped";
  /** Why it stopped, as a sentence; `null` if it did not. */
  readonly cause: string | null;
  /** Number of the plan's changes by outcome. */
  readonly outcomes: Readonly<
    Record<"done" | "failed" | "unknown" | "stale" | "unfinished" | "not-started", number>
  >;
}

/** The result of the verification after an apply. */
export interface RunVerified {
  readonly type: "verified";
  /** Changes that remain, each as kind, resource and name. */
  readonly left: readonly string[];
  /** Changes that wait for an acceptance, in the same form. */
  readonly deferred: readonly string[];
}

/** The journal of a run; `write` resolves when the entry is on disk, and throws RolecallError if that fails. */
export interface Journal {
  write(entry: JournalEntry): Promise<void>;
}

/** A journal entry with its time, ISO 8601. */
export type Dated<Entry> = Entry & { readonly at: string };

/** A write of a past run; its outcome is `null` if it was interrupted, and then unknown. */
export interface PastWrite {
  readonly intent: Dated<WriteIntended>;
  readonly outcome: Dated<WriteEnded> | null;
}

/** The content of a journal. */
export interface PastRun {
  readonly run: Dated<RunStarted>;
  /** In the order of their intents. */
  readonly writes: readonly PastWrite[];
  /** `null` if the run was interrupted or is still running. */
  readonly end: Dated<RunEnded> | null;
  /** `null` without a verification. */
  readonly verified: Dated<RunVerified> | null;
  /** True if the last line is incomplete; it is left out. */
  readonly torn: boolean;
}

/** A journal, or why it cannot be read. */
export type ReadJournal =
  | { readonly ok: true; readonly run: PastRun }
  /** `line` counts from 1; `null` if it is about the whole file. */
  | { readonly ok: false; readonly line: number | null; readonly reason: string };

/**
 * The status of a run: `running` as far as known, `interrupted` without an end, `unknown-outcome` with writes of
 * unknown outcome, `stopped` part-way, `incomplete` if changes remained at the end, `done`; `began` if only the
 * beginning is recorded.
 */
export type RunStatus =
  | "running"
  | "began"
  | "interrupted"
  | "unknown-outcome"
  | "stopped"
  | "incomplete"
  | "done";

/** A note on what an undo cannot restore, or leaves alone. */
export interface UndoNote {
  readonly code: UndoNoteCode;
  readonly resource: "role" | "member";
  readonly name: string;
  readonly message: string;
}

/** A note about what an undo cannot restore, or leaves alone, at one merchant. */
export type MerchantNote = UndoNote & { readonly merchant: string };

/** The reasons for an incomplete undo. */
export type UndoNoteCode =
  | "invited-again"
  | "new-id"
  | "password-needed"
  | "invitation-expired"
  | "was-disabled"
  | "no-address"
  | `${MemberField}-stays`
  | "changed-since"
  | "gone-since"
  | "there-again"
  | "name-taken"
  | "still-held"
  | "half-replaced"
  | "role-gone"
  | "ignored"
  | "left"
  | "suspended"
  | "out-of-term"
  | "not-sure"
  | "maybe-cleared";
