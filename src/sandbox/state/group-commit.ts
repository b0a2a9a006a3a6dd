/** Saves a state so that many writes share one save. */
export interface Committer {
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
export function createCommitter(save: () => Promise<void>): Committer {
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
