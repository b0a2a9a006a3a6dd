import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf } from "../../kernel/values/values.ts";
import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import { canonicalKeys, placeItems } from "../format/sort-document.ts";

/** One edit of a YAML text. Paths are keys and indexes of the text as it was before all edits. */
export type YamlEdit =
  /** Sets a key or item; of a list or mapping, only what differs is changed. */
  | { readonly kind: "set"; readonly path: Path; readonly value: JsonValue }
  /** Removes a key or item with the comments that belong to it; the last one leaves `[]` or `{}`. */
  | { readonly kind: "remove"; readonly path: Path }
  /** Gives a key of a mapping another name. */
  | { readonly kind: "rename"; readonly path: Path; readonly key: string }
  /**
   * Adds an item to a list, in its place if the list is sorted, else at its end; below a comment unless the list is in
   * brackets. Creates the list if it is absent.
   */
  | { readonly kind: "append"; readonly path: Path; readonly value: JsonValue; readonly comment?: string }
  /** Adds a commented-out item at the end of a list, unless one with the same first line is in the text. */
  | { readonly kind: "remark"; readonly path: Path; readonly value: JsonValue; readonly comment?: string };

/** A value as it should be after the edits of a text. */
export interface Target {
  readonly value: JsonValue;
  /** The entries of a list or mapping; `null` for any other value. */
  readonly entries: readonly TargetEntry[] | null;
  /** The entries to add as comments. */
  readonly remarks: readonly Remark[];
}

/** An item of a list, or a key of a mapping with its value. */
export interface TargetEntry {
  /** `null` for an item. */
  readonly key: string | null;
  /** The index or the key that it has had; `null` for a new one. */
  readonly from: number | string | null;
  readonly target: Target;
  /** The text above a new entry. */
  readonly comment?: string | undefined;
}

/** An item of a list that is commented out. */
export interface Remark {
  readonly value: JsonValue;
  readonly comment?: string | undefined;
}

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

/** The edits of a value and of what is in it. */
interface EditTree {
  set?: JsonValue;
  removed?: true;
  renamed?: string;
  readonly children: Map<string, EditTree>;
  readonly added: Remark[];
  readonly remarks: Remark[];
}

/** Returns what edits make of a value; throws EditRefused. */
export function editedTarget(value: JsonValue, edits: readonly YamlEdit[]): Target {
  return targetOf(value, treeOf(edits), []) ?? targetFor(null, undefined, []);
}

function treeOf(edits: readonly YamlEdit[]): EditTree {
  const emptyTree = (): EditTree => ({ children: new Map(), added: [], remarks: [] });
  const root = emptyTree();
  for (const edit of edits) {
    let tree = root;
    for (const segment of edit.path) {
      const key = String(segment);
      const inner = tree.children.get(key) ?? emptyTree();
      tree.children.set(key, inner);
      tree = inner;
    }
    switch (edit.kind) {
      case "append":
        tree.added.push(edit);
        break;
      case "remark":
        tree.remarks.push(edit);
        break;
      case "rename":
        if (tree.renamed !== undefined) throw new EditRefused("overlap", edit.path);
        tree.renamed = edit.key;
        break;
      case "set":
      case "remove":
        if (tree.set !== undefined || tree.removed) throw new EditRefused("overlap", edit.path);
        if (edit.kind === "set") tree.set = edit.value;
        else tree.removed = true;
        break;
      default:
        // A caller without types must not remove what it meant to change.
        throw new TypeError(
          `an edit has the unknown kind ${JSON.stringify((edit satisfies never as { kind?: unknown }).kind)}`,
        );
    }
  }
  checkOverlap(root, []);
  return root;
}

function checkOverlap({ set, removed, renamed, children, added, remarks }: EditTree, path: Path): void {
  const inside = children.size + added.length;
  const isBoth = removed && (set !== undefined || renamed !== undefined || inside + remarks.length > 0);
  const isMixed = added.length > 0 && [...children.keys()].some((key) => !isIndex(key));
  if (isBoth || isMixed || (set !== undefined && inside > 0)) throw new EditRefused("overlap", path);
  for (const [key, child] of children) checkOverlap(child, [...path, key]);
}

const isIndex = (key: string): boolean => /^\d+$/.test(key);

/** Returns what a tree makes of a value, undefined for one that is absent; `null` if it is removed. */
function targetOf(before: JsonValue | undefined, tree: EditTree, path: Path): Target | null {
  const { set, removed, children, added, remarks } = tree;
  if (removed) return null;
  if (set !== undefined) return { ...targetFor(set, before, path), remarks };
  const isAbsent = before === undefined || before === null;
  const inside = children.size + added.length;
  if (inside === 0 && before === undefined) return null;
  if (inside === 0) return { ...targetFor(before ?? null, before, path), remarks };
  const isList = isAbsent ? added.length > 0 : Array.isArray(before);
  if (!isList && (added.length > 0 || (!isAbsent && typeof before !== "object"))) {
    throw new EditRefused("missing", path);
  }
  const entries = isList
    ? listEntries((before ?? []) as readonly JsonValue[], tree, path)
    : mapEntries((before ?? {}) as Fields, tree, path);
  return { value: valueFrom(entries, isList), entries, remarks };
}

