import type { Path } from "../../kernel/problems/problem.ts";
import { orderOfList, outOfOrder } from "../../kernel/values/list-order.ts";
import { listOf, valueAt } from "../../kernel/values/values.ts";
import { oneLine } from "../../lib/escape.ts";
import { codesOf, type LintContext, type LintFinding, merchantsOf } from "./lint-context.ts";

/** Finds items that are out of order in otherwise sorted lists. */
export function unsortedEntries(context: LintContext): readonly LintFinding[] {
  return context.files.flatMap(({ file, fields }) => {
    const merchants = codesOf(merchantsOf(context, file));
    return listPaths(fields).flatMap(({ path, list }) => {
      const order = orderOfList(path);
      const keys = order === null ? [] : list.map(order);
      const misplaced = outOfOrder(keys);
      // In a list that nobody keeps sorted, many are out of order.
      if (misplaced.length > keys.length / LEAST_SORTED) return [];
      return misplaced.map((index) => ({
        message: `"${oneLine(String(keys[index]?.[1] ?? ""))}" is out of order in "${path.at(-1)}"; the rest of the list is sorted.`,
        hint: 'Move it to the correct place, or run "rolecall fmt --sort": changes to a sorted list rarely cause merge conflicts.',
        origin: { file, path: [...path, index] },
        merchants,
      }));
    });
  });
}

/** Number of items for each one that may be out of order. */
const LEAST_SORTED = 8;

/** Returns the lists of a file that can be sorted. */
function listPaths(
  fields: Readonly<Record<string, unknown>>,
): readonly { readonly path: Path; readonly list: readonly unknown[] }[] {
  const inside = (section: string, ...paths: readonly Path[]): readonly Path[] =>
    listOf(fields[section]).flatMap((_, index) => paths.map((path) => [section, index, ...path]));
  const paths: readonly Path[] = [
    ["roles"],
    ["members"],
    ["leavers"],
    ...inside("roles", ["permissions"], ["adjust", "add"], ["adjust", "remove"]),
    ...inside("members", ["roles"]),
  ];
  return paths.map((path) => ({ path, list: listOf(valueAt(fields, path)) }));
}
