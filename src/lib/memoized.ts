/** Returns a function that computes the value of each key once; keys are compared by what `keyOf` returns. */
export function memoized<Key, Value>(
  make: (key: Key) => Value,
  keyOf: (key: Key) => unknown = (key) => key,
): (key: Key) => Value {
  const values = new Map<unknown, Value>();
  return (key) => {
    const id = keyOf(key);
    if (!values.has(id)) values.set(id, make(key));
    return values.get(id) as Value;
  };
}
