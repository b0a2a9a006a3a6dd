/** Work that is done step by step, so that something else can be done in between; each step takes some milliseconds. */
export type Steps<T> = Generator<unknown, T>;

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
