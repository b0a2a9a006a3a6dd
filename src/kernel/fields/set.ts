import { byCodeUnit, quoteIfNeeded } from "../../lib/text.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { FieldKind } from "./kind.ts";

/** A set of texts. */
export const listKind: FieldKind<readonly string[], "list"> = {
  name: "list",
  ...setOf<string>({ keyOf: (text) => text, nameOf: (text) => text, labelOf: (text) => text }),
  sent: (texts) => texts,
};

/** A set of roles. */
export const rolesKind: FieldKind<readonly RoleRef[], "roles"> = {
  name: "roles",
  ...setOf({ keyOf: roleKey, nameOf: (role) => role.name, labelOf: roleLabel }),
  sent: (refs) => refs.map(idOf),
};

/** Returns a text that is the same for two references only if they mean the same role. */
export function roleKey({ id, name }: RoleRef): string {
  return id ?? `new ${name}`;
}

function idOf({ id, name }: RoleRef): string {
  if (id === null) throw new Error(`role ${name} was not created before it was needed`);
  return id;
}

/** Returns the name of a role, with the id of a predefined one, since files use that, and of two live ones of one name. */
function roleLabel({ id, name }: RoleRef, others: readonly RoleRef[]): string {
  const isTwin = others.some((other) => other.name === name && other.id !== null && other.id !== id);
  return id === `role_${name.toLowerCase()}` || (id !== null && isTwin) ? `${name} (${id})` : name;
}

interface SetItems<Item> {
  readonly keyOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  /** Text in the rows of a diff, beside other items. */
  readonly labelOf: (item: Item, others: readonly Item[]) => string;
}

function setOf<Item>({
  keyOf,
  nameOf,
  labelOf,
}: SetItems<Item>): Omit<FieldKind<readonly Item[]>, "name" | "sent"> {
  const without = (items: readonly Item[], removed: readonly Item[]): readonly Item[] => {
    const keys = new Set(removed.map(keyOf));
    return items.filter((item) => !keys.has(keyOf(item)));
  };
  const order = (a: Item, b: Item): number =>
    byCodeUnit(nameOf(a), nameOf(b)) || byCodeUnit(keyOf(a), keyOf(b));
  const normal = (items: readonly Item[]): readonly Item[] => {
    const sorted = [...items].sort(order);
    return sorted.filter((item, index) => index === 0 || keyOf(item) !== keyOf(sorted[index - 1] as Item));
  };
  return {
    empty: [],
    normal,
    isSame: (a, b) => without(a, b).length + without(b, a).length === 0,
    diff: (before, after) => ({ added: without(after, before), removed: without(before, after) }),
    changedParts: (before, after) => [...without(after, before), ...without(before, after)].map(keyOf),
    withParts: (before, after, parts) =>
      normal([
        ...before.filter((item) => !parts.has(keyOf(item))),
        ...after.filter((item) => parts.has(keyOf(item))),
      ]),
    inverted: ({ added, removed }) => ({ added: removed, removed: added }),
    lines: (items) => items.map((item) => labelOf(item, items)),
    changedLines: ({ added, removed }) => {
      const labels = (items: readonly Item[]): readonly string[] =>
        items.map((item) => labelOf(item, [...removed, ...added]));
      return { removed: labels(removed), added: labels(added) };
    },
    surprises: (field, planned, live) => {
      const names = (items: readonly Item[]): string =>
        items.map((item) => quoteIfNeeded(nameOf(item))).join(", ");
      const [added, removed] = [without(live, planned), without(planned, live)];
      const parts = [
        ...(added.length > 0 ? [`now also ${names(added)}`] : []),
        ...(removed.length > 0 ? [`no longer ${names(removed)}`] : []),
      ];
      return parts.length === 0 ? [] : [`${field}: ${parts.join(" and ")}`];
    },
    content: (items) => items.map(nameOf),
    reverted: (before, after, live) =>
      normal([...without(live, without(after, before)), ...without(before, after)]),
  };
}
