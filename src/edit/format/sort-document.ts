import { type Document, isAlias, isMap, isNode, isPair, isSeq, type YAMLMap, type YAMLSeq } from "yaml";
import merchantSchema from "../../../schemas/merchant.schema.json" with { type: "json" };
import projectSchema from "../../../schemas/rolecall.schema.json" with { type: "json" };
import type { Path } from "../../kernel/problems/problem.ts";
import { compareKeys, orderOfList, type SortKey } from "../../kernel/values/list-order.ts";
import { fieldsOf, listOf, unique } from "../../kernel/values/values.ts";
import { keyText } from "../../kernel/yaml/document.ts";
import { jsonSchemaKeys } from "./json-schema-keys.ts";
import { type Entry, headOf, joinComments, setHead } from "./print-document.ts";

/** Identity and sign-in come before access. */
const MEMBER_KEYS = unique(["email", "managed", ...jsonSchemaKeys(["members", 0], merchantSchema)]);

/** Returns the keys of the mapping at a path in canonical order; empty if the user chooses them. */
export function canonicalKeys(path: Path): readonly string[] {
  if (path[0] === "members" && path.length === 2) return MEMBER_KEYS;
  // The keys of one item are those of all.
  const shape = path.map((segment) => (typeof segment === "number" ? 0 : segment));
  const name = JSON.stringify(shape);
  const keys =
    knownKeys.get(name) ??
    unique([...jsonSchemaKeys(shape, merchantSchema), ...jsonSchemaKeys(shape, projectSchema)]);
  knownKeys.set(name, keys);
  return keys;
}

const knownKeys = new Map<string, readonly string[]>();

/** The order of the entries of lists: sorted within their groups, or as they are. */
export type EntryOrder = "sorted" | "kept";

/**
 * Puts sections and keys in the canonical order, and with `"sorted"` the entries within each group of a list, as far as
 * aliases allow; `value` is the document's plain value.
 */
export function sortDocument(document: Document, value: unknown, entries: EntryOrder): void {
  const names = anchorNames(document.contents);
  // An anchor that is defined twice refers to its last definition.
  if (new Set(names).size < names.length) {
    return;
  }
  const root = document.contents;
  const first = isMap(root) ? headOf(root.items[0] as Entry) : null;
  const comment = first?.commentBefore ?? "";
  // After the file's own comment and a blank line comes that of the first section.
  const blank = comment.endsWith("\n") ? -1 : comment.lastIndexOf("\n\n");
  const top = blank < 0 ? comment : comment.slice(0, blank + 1);
  if (first !== null) {
    setHead(first, blank < 0 ? "" : comment.slice(blank + 2));
    first.spaceBefore = blank >= 0;
  }
  sortNode(root, value, [], entries);
  const now = isMap(root) ? headOf(root.items[0] as Entry) : null;
  if (now !== null) {
    setHead(now, joinComments(top, now.commentBefore ?? ""));
    now.spaceBefore = false;
  }
}

function sortNode(node: unknown, value: unknown, path: Path, entries: EntryOrder): void {
  if (isMap(node)) {
    sortMap(node, value, path, entries);
  } else if (isSeq(node)) {
    sortSeq(node, value, path, entries);
  }
}

function sortMap(map: YAMLMap, value: unknown, path: Path, entries: EntryOrder): void {
  const keys = canonicalKeys(path);
  // Keys that the user chose keep their order.
  if (keys.length === 0) {
    return;
  }
  for (const pair of map.items) {
    const key = keyText(pair.key) ?? "";
    sortNode(pair.value, fieldsOf(value)[key], [...path, key], entries);
  }
  const rank = (key: string) => (keys.includes(key) ? keys.indexOf(key) : keys.length);
  const sorted = sortedBy(map.items, (pair) => [rank(keyText(pair.key) ?? "")]);
  if (sorted.some((pair, index) => pair !== map.items[index]) && aliasesHold(sorted)) {
    const trailing = takeTrailing(map.items);
    spread(map.items, sorted);
    map.items = [...sorted];
    putTrailing(map, trailing);
  }
}

/**
 * Detaches comments directly below an entry, with a blank line after them, from the next entry; returns them by the
 * entry that they belong to.
 */
function takeTrailing(entries: readonly Entry[]): ReadonlyMap<Entry, string> {
  const trailing = new Map<Entry, string>();
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    const head = headOf(entry);
    // The library ends a comment that has a blank line below it with a line break.
    const [comment = "", ...rest] = `${head?.commentBefore ?? ""}\n`.split("\n\n");
    if (before !== undefined && head !== null && head.spaceBefore !== true && rest.length > 0) {
      trailing.set(before, comment);
      setHead(head, rest.join("\n\n").replace(/\n$/, ""));
      head.spaceBefore = true;
    }
  }
  return trailing;
}

/** Puts trailing comments back below their entries, wherever those are now. */
function putTrailing(map: YAMLMap, trailing: ReadonlyMap<Entry, string>): void {
  for (const [index, entry] of map.items.entries()) {
    const comment = trailing.get(entry);
    const next = map.items[index + 1];
    const head = next === undefined ? null : headOf(next);
    if (comment !== undefined && head !== null) {
      setHead(head, joinComments(`${comment}\n`, head.commentBefore ?? ""));
      head.spaceBefore = false;
    } else if (comment !== undefined) {
      map.comment = joinComments(comment, map.comment ?? "");
    }
  }
}

