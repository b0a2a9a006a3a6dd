import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf, kindOf, listOf } from "../../kernel/values/values.ts";
import { canonicalJson, isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import { canonicalKeys } from "../format/sort-document.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/** A new item of a list, or a new key of a mapping; a comment stands above it. */
export interface Addition {
  readonly key: string | null;
  readonly value: JsonValue;
  readonly comment?: string | undefined;
  /** The items of a new list. */
  readonly items?: readonly Addition[];
  /** The items of a new list that are commented out. */
  readonly remarks?: readonly Remark[];
}

/** An item of a list that stands there as a comment only. */
export interface Remark {
  readonly value: JsonValue;
  readonly comment?: string | undefined;
}

/** The commented-out items to add to the list at a path. */
export interface ListRemarks {
  readonly path: Path;
  readonly remarks: readonly Remark[];
}

/** A change of a node; `value` is its plain value afterwards. */
export type NodeChange =
  | { readonly kind: "replace"; readonly value: JsonValue }
  | {
      readonly kind: "entries";
      readonly value: JsonValue;
      readonly changed: ReadonlyMap<number, NodeChange>;
      readonly removed: ReadonlySet<number>;
      /** The new ones, by the index of the entry that they follow; -1 for those in front. */
      readonly added: ReadonlyMap<number, readonly Addition[]>;
    };

/** Changes inside a list or mapping. */
export type EntriesChange = NodeChange & { readonly kind: "entries" };

/** Thrown where an edit cannot be done. */
export class EditRefused extends Error {
  readonly reason: "missing" | "overlap" | "unsupported";
  readonly path: Path;

  constructor(reason: "missing" | "overlap" | "unsupported", path: Path) {
    super(reason);
    this.reason = reason;
    this.path = path;
  }
}

/** Returns the least change that makes a node mean a value; null if it does already. */
export function changeTo(node: SyntaxNode, value: JsonValue, path: Path): NodeChange | null {
  if (isSameJson(node.value, value)) return null;
  if (node.kind === "map" && kindOf(value) === "mapping") {
    return mapChange(node, value as { readonly [key: string]: JsonValue }, path);
  }
  if (node.kind === "seq" && Array.isArray(value)) {
    return listChange(node, value as readonly JsonValue[], path);
  }
  return { kind: "replace", value };
}

function mapChange(node: SyntaxNode, value: { readonly [key: string]: JsonValue }, path: Path): NodeChange {
  const changed = new Map<number, NodeChange>();
  const removed = new Set<number>();
  const indexes = keyIndexes(node, path);
  for (const [key, index] of indexes) {
    const target = Object.hasOwn(value, key) ? value[key] : undefined;
    const inner = node.entries[index]?.node;
    if (target === undefined) removed.add(index);
    else if (inner !== undefined) {
      const change = changeTo(inner, target, [...path, key]);
      if (change !== null) changed.set(index, change);
    }
  }
  const additions = Object.entries(value).flatMap(([key, item]) =>
    indexes.has(key) || item === undefined ? [] : [{ key, value: item }],
  );
  return { kind: "entries", value, changed, removed, added: placeKeys(node, additions, path) };
}

/** Returns new keys of a mapping by the index of the entry that they follow in canonical order. */
export function placeKeys(
  node: SyntaxNode,
  additions: readonly Addition[],
  path: Path,
): ReadonlyMap<number, readonly Addition[]> {
  const order = canonicalKeys(path);
  const rank = (key: string | null) =>
    key !== null && order.includes(key) ? order.indexOf(key) : order.length;
  const placed = new Map<number, Addition[]>();
  for (const addition of additions.toSorted((a, b) => rank(a.key) - rank(b.key))) {
    const after = node.entries.findLastIndex(({ key }) => rank(key) <= rank(addition.key));
    placed.set(after, [...(placed.get(after) ?? []), addition]);
  }
  return placed;
}

/** Returns the positions of a mapping's keys, each of which has to be there once. */
export function keyIndexes(node: SyntaxNode, path: Path): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [index, { key }] of node.entries.entries()) {
    if (key === null || indexes.has(key)) throw new EditRefused("unsupported", path);
    indexes.set(key, index);
  }
  return indexes;
}

function listChange(node: SyntaxNode, value: readonly JsonValue[], path: Path): NodeChange {
  const changed = new Map<number, NodeChange>();
  const removed = new Set<number>();
  const added = new Map<number, Addition[]>();
  const before = listOf(node.value);
  for (const { same, from, count, items } of alignLists(before, value)) {
    for (let index = 0; index < count; index++) {
      const [inner, target] = [node.entries[from + index]?.node, items[index]];
      const change =
        same && inner && target !== undefined && changeTo(inner, target, [...path, from + index]);
      if (!same) removed.add(from + index);
      else if (change) changed.set(from + index, change);
    }
    const after = from + count - 1;
    if (same || items.length === 0) continue;
    const fresh = items.map((item) => ({ key: null, value: item }));
    added.set(after, [...(added.get(after) ?? []), ...fresh]);
  }
  return { kind: "entries", value, changed, removed, added };
}

