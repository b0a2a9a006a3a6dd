/**
 * Runs a task for each item, at most `width` at a time, in order of start.
 * When `stopped` turns true, or a task throws, nothing new starts; what is running ends first.
 */
export async function runPool<Item>(
  items: readonly Item[],
  width: number,
  stopped: () => boolean,
  task: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const thrown: unknown[] = [];
  const lane = async (): Promise<void> => {
    while (!stopped() && thrown.length === 0) {
      const next = queue.next();
      if (next.done) return;
      await task(next.value).catch((error: unknown) => thrown.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  if (thrown.length > 0) throw thrown[0];
}
