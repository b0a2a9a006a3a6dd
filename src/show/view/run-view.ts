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
  /** Members whose fields the service may have emptied, and that may not have been restored; absent: none. */
  readonly unrestored?: readonly (LostInvitation & { readonly fields: readonly string[] })[];
  /** Expired invitations that were removed and not sent again; absent: none. */
  readonly lost?: readonly LostInvitation[];
  /** Number of writes that are reported elsewhere; absent: none. */
  readonly doneWrites?: number;
}

/** A journal in a list, readable or not. */
export type ListedRun =
  | KnownRun
  /** The reason why it cannot be read, with its path. */
  | { readonly name: string; readonly unreadable: string };

/** The record that a run was read from. */
export interface RecordOrigin {
  /** Name of the repository. */
  readonly place: string;
  /** Full name of its ref. */
  readonly ref: string;
  /** Whether its signature was checked, and the result. */
  readonly trust: "verified" | "altered" | "unsigned" | "foreign" | "unchecked";
  /** Who started the job; `null` outside CI. */
  readonly actor: string | null;
  readonly pulls: readonly number[];
}

/** A run with the journal of each merchant. */
export interface ShownRun {
  /** The run's id. */
  readonly name: string;
  /** The status of all merchants together; `null` if no journal is readable. */
  readonly status: RunStatus | null;
  readonly journals: readonly ListedRun[];
  /** Absent for the journals of this machine. */
  readonly record?: RecordOrigin;
}

/** What is known about who has written a record. */
export const RECORD_TRUST: Readonly<Record<RecordOrigin["trust"], string>> = {
  verified: "verified",
  altered: "altered after it was signed",
  unsigned: "not signed",
  foreign: "signed with another key",
  unchecked: "signed, but not verified without the key",
};

/** The words for the status of a run. */
export const RUN_STATUS: Readonly<Record<RunStatus, string>> = {
  running: "still running",
  began: "began",
  interrupted: "interrupted",
  "unknown-outcome": "outcome unknown",
  stopped: "stopped",
  incomplete: "incomplete",
  done: "done",
};
