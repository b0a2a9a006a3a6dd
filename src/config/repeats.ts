/** Something that stands there for the second time, and what stood there first. */
export interface Repeat<T> {
  readonly text: string;
  readonly item: T;
  readonly first: T;
}

/** Every item after the first whose text is the same; one without a text repeats nothing. */
export function repeats<T>(items: readonly T[], textOf: (item: T) => unknown): readonly Repeat<T>[] {
  const seen = new Map<string, T>();
  const found: Repeat<T>[] = [];
  for (const item of items) {
    const text = textOf(item);
    if (typeof text !== "string") {
      continue;
    }
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, item);
    } else {
      found.push({ text, item, first });
    }
  }
  return found;
}
