import type { PastRun, RunStatus } from "../../model/apply.ts";
import type { MemberImage } from "../../model/plan.ts";

/** An expired invitation that was removed, as it was. */
export interface LostInvitation {
  readonly name: string;
  readonly before: MemberImage;
}

/** A readable journal, with the status of its merchant's part of the run. */
export interface KnownRun {
  readonly name: string;
  readonly past: PastRun;
  readonly status: RunStatus;
  /** Members whose fields the service may have emptied, and that are not restored for certain; absent: none. */
  readonly unrestored?: readonly (LostInvitation & { readonly fields: readonly string[] })[];
  /** Expired invitations that were removed and not sent again; absent: none. */
  readonly lost?: readonly LostInvitation[];
  /** Number of writes that are told elsewhere; absent: none. */
  readonly doneWrites?: number;
}

/** A journal in a list, readable or not. */
export type ListedRun =
  | KnownRun
  /** The reason that it cannot be read, with its path. */
  | { readonly name: string; readonly unreadable: string };

/** A run with the journal of each merchant. */
export interface ShownRun {
  /** The run's id. */
  readonly name: string;
  /** The status of all merchants together; `null` if no journal is readable. */
  readonly status: RunStatus | null;
  readonly journals: readonly ListedRun[];
}

/** The words for the status of a run. */
export const RUN_STATUS: Readonly<Record<RunStatus, string>> = {
  running: "still running",
  interrupted: "interrupted",
  "unknown-outcome": "outcome unknown",
  stopped: "stopped",
  incomplete: "incomplete",
  done: "done",
};
