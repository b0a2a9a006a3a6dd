/** Work that is done step by step, so that something else can be done in between; each step takes some milliseconds. */
export type Steps<T> = Generator<unknown, T>;

/** How many things of a long list are gone through in one step. */
const AT_A_TIME = 500;

/** Makes something of each, in steps. */
export function* mapInSteps<T, R>(
  items: readonly T[],
  make: (item: T, index: number) => R,
): Steps<readonly R[]> {
  const made: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % AT_A_TIME === 0) yield;
    made.push(make(item, index));
  }
  return made;
}

/** Does all of it at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does it with a pause after each step. */
export async function withPauses<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}
