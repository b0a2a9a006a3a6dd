import type { Path } from "../../kernel/problems/problem.ts";
import { listOf } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import { placeItems } from "../format/sort-document.ts";
import { insertRemarks } from "./block-entries.ts";
import {
  type Addition,
  changeTo,
  EditRefused,
  keyIndexes,
  type ListRemarks,
  type NodeChange,
  placeKeys,
  type Remark,
  settleAliases,
} from "./changes.ts";
import { spliceRoot } from "./splice-block.ts";
import { lineBreak, spliced } from "./splices.ts";
import { type EditStyle, readSyntax, type SyntaxNode } from "./syntax-tree.ts";

/** One edit of a YAML text. Paths are keys and indexes of the text as it was before all edits. */
export type YamlEdit =
  /** Sets a key or item; of a list or mapping, only what differs is changed. */
  | { readonly kind: "set"; readonly path: Path; readonly value: JsonValue }
  /** Removes a key or item with the comments that belong to it; the last one leaves `[]` or `{}`. */
  | { readonly kind: "remove"; readonly path: Path }
  /**
   * Adds an item to a list, in its place if the list is sorted, else at its end; below a comment unless the list is in
   * brackets. Creates the list if it is absent.
   */
  | { readonly kind: "append"; readonly path: Path; readonly value: JsonValue; readonly comment?: string }
  /** Adds a commented-out item at the end of a list, unless one with the same first line is in the text. */
  | { readonly kind: "remark"; readonly path: Path; readonly value: JsonValue; readonly comment?: string };

/** The options for printing new values. */
export interface YamlEditOptions {
  /** The comments on list items, by the items' text: the names of roles that are listed by id. */
  readonly comments?: ReadonlyMap<string, string>;
}

/** An edited text, or why it was not edited. */
export type EditedYaml =
  | { readonly text: string }
  | {
      /**
       * `unreadable`: the text is not valid YAML. `missing`: there is nothing at the path. `overlap`: several edits are
       * about one value. `unsupported`: the edits would change something else, too.
       */
      readonly refused: "unreadable" | "missing" | "overlap" | "unsupported";
      readonly path: Path;
    };

/** Edits a YAML text, and changes only the bytes that must change. */
export function editYaml(
  text: string,
  edits: readonly YamlEdit[],
  { comments = new Map() }: YamlEditOptions = {},
): EditedYaml {
  if (edits.length === 0) return { text };
  const { value, readable } = parseFast(text) ?? parse(text);
  const root = readable ? readSyntax(text, value) : null;
  if (root === null) return { refused: "unreadable", path: [] };
  try {
    const tree = treeOf(edits);
    const expected = applied(value as JsonValue, tree, []) ?? null;
    const change = settleAliases(root, changeOf(root, tree, []));
    const style: EditStyle = { root, comments };
    // A last line without a line break gets one for as long as it takes.
    const ending = text.endsWith("\n") ? "" : lineBreak(text, text.length);
    const splices = spliceRoot(text + ending, change, style);
    insertRemarks(splices, remarksOf(tree, []), style, expected);
    const ended = spliced(splices);
    const edited = ending === "" ? ended : ended.replace(/\r?\n$/, "");
    if (edited === text) return isSameJson(expected, value) ? { text } : { refused: "unsupported", path: [] };
    const after = parseFast(edited) ?? parse(edited);
    const same = after.readable && isSameJson(after.value, expected);
    return same ? { text: edited } : { refused: "unsupported", path: [] };
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error;
    return { refused: error.reason, path: error.path };
  }
}

/** The edits of a value and of what is in it. */
interface EditTree {
  set?: JsonValue;
  removed?: true;
  readonly children: Map<string, EditTree>;
  readonly added: Addition[];
  readonly remarks: Remark[];
}

const emptyTree = (): EditTree => ({ children: new Map(), added: [], remarks: [] });

function treeOf(edits: readonly YamlEdit[]): EditTree {
  const root = emptyTree();
  for (const edit of edits) {
    let tree = root;
    for (const segment of edit.path) {
      const key = String(segment);
      const inner = tree.children.get(key) ?? emptyTree();
      tree.children.set(key, inner);
      tree = inner;
    }
    if (edit.kind === "append") tree.added.push({ key: null, value: edit.value, comment: edit.comment });
    else if (edit.kind === "remark") tree.remarks.push(edit);
    else if (tree.set !== undefined || tree.removed) throw new EditRefused("overlap", edit.path);
    else if (edit.kind === "set") tree.set = edit.value;
    else if (edit.kind === "remove") tree.removed = true;
    // A program without types must not remove what it meant to change.
    else
      throw new TypeError(
        `an edit has the unknown kind ${JSON.stringify((edit satisfies never as { kind?: unknown }).kind)}`,
      );
  }
  checkOverlap(root, []);
  return root;
}