function sortSeq(seq: YAMLSeq, value: unknown, path: Path, entries: EntryOrder): void {
  const values = listOf(value);
  const items = [...seq.items];
  for (const [index, item] of items.entries()) {
    sortNode(item, values[index], [...path, index], entries);
  }
  const order = entries === "sorted" ? orderOfList(path) : null;
  // An alias may use the same list elsewhere, where the order matters.
  if (order === null || seq.anchor !== undefined) {
    return;
  }
  const keys = new Map(items.map((item, index) => [item as Entry, order(values[index])]));
  const groups = groupsOf(items as Entry[]).map(({ pinned, movable }) => {
    const sorted = sortedBy(movable, (entry) => keys.get(entry) ?? []);
    return { pinned, first: movable[0], sorted };
  });
  const sortedNodes = groups.flatMap(({ pinned, sorted }) => [...pinned, ...sorted]);
  if (!aliasesHold(sortedNodes)) {
    return;
  }
  for (const { pinned, first, sorted } of groups) {
    if (pinned.length === 0) {
      moveHead(first, sorted[0]);
    }
  }
  seq.items = sortedNodes;
}

/** A group of adjacent entries; a pinned one stays first, because the comment above it is its own. */
interface Group {
  readonly pinned: readonly Entry[];
  readonly movable: readonly Entry[];
}

/**
 * Divides a list's entries at comments and blank lines. If only some entries have a blank line above, a comment at the
 * beginning of a group is its heading; any other comment belongs to its entry.
 */
function groupsOf(entries: readonly Entry[]): readonly Group[] {
  const spaced = entries.map((entry, index) => index > 0 && headOf(entry)?.spaceBefore === true);
  const blankLinesDivide = spaced.includes(true) && spaced.includes(false, 1);
  const groups: { pinned: Entry[]; movable: Entry[] }[] = [];
  for (const [index, entry] of entries.entries()) {
    const comment = headOf(entry)?.commentBefore ?? "";
    const below = index === 0 || (blankLinesDivide && spaced[index] === true);
    const isHeading = blankLinesDivide && below && !comment.includes("\n\n");
    const last = groups.at(-1);
    if (comment !== "" && !isHeading) {
      groups.push({ pinned: [entry], movable: [] });
    } else if (last === undefined || below || comment !== "") {
      groups.push({ pinned: [], movable: [entry] });
    } else {
      last.movable.push(entry);
    }
  }
  return groups;
}

/** Keeps a group's heading, and the blank line above it, at the top when another entry becomes the first. */
function moveHead(before: Entry | undefined, after: Entry | undefined): void {
  const from = before === undefined ? null : headOf(before);
  const to = after === undefined ? null : headOf(after);
  if (from === null || to === null || from === to) {
    return;
  }
  setHead(to, from.commentBefore ?? "");
  setHead(from, "");
  [to.spaceBefore, from.spaceBefore] = [from.spaceBefore === true, to.spaceBefore === true];
}

/**
 * Returns the positions of new items in a list at a path: the index of the item that they follow, -1 for the beginning.
 * A sorted list stays sorted; in any other list, they go to the end.
 */
export function placeItems<Item extends { readonly value: unknown }>(
  items: readonly unknown[],
  fresh: readonly Item[],
  path: Path,
): ReadonlyMap<number, readonly Item[]> {
  const order = orderOfList(path);
  const keys = order === null ? [] : items.map(order);
  const isSorted = keys.every((key, index) => index === 0 || compareKeys(keys[index - 1] ?? [], key) <= 0);
  if (order === null || !isSorted) return new Map([[items.length - 1, fresh]]);
  const placed = new Map<number, Item[]>();
  for (const item of sortedBy(fresh, ({ value }) => order(value))) {
    const key = order(item.value);
    const after = keys.findLastIndex((other) => compareKeys(other, key) <= 0);
    placed.set(after, [...(placed.get(after) ?? []), item]);
  }
  return placed;
}

function sortedBy<T>(entries: readonly T[], keyOf: (entry: T) => SortKey): readonly T[] {
  return entries
    .map((entry) => ({ entry, key: keyOf(entry) }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ entry }) => entry);
}

function aliasesHold(entries: readonly Entry[]): boolean {
  const homes = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    for (const name of anchorNames(entry)) {
      homes.set(name, index);
    }
  }
  return (
    homes.size === 0 ||
    entries.every((entry, index) => aliasNames(entry).every((name) => (homes.get(name) ?? 0) <= index))
  );
}

function anchorNames(root: unknown): readonly string[] {
  return namesIn(root, (node) =>
    isNode(node) && !isAlias(node) ? (node as { anchor?: string }).anchor : undefined,
  );
}

function aliasNames(root: unknown): readonly string[] {
  return namesIn(root, (node) => (isAlias(node) ? node.source : undefined));
}

function namesIn(root: unknown, nameOf: (node: unknown) => string | undefined): readonly string[] {
  const names: string[] = [];
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
      return;
    }
    const name = nameOf(node);
    if (name !== undefined) {
      names.push(name);
    }
    if (isMap(node) || isSeq(node)) {
      node.items.forEach(visit);
    }
  };
  visit(root);
  return names;
}

/** Puts a blank line between all entries if most had one before; the first has none. */
function spread(before: readonly Entry[], after: readonly Entry[]): void {
  const spaced = before.slice(1).filter((entry) => headOf(entry)?.spaceBefore === true).length;
  const most = spaced * 2 > before.length - 1;
  for (const [index, entry] of after.entries()) {
    const head = headOf(entry);
    if (head !== null) {
      head.spaceBefore = index > 0 && (most || head.spaceBefore === true);
    }
  }
}
