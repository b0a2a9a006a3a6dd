import type { Path } from "../problems/problem.ts";
import { fieldsOf } from "./values.ts";

/** What an item of a list is sorted by. */
export type SortKey = readonly (string | number)[];

/** Returns the sort key of the list at a path; `null` if the user chooses its order. */
export function orderOfList(path: Path): ((value: unknown) => SortKey) | null {
  const [section, , key] = path;
  if (path.length === 1 && section === "roles") {
    return (role) => byText(fieldsOf(role)["name"]);
  }
  if (path.length === 1 && (section === "members" || section === "leavers")) {
    return (member) => byText(fieldsOf(member)["email"]);
  }
  if (path.length === 3 && section === "roles" && key === "permissions") {
    return byText;
  }
  if (path.length === 4 && section === "roles" && key === "adjust") {
    return byText;
  }
  if (path.length === 3 && section === "members" && key === "roles") {
    return (grant) => byText(typeof grant === "string" ? grant : fieldsOf(grant)["role"]);
  }
  return null;
}

function byText(value: unknown): SortKey {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return [text.toLowerCase(), text];
}

/** Compares the keys of two items. */
export function compareKeys(a: SortKey, b: SortKey): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? "";
    if (left !== right) {
      return left < right ? -1 : 1;
    }
  }
  return 0;
}

/** Returns the indexes of the fewest items without which a list would be sorted. */
export function outOfOrder(keys: readonly SortKey[]): readonly number[] {
  // The index of the last item of the best run of each length, and the item in front of each in its run.
  const lasts: number[] = [];
  const previous: number[] = [];
  for (const [index, key] of keys.entries()) {
    let [low, high] = [0, lasts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(keys[lasts[middle] ?? 0] ?? [], key) <= 0) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : (lasts[low - 1] ?? -1));
    lasts[low] = index;
  }
  const kept = new Set<number>();
  for (let at = lasts.at(-1) ?? -1; at !== -1; at = previous[at] ?? -1) kept.add(at);
  return [...keys.keys()].filter((index) => !kept.has(index));
}
