import { canonicalJson } from "../../lib/canonical-json.ts";

/** The value of before where the live one is still the run's; the live one where it is back, or neither. */
export function back<T>(before: T, after: T, live: T, changedSince: () => void): T {
  const same = (a: T, b: T): boolean => canonicalJson(a as never) === canonicalJson(b as never);
  if (same(before, after) || same(live, before)) return live;
  if (same(live, after)) return before;
  changedSince();
  return live;
}

/** What is live, without what the run added, and with what it took away. */
export function backSet(
  before: readonly string[],
  after: readonly string[],
  live: readonly string[],
): readonly string[] {
  const [was, is] = [new Set(before), new Set(after)];
  const added = new Set(after.filter((one) => !was.has(one)));
  const removed = before.filter((one) => !is.has(one));
  return [...new Set([...live.filter((one) => !added.has(one)), ...removed])];
}
