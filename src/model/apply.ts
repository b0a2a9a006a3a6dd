import type { Failure } from "./errors.ts";
import type { Change, MemberChange } from "./plan.ts";

/**
 * A new password for a user whom the merchant manages, asked for on the command line. No plan holds it; it is carried
 * out as an update that leaves everything else as it is.
 */
export type PasswordChange = MemberChange & {
  readonly kind: "update";
  /** Name of the environment variable with the password. */
  readonly passwordEnv: string;
};

/** What became of one planned change, or of one new password. */
export type Outcome =
  | {
      readonly status: "done";
      readonly change: Change;
      readonly id: string | null;
      /**
       * The answer to its create was lost, and what it made was found and taken over; or that to a new password, which the
       * service then refused as used before.
       */
      readonly adopted: boolean;
      /** It was so already when it was looked at, and nothing had to be sent. */
      readonly already?: true;
    }
  /** It was looked at before the write, and is no longer what was planned; nothing was sent. */
  | { readonly status: "stale"; readonly change: Change; readonly failure: Failure }
  | { readonly status: "failed"; readonly change: Change; readonly failure: Failure }
  | ({ readonly status: "unknown"; readonly change: Change; readonly failure: Failure } & Removal)
  /** One of several requests is done, and the others are not, for a failure or a stop; the next run goes on. */
  | ({ readonly status: "unfinished"; readonly change: Change; readonly failure?: Failure } & Removal)
  | { readonly status: "not-started"; readonly change: Change };

interface Removal {
  /** The expired invitation in `change.before` is gone, and no new one is known to be there. */
  readonly removed?: true;
}

/** A stretch of an apply: what belongs to one phase runs side by side (`free-names` in order), phases one after the other. */
export type Phase =
  | "free-names"
  | "create-roles"
  | "update-roles"
  | "clear-invitations"
  | "write-members"
  | "set-passwords"
  | "delete-members"
  | "delete-roles";

/** The cause that stopped a merchant's apply other than its own failure: another merchant's failure, a signal, or lost output. */
export type StopCause =
  | { readonly by: "merchant"; readonly merchant: string }
  | { readonly by: "signal"; readonly signal: string }
  | { readonly by: "output"; readonly stream: "stdout" | "stderr" };

/**
 * The result of a plan; `stopped` when a failure or somebody ended it early, or something is not recorded; `incomplete`
 * when everything is done but for invitations that were refused for their address alone, and what depends on them.
 */
export interface ApplyResult {
  readonly status: "done" | "incomplete" | "stopped";
  /** One for each planned change, in the plan's order, then one for each new password. */
  readonly outcomes: readonly Outcome[];
  /** How many writes the service has carried out, or may have. */
  readonly writes: number;
  /** Why the journal does not hold all that was done; null where it does. */
  readonly journalFailure: Failure | null;
  /** Changes that were sent and of which the journal does not tell what became. */
  readonly unrecorded: readonly Change[];
}
