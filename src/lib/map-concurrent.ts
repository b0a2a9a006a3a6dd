/** More than any limiter lets through at once, and few enough that no list of pages, however long, fills the memory. */
const WORKERS = 64;

/** Works items off as their turn comes, a bounded number at a time; the results are in the order of the items. */
export async function sideBySide<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = numbered(items);
  const worker = async (): Promise<void> => {
    // All workers take from the one queue.
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return results;
}

function* numbered<Item>(items: Iterable<Item>): Generator<readonly [number, Item]> {
  let index = 0;
  for (const item of items) {
    yield [index, item];
    index += 1;
  }
}
