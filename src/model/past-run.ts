import type { RunEnded, RunStarted, RunVerified, WriteEnded, WriteIntended } from "./journal.ts";

/** A line of a journal with its moment, ISO 8601. */
export type Dated<Entry> = Entry & { readonly at: string };

/** A write of a past run; without an outcome it was cut short, and nobody knows what became of it. */
export interface PastWrite {
  readonly intent: Dated<WriteIntended>;
  readonly outcome: Dated<WriteEnded> | null;
}

/** What a journal tells of a run. */
export interface PastRun {
  readonly run: Dated<RunStarted>;
  /** In the order in which they were begun. */
  readonly writes: readonly PastWrite[];
  /** Null where the run was cut short, or goes on. */
  readonly end: Dated<RunEnded> | null;
  /** Null where nothing was read again at the end. */
  readonly verified: Dated<RunVerified> | null;
  /** The last line was not written whole, and is left out. */
  readonly torn: boolean;
}

/** A journal that was read, or why it cannot be. */
export type ReadJournal =
  | { readonly ok: true; readonly run: PastRun }
  /** `line` counts from 1; null where it is about the whole file. */
  | { readonly ok: false; readonly line: number | null; readonly reason: string };

/**
 * The status of a run: `running` as far as can be told, `interrupted` without an end, `unknown-outcome` with writes of
 * unknown outcome, `stopped` part-way, `incomplete` if changes remained at the end, `done`.
 */
export type RunStatus = "running" | "interrupted" | "unknown-outcome" | "stopped" | "incomplete" | "done";

/** Something that taking a run back does not bring back, or leaves alone. */
export interface UndoNote {
  readonly code: UndoNoteCode;
  readonly resource: "role" | "member";
  readonly name: string;
  readonly message: string;
}

/** A note about what an undo does not restore, or leaves alone, at one merchant. */
export type MerchantNote = UndoNote & { readonly merchant: string };

/** Why an undo is not the whole way back. */
export type UndoNoteCode =
  | "invited-again"
  | "new-id"
  | "password-needed"
  | "invitation-expired"
  | "was-disabled"
  | "no-address"
  | "nickname-stays"
  | "changed-since"
  | "gone-since"
  | "there-again"
  | "name-taken"
  | "still-held"
  | "half-replaced"
  | "role-gone"
  | "ignored"
  | "not-sure";
