/**
 * Maps items in order, at most `width` at once; takes each item only when it starts. Rejects with the first error at
 * once: nothing new starts, and running work is not awaited.
 */
export async function mapConcurrent<Item, Result>(
  items: Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = numbered(items);
  let isOver = false;
  const worker = async (): Promise<void> => {
    // All workers take items from one queue, and a worker that throws closes it.
    for (const [index, item] of queue) results[index] = await work(item);
    isOver = true;
  };
  const workers: Promise<void>[] = [];
  // A worker takes its first item at once, so that there are no more workers than items.
  while (workers.length < width && !isOver) workers.push(worker());
  await Promise.all(workers);
  return results;
}

function* numbered<Item>(items: Iterable<Item>): Generator<readonly [number, Item]> {
  let index = 0;
  for (const item of items) {
    yield [index, item];
    index += 1;
  }
}
