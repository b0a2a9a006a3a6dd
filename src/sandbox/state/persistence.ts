/** Where a state is kept; both resolve when it would survive a crash. */
export interface StateFile {
  /** Puts a whole state in the place of what was there. */
  save(state: string): Promise<void>;
  /** Adds lines behind it; absent: every save is a whole one. */
  readonly append?: ((lines: string) => Promise<void>) | undefined;
}

/** Keeps a state up to date in a file, writing as little as possible. */
export interface Persistence {
  /** Takes a change as one line. */
  note(line: () => string): void;
  /** Makes the next save a whole one. */
  fold(): void;
  /** Brings the file up to date; one at a time. */
  write(): Promise<void>;
}

/** Below this, appended lines are not worth folding in. */
const MIN_COMPACTION_LENGTH = 1_048_576;

/** Appends changes until they are as much text as the state itself, then writes the state anew. */
export function createPersistence(file: StateFile, stateText: () => string): Persistence {
  let pending: (() => string)[] = [];
  let whole = true;
  let room = 0;

  async function replace(): Promise<void> {
    const text = stateText();
    // From here on changes are not in that text any more.
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
    note: (line) => {
      if (file.append !== undefined && !whole) pending.push(line);
    },
    fold: () => {
      whole = true;
      pending = [];
    },
    write: async () => {
      if (whole || file.append === undefined) return replace();
      const text = pending.map((line) => `${line()}\n`).join("");
      pending = [];
      if (text === "") return;
      room -= text.length;
      if (room < 0) return replace();
      try {
        await file.append(text);
      } catch {
        // Half a line may stand there now, or the file may be gone: only a whole state puts that right.
        await replace();
      }
    },
  };
}

/** Saves a state so that many writes share one save. */
export interface GroupCommit {
  /** Resolves when a save that began after this call is done. */
  commit(): Promise<void>;
  /** Resolves when no write waits to be saved. */
  settle(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** Saves once at a time; whoever comes while a save runs shares the next one. */
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
  return { commit, settle: async () => (busy ? commit() : undefined) };
}
