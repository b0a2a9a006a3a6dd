import type { Journal, JournalEntry } from "../../src/model/apply.ts";

/** A journal that is kept in memory. */
export interface MemoryJournal extends Journal {
  readonly entries: readonly JournalEntry[];
}

/** Makes a journal; `before` may throw instead of letting an entry be written. */
export function memoryJournal(before: (entry: JournalEntry) => void = () => undefined): MemoryJournal {
  const entries: JournalEntry[] = [];
  return {
    entries,
    write: async (entry) => {
      before(entry);
      entries.push(structuredClone(entry));
    },
  };
}
