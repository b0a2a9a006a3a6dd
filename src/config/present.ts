/** Without the fields that are undefined: what is absent in the file is absent here. */
export function present<T extends object>(record: T): Present<T> {
  const there: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = (record as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined) {
      there[key] = value;
    }
  }
  return there as Present<T>;
}

/** The record that `present` gives. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** What is written twice means the same as once. */
export function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
