import type { RunEnded, RunStarted, RunVerified, WriteEnded, WriteIntended } from "./journal.ts";

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
  /** `null` if the run was interrupted or still runs. */
  readonly end: Dated<RunEnded> | null;
  /** `null` without a verification. */
  readonly verified: Dated<RunVerified> | null;
  /** Whether the last line is incomplete; it is left out. */
  readonly torn: boolean;
}

/** A journal, or why it cannot be read. */
export type ReadJournal =
  | { readonly ok: true; readonly run: PastRun }
  /** `line` counts from 1; `null` if it is about the whole file. */
  | { readonly ok: false; readonly line: number | null; readonly reason: string };

/**
 * The status of a run: `running` as far as can be told, `interrupted` without an end, `unknown-outcome` with writes of
 * unknown outcome, `stopped` part-way, `incomplete` if changes remained at the end, `done`.
 */
export type RunStatus = "running" | "interrupted" | "unknown-outcome" | "stopped" | "incomplete" | "done";

/** A note on what an undo does not restore, or leaves alone. */
export interface UndoNote {
  readonly code: UndoNoteCode;
  readonly resource: "role" | "member";
  readonly name: string;
  readonly message: string;
}

/** A note about what an undo does not restore, or leaves alone, at one merchant. */
export type MerchantNote = UndoNote & { readonly merchant: string };

/** The reasons for an incomplete undo. */
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
