/** A file for the state; both methods resolve when the data survives a crash. */
export interface StateFile {
  /** Replaces the content with a whole state. */
  save(state: string): Promise<void>;
  /** Appends lines; absent: every save replaces the whole state. */
  readonly append?: ((lines: string) => Promise<void>) | undefined;
}

/** Writes state changes to a file: appends them and compacts from time to time. */
export interface Persistence {
  /** Queues a change as one line. */
  record(line: () => string): void;
  /** Makes the next flush write the whole state. */
  compactNext(): void;
  /** Writes all queued changes; calls must not overlap. */
  flush(): Promise<void>;
}

/** Compaction is not worthwhile below this, in UTF-16 units of appended lines. */
const MIN_COMPACTION_LENGTH = 1_048_576;

/** Creates a persistence that compacts when the appended lines are as long as the state itself. */
export function createPersistence(file: StateFile, stateText: () => string): Persistence {
  let pending: (() => string)[] = [];
  let whole = true;
  let room = 0;

  async function replace(): Promise<void> {
    const text = stateText();
    // Changes from here on are not part of that text.
    whole = false;
    pending = [];
    room = Math.max(MIN_COMPACTION_LENGTH, text.length);
    try {
      await file.save(text);
    } catch (error) {
      whole = true;
      throw error;
    }
  }

  return {
    record: (line) => {
      if (file.append !== undefined && !whole) pending.push(line);
    },
    compactNext: () => {
      whole = true;
      pending = [];
    },
    flush: async () => {
      if (whole || file.append === undefined) return replace();
      const text = pending.map((line) => `${line()}\n`).join("");
      pending = [];
      if (text === "") return;
      room -= text.length;
      if (room < 0) return replace();
      try {
        await file.append(text);
      } catch {
        // The file may end within a line, or be gone: only a whole state repairs that.
        await replace();
      }
    },
  };
}

/** Batches commits, so that concurrent writes share one save. */
export interface GroupCommit {
  /** Resolves when a save that started after this call is done. */
  commit(): Promise<void>;
  /** Resolves when no commit is pending. */
  whenIdle(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** Creates a group commit; calls during a save share the next one. */
export function createGroupCommit(save: () => Promise<void>): GroupCommit {
  let waiting: Waiting[] = [];
  let busy = false;

  async function drain(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await save();
        for (const one of batch) one.resolve();
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    busy = false;
  }

  const commit = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      if (!busy) void drain();
    });
  return { commit, whenIdle: async () => (busy ? commit() : undefined) };
}
