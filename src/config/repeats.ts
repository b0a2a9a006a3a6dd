/** Something that stands there for the second time, and where it stood first. */
export interface Repeat<P> {
  readonly text: string;
  readonly place: P;
  readonly first: P;
}

/** Every occurrence of a text after its first; `fold` makes two spellings one. */
export function repeats<P>(
  items: Iterable<readonly [text: unknown, place: P]>,
  fold: (text: string) => string = (text) => text,
): readonly Repeat<P>[] {
  const seen = new Map<string, P>();
  const found: Repeat<P>[] = [];
  for (const [text, place] of items) {
    if (typeof text !== "string") {
      continue;
    }
    const first = seen.get(fold(text));
    if (first === undefined) {
      seen.set(fold(text), place);
    } else {
      found.push({ text, place, first });
    }
  }
  return found;
}