function checkOverlap({ set, removed, children, added, remarks }: EditTree, path: Path): void {
  const inside = children.size + added.length;
  if ((removed && (set !== undefined || inside + remarks.length > 0)) || (set !== undefined && inside > 0)) {
    throw new EditRefused("overlap", path);
  }
  if (children.size > 0 && added.length > 0 && [...children.keys()].some((key) => !/^\d+$/.test(key))) {
    throw new EditRefused("overlap", path);
  }
  for (const [key, child] of children) checkOverlap(child, [...path, key]);
}

/** Returns a value with the edits applied; undefined if it is removed. */
function applied(value: JsonValue | undefined, tree: EditTree, path: Path): JsonValue | undefined {
  if (tree.removed) return undefined;
  if (tree.set !== undefined) return tree.set;
  if (tree.children.size === 0 && tree.added.length === 0) return value;
  const isAbsent = value === undefined || value === null;
  if (Array.isArray(value) || (isAbsent && tree.added.length > 0)) {
    return appliedToList(listOf(value) as readonly JsonValue[], tree, path);
  }
  if (tree.added.length > 0 || (!isAbsent && typeof value !== "object"))
    throw new EditRefused("missing", path);
  const fields = new Map<string, JsonValue>(Object.entries(value ?? {}));
  for (const [key, child] of tree.children) {
    const before = fields.get(key);
    if (before === undefined && child.removed) throw new EditRefused("missing", [...path, key]);
    const now = applied(before, child, [...path, key]);
    if (now === undefined) fields.delete(key);
    else fields.set(key, now);
  }
  return Object.fromEntries(fields);
}

function appliedToList(items: readonly JsonValue[], { children, added }: EditTree, path: Path): JsonValue {
  for (const key of children.keys()) {
    if (!(/^\d+$/.test(key) && Number(key) < items.length)) throw new EditRefused("missing", [...path, key]);
  }
  const places = placeItems(items, added, path);
  const addedAfter = (index: number): readonly JsonValue[] =>
    (places.get(index) ?? []).map(({ value }) => value);
  const kept = items.flatMap((item, index) => {
    const child = children.get(String(index));
    const now = child === undefined ? item : applied(item, child, [...path, index]);
    return [...(now === undefined ? [] : [now]), ...addedAfter(index)];
  });
  return [...addedAfter(-1), ...kept];
}

/** Returns the least change of a node that makes the edits; null if there is nothing to change. */
function changeOf(node: SyntaxNode, tree: EditTree, path: Path): NodeChange | null {
  const before = (node.kind === "empty" ? null : node.value) as JsonValue;
  const value = applied(before, tree, path) ?? null;
  const isEntries = (node.kind === "map" && tree.added.length === 0) || node.kind === "seq";
  return tree.set === undefined && isEntries
    ? entriesChangeOf(node, tree, path, value)
    : changeTo(node, value, path);
}

function entriesChangeOf(node: SyntaxNode, tree: EditTree, path: Path, value: JsonValue): NodeChange | null {
  const changed = new Map<number, NodeChange>();
  const removed = new Set<number>();
  const fresh: Addition[] = [...tree.added];
  const isMap = node.kind === "map";
  const indexOf = isMap ? keyIndexes(node, path) : null;
  for (const [name, child] of tree.children) {
    const index = indexOf === null ? Number(name) : (indexOf.get(name) ?? -1);
    const inner = [...path, isMap ? name : index];
    const entry = node.entries[index];
    if (entry === undefined) {
      const item = applied(undefined, child, inner);
      if (item !== undefined)
        fresh.push({ key: name, value: item, items: child.added, remarks: child.remarks });
    } else if (child.removed) {
      removed.add(index);
    } else {
      const change = changeOf(entry.node, child, inner);
      if (change !== null) changed.set(index, change);
    }
  }
  const added = isMap ? placeKeys(node, fresh, path) : placeItems(listOf(node.value), fresh, path);
  return { kind: "entries", value, changed, removed, added };
}

function remarksOf({ remarks, children }: EditTree, path: Path): readonly ListRemarks[] {
  const inner = [...children].flatMap(([key, child]) => remarksOf(child, [...path, key]));
  return remarks.length === 0 ? inner : [{ path, remarks }, ...inner];
}
