import type { Journal } from "../../model/journal.ts";

/** The journal of one run at one merchant, open for writing. */
export interface OpenJournal extends Journal {
  /** The run's id, which the journals of all its merchants share. */
  readonly run: string;
  /** As it is told to people: relative to the working directory. */
  readonly file: string;
  close(): Promise<void>;
}