type Fields = { readonly [key: string]: JsonValue };

const isFields = (value: JsonValue | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueFrom(entries: readonly TargetEntry[], isList: boolean): JsonValue {
  return isList
    ? entries.map(({ target }) => target.value)
    : Object.fromEntries(entries.map(({ key, target }) => [key, target.value]));
}

function listEntries(
  items: readonly JsonValue[],
  { children, added }: EditTree,
  path: Path,
): readonly TargetEntry[] {
  for (const key of children.keys()) {
    if (!(isIndex(key) && Number(key) < items.length)) throw new EditRefused("missing", [...path, key]);
  }
  const places = placeItems(items, added, path);
  const addedAfter = (index: number): readonly TargetEntry[] =>
    (places.get(index) ?? []).map(({ value, comment }) => ({
      ...newItem(value, [...path, items.length]),
      comment,
    }));
  const kept = items.flatMap((item, index): readonly TargetEntry[] => {
    const child = children.get(String(index));
    const inner = [...path, index];
    const target = child === undefined ? targetFor(item, item, inner) : targetOf(item, child, inner);
    return [...(target === null ? [] : [{ key: null, from: index, target }]), ...addedAfter(index)];
  });
  return [...addedAfter(-1), ...kept];
}

function newItem(value: JsonValue, path: Path): TargetEntry {
  return { key: null, from: null, target: targetFor(value, undefined, path) };
}

function mapEntries(fields: Fields, { children }: EditTree, path: Path): readonly TargetEntry[] {
  const kept = Object.entries(fields).flatMap(([key, value]): readonly TargetEntry[] => {
    const child = children.get(key);
    const inner = [...path, key];
    if (child?.renamed !== undefined && Object.hasOwn(fields, child.renamed))
      throw new EditRefused("overlap", inner);
    const target = child === undefined ? targetFor(value, value, inner) : targetOf(value, child, inner);
    return target === null ? [] : [{ key: child?.renamed ?? key, from: key, target }];
  });
  const fresh = [...children].flatMap(([key, child]): readonly TargetEntry[] => {
    if (Object.hasOwn(fields, key)) return [];
    if (child.removed || child.renamed !== undefined) throw new EditRefused("missing", [...path, key]);
    const target = targetOf(undefined, child, [...path, key]);
    return target === null ? [] : [{ key, from: null, target }];
  });
  return inCanonicalPlace(kept, fresh, path);
}

/** Adds new keys where `fmt` would put them. */
function inCanonicalPlace(
  kept: readonly TargetEntry[],
  fresh: readonly TargetEntry[],
  path: Path,
): readonly TargetEntry[] {
  const order = canonicalKeys(path);
  const rank = ({ key }: TargetEntry): number =>
    key !== null && order.includes(key) ? order.indexOf(key) : order.length;
  const entries = [...kept];
  for (const entry of fresh.toSorted((a, b) => rank(a) - rank(b))) {
    const after = entries.findLastIndex((other) => rank(other) <= rank(entry));
    entries.splice(after + 1, 0, entry);
  }
  return entries;
}

/** Returns the target of a value; its entries come from those of the value before, as far as they are about the same. */
export function targetFor(value: JsonValue, before: JsonValue | undefined, path: Path): Target {
  return { value, entries: alignedEntries(value, before, path), remarks: [] };
}

function alignedEntries(
  value: JsonValue,
  before: JsonValue | undefined,
  path: Path,
): readonly TargetEntry[] | null {
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    return alignedItems(items, Array.isArray(before) ? before : [], path);
  }
  if (!isFields(value)) return null;
  const old = isFields(before) ? before : {};
  const entry = (key: string, item: JsonValue): TargetEntry => {
    const from = Object.hasOwn(old, key) ? key : null;
    return { key, from, target: targetFor(item, from === null ? undefined : old[key], [...path, key]) };
  };
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  const entries = fields.map(([key, item]) => entry(key, item));
  const kept = Object.keys(old).flatMap((key) => entries.find((other) => other.from === key) ?? []);
  return inCanonicalPlace(
    kept,
    entries.filter(({ from }) => from === null),
    path,
  );
}

/** Aligns the items of two lists in their order: each with the next one that is equal, or else about the same. */
function alignedItems(
  items: readonly JsonValue[],
  before: readonly JsonValue[],
  path: Path,
): readonly TargetEntry[] {
  let next = 0;
  return items.map((item, position) => {
    const rest = before.slice(next);
    const same = rest.findIndex((other) => isSameJson(other, item));
    const identity = identityOf(item);
    const index =
      same >= 0 || identity === null ? same : rest.findIndex((other) => identityOf(other) === identity);
    if (index < 0) return newItem(item, [...path, position]);
    const from = next + index;
    next = from + 1;
    return { key: null, from, target: targetFor(item, before[from], [...path, from]) };
  });
}

/** Returns what an entry is about, such as an address; `null` for a value that is no such entry. */
function identityOf(value: JsonValue): string | null {
  const { email, name, role, can, member } = fieldsOf(value);
  const identity = email ?? name ?? role ?? can ?? member;
  return typeof identity === "string" ? identity : null;
}
