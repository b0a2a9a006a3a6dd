import type { UndoNote, UndoNoteCode } from "../../model/past-run.ts";

/** Takes a note of what does not go back. */
export type TakeNote = (code: UndoNoteCode, name: string, message: string) => void;

/** A list of notes about roles, or about members, and what adds to it. */
export function noteTaker(resource: UndoNote["resource"]): {
  readonly notes: readonly UndoNote[];
  readonly note: TakeNote;
} {
  const notes: UndoNote[] = [];
  return { notes, note: (code, name, message) => void notes.push({ code, resource, name, message }) };
}