/** A range of a list, and the items in its place: versions of the same entries, or others. */
interface AlignedPart {
  readonly same: boolean;
  readonly from: number;
  readonly count: number;
  readonly items: readonly JsonValue[];
}

/** Aligns the items of two lists that differ: first those that are equal, then those that are about the same one. */
function alignLists(before: readonly unknown[], after: readonly JsonValue[]): readonly AlignedPart[] {
  return segments(before.map(canonicalJson), after.map(canonicalJson)).flatMap((outer) => {
    if (outer.same) return [];
    const [old, fresh] = [before.slice(...outer.before), after.slice(...outer.after)];
    return segments(old.map(identityOf), fresh.map(identityOf)).map((part) => ({
      same: part.same,
      from: outer.before[0] + part.before[0],
      count: part.before[1] - part.before[0],
      items: fresh.slice(...part.after),
    }));
  });
}

/** Returns a text that two versions of an entry share; a different one for each value that is no such entry. */
function identityOf(value: unknown, index: number): string {
  const { email, name, role, can, member } = fieldsOf(value);
  const identity = email ?? name ?? role ?? can ?? member;
  return typeof identity === "string" ? `=${identity}` : `${index}${canonicalJson(value)}`;
}

/** Corresponding parts of the old and the new list, as ranges of indexes. */
interface Segment {
  readonly before: readonly [number, number];
  readonly after: readonly [number, number];
  readonly same: boolean;
}

/** Maximum number of comparisons; above it, all between the common ends counts as replaced. */
const MAX_COMPARISONS = 1_000_000;

/** Aligns two lists by their longest common subsequence. */
function segments(before: readonly string[], after: readonly string[]): readonly Segment[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [b, a] = [before.length, after.length];
  while (b > start && a > start && before[b - 1] === after[a - 1]) [b, a] = [b - 1, a - 1];
  const segments: Segment[] = [];
  const add = (same: boolean, bFrom: number, bTo: number, aFrom: number, aTo: number) => {
    if (bFrom < bTo || aFrom < aTo) segments.push({ before: [bFrom, bTo], after: [aFrom, aTo], same });
  };
  add(true, 0, start, 0, start);
  let [x, y] = [start, start];
  for (const [i, j] of commonPairs(before.slice(start, b), after.slice(start, a))) {
    add(false, x, start + i, y, start + j);
    add(true, start + i, start + i + 1, start + j, start + j + 1);
    [x, y] = [start + i + 1, start + j + 1];
  }
  add(false, x, b, y, a);
  add(true, b, before.length, a, after.length);
  return segments;
}

function commonPairs(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const [rows, columns] = [before.length, after.length];
  if (rows === 0 || columns === 0 || rows * columns > MAX_COMPARISONS) return [];
  const width = columns + 1;
  const longest = new Uint32Array((rows + 1) * width);
  const lengthAt = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      longest[i * width + j] =
        before[i] === after[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let [i, j] = [0, 0]; i < rows && j < columns; ) {
    if (before[i] === after[j]) pairs.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/**
 * Adds what aliases need to a change: one whose anchor is gone, or means something else, is written out; one whose
 * anchor means just what the alias has to mean stays.
 */
export function settleAliases(root: SyntaxNode, change: NodeChange | null): NodeChange | null {
  return hasAliases(root) ? settle(root, change, new Map()) : change;
}

function hasAliases(node: SyntaxNode): boolean {
  return node.kind === "alias" || node.entries.some((entry) => hasAliases(entry.node));
}

/** Settles a node that stays, in the order of the text; `anchors` are the values that the names have so far. */
function settle(
  node: SyntaxNode,
  change: NodeChange | null,
  anchors: Map<string, unknown>,
): NodeChange | null {
  const value = change === null ? node.value : change.value;
  if (node.alias !== null) {
    const kept = anchors.has(node.alias) && isSameJson(anchors.get(node.alias), value);
    return kept ? null : { kind: "replace", value: value as JsonValue };
  }
  const settled = change?.kind === "replace" ? change : settleEntries(node, change, anchors);
  if (node.anchor !== null) anchors.set(node.anchor, value);
  return settled;
}

function settleEntries(
  node: SyntaxNode,
  change: EntriesChange | null,
  anchors: Map<string, unknown>,
): NodeChange | null {
  const changed = new Map<number, NodeChange>();
  for (const [index, entry] of node.entries.entries()) {
    if (change?.removed.has(index)) continue;
    const inner = settle(entry.node, change?.changed.get(index) ?? null, anchors);
    if (inner !== null) changed.set(index, inner);
  }
  if (change === null && changed.size === 0) return null;
  return {
    kind: "entries",
    value: change === null ? (node.value as JsonValue) : change.value,
    changed,
    removed: change?.removed ?? new Set(),
    added: change?.added ?? new Map(),
  };
}
