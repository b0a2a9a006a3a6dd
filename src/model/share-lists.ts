/** A list that was given before, by the keys of its items one after the other. */
interface Known<Item> {
  list?: readonly Item[];
  readonly next: Map<string, Known<Item>>;
}

/**
 * Gives one list for all lists whose items have the same keys: of a hundred thousand members most hold one of a few sets
 * of roles, and a list of its own for each takes a fifth of the memory.
 */
export function listSharer<Item>(keyOf: (item: Item) => string): (list: readonly Item[]) => readonly Item[] {
  const root: Known<Item> = { next: new Map() };
  return (list) => {
    let at = root;
    for (const item of list) {
      const key = keyOf(item);
      const found = at.next.get(key);
      const next: Known<Item> = found ?? { next: new Map() };
      if (found === undefined) at.next.set(key, next);
      at = next;
    }
    at.list ??= list;
    return at.list;
  };
}
