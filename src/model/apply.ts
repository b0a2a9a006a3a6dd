import type { Failure } from "./errors.ts";
import type { Change, MemberChange } from "./plan.ts";

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
      /** Set if the recheck found it applied already, so that nothing was sent. */
      readonly already?: true;
    }
  /** The recheck found that the resource has changed since it was planned; nothing was sent. */
  | { readonly status: "stale"; readonly change: Change; readonly failure: Failure }
  | { readonly status: "failed"; readonly change: Change; readonly failure: Failure }
  | ({ readonly status: "unknown"; readonly change: Change; readonly failure: Failure } & Removal)
  /** Some of several requests are done, the others not, after a failure or a stop; the next run goes on. */
  | ({ readonly status: "unfinished"; readonly change: Change; readonly failure?: Failure } & Removal)
  | { readonly status: "not-started"; readonly change: Change };

interface Removal {
  /**
   * Set if the expired invitation in `change.before` is gone without a known new one; "unknown" if its removal may have
   * taken effect, and no new one was sent.
   */
  readonly removed?: true | "unknown";
}

/** A phase of an apply: its changes run concurrently (`free-names` in order), the phases one after the other. */
export type Phase =
  | "free-names"
  | "create-roles"
  | "update-roles"
  | "clear-invitations"
  | "write-members"
  | "set-passwords"
  | "delete-members"
  | "delete-roles";

/** The part of a change in one phase; a change has one or several. */
export interface Step {
  readonly phase: Phase;
  readonly change: Change | PasswordChange;
  /**
   * `set-aside` renames a role temporarily to free its name; `create` and `remove` make up a replacement; `restore`
   * restores fields of a member that the service has emptied.
   */
  readonly part: "whole" | "set-aside" | "create" | "remove" | "restore";
}

/** The cause that stopped a merchant's apply other than its own failure: another merchant's failure, a signal, or lost output. */
export type StopCause =
  | { readonly by: "merchant"; readonly merchant: string }
  | { readonly by: "signal"; readonly signal: string }
  | { readonly by: "output"; readonly stream: "stdout" | "stderr" };

/**
 * The result of an apply: `stopped` after a failure, a signal, or a journal that cannot be written; `incomplete` if only
 * invitations that were refused for their address, and what depends on them, are left.
 */
export interface ApplyResult {
  readonly status: "done" | "incomplete" | "stopped";
  /** One for each planned change, in the plan's order, then one for each new password. */
  readonly outcomes: readonly Outcome[];
  /** Number of writes that the service has, or may have, applied. */
  readonly writes: number;
  /** Why the journal is incomplete; `null` if it is complete. */
  readonly journalFailure: Failure | null;
  /** Changes that were sent and whose outcome is not in the journal. */
  readonly unrecorded: readonly Change[];
}

/** Whether a failure at one merchant stops an apply at all of them; within a merchant the first failure always stops it. */
export type OnError = "stop" | "continue";

/**
 * How an apply of several merchants ended at one of them: `unchanged` if there was nothing to do, `partial` if some
 * changes are made and others remain. If it is `refused` or has `failed`, nothing was changed there.
 */
export interface MerchantOutcome {
  readonly merchant: string;
  readonly status: "applied" | "unchanged" | "partial" | "refused" | "failed";
  /** Why it is neither `applied` nor `unchanged`, a sentence each; else empty. */
  readonly reasons: readonly string[];
}
