import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { keyText } from "../../kernel/yaml/document.ts";
import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import {
  type Entry,
  headOf,
  printEntry,
  printNode,
  setHead,
  tooMuchForALine,
  Written,
} from "../format/print-document.ts";
import { type Anchors, hasAliases, nameAnchor, nameIfHeld } from "./anchors.ts";
import {
  type BlockChange,
  changeOf,
  dedentComments,
  insertInFront,
  isReplaced,
  isSpacedAt,
  type Removed,
  removeEntry,
} from "./block-changes.ts";
import { type BlockEntry, blockEntries, inlineRange } from "./block-ranges.ts";
import {
  inlineNode,
  inlineScalar,
  type NewStyle,
  newItemNode,
  newNode,
  newPair,
  noteOn,
  remarkLines,
} from "./new-node.ts";
import {
  columnOf,
  commentsAbove,
  endWithComments,
  insertLines,
  lineEnd,
  lineStart,
  restOfLine,
  type Splices,
} from "./splices.ts";
import { EditRefused, type Remark, type Target, type TargetEntry } from "./target.ts";

/** A document that is being edited. */
interface Editing {
  readonly splices: Splices;
  readonly root: Node | null;
  readonly comments: ReadonlyMap<string, string>;
  readonly hasAliases: boolean;
  /** The values that the names of anchors have, up to the place that is being edited. */
  readonly anchors: Anchors;
}

/** A value of a block, or the root, with its place. */
interface Place extends Omit<BlockEntry, "entry"> {
  /** `null` for the root. */
  readonly entry: Entry | null;
  readonly path: Path;
  readonly column: number;
  readonly before: JsonValue;
}

/** Returns the splices that make a text mean a target. */
export function spliceDocument(
  document: Document,
  text: string,
  value: JsonValue,
  target: Target,
  comments: ReadonlyMap<string, string>,
): Splices {
  const splices: Splices = { text, deletions: [], insertions: [] };
  const root = document.contents as Node | null;
  const editing: Editing = { splices, root, comments, hasAliases: hasAliases(root), anchors: new Map() };
  const [first, last] = isBlock(root) ? [blockEntries(root)[0], blockEntries(root).at(-1)] : [];
  const [start, end] = inlineRange(root) ?? [first?.start ?? 0, last?.end ?? 0];
  const place = {
    entry: null,
    key: null,
    node: root,
    start,
    slot: start,
    end,
    path: [],
    column: 0,
    before: value,
  };
  spliceValue(editing, place, target);
  return splices;
}

type Collection = YAMLMap | YAMLSeq;

const isCollection = (node: unknown): node is Collection => isMap(node) || isSeq(node);
const isBlock = (node: unknown): node is Collection => isCollection(node) && node.flow !== true;

/** Returns whether a list or mapping stays one. */
function isSameKind(node: unknown, { value, entries }: Target): node is Collection {
  return entries !== null && (Array.isArray(value) ? isSeq(node) : isMap(node));
}

const hasRemarks = ({ remarks, entries }: Target): boolean =>
  remarks.length > 0 || (entries ?? []).some(({ target }) => hasRemarks(target));

/** Returns whether nothing has to change in a node; then names its anchors. */
function isSettled(
  { anchors, hasAliases: any }: Editing,
  node: Node | null,
  before: JsonValue,
  { value }: Target,
): boolean {
  return isSameJson(before, value) && (!any || nameIfHeld(anchors, node, before));
}

function spliceValue(editing: Editing, place: Place, target: Target): void {
  const { node, before } = place;
  const settled = isSettled(editing, node, before, target);
  if (settled && !hasRemarks(target)) return;
  const change =
    isBlock(node) && isSameKind(node, target) ? changeOf(blockEntries(node), target, place.path) : null;
  if (change !== null && !isReplaced(editing.splices.text, place.start, change)) {
    spliceBlock(editing, place, change);
    nameAnchor(editing.anchors, node, target.value);
    insertRemarks(editing, place, target);
  } else if (settled) {
    insertRemarks(editing, place, target);
  } else {
    rewrite(editing, place, target);
  }
}

/** Returns the style of new values at a path: in brackets or not, as the section's other entries have them. */
function styleAt({ root, comments }: Editing, [section]: Path): NewStyle {
  const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === section) : undefined;
  const items = isSeq(pair?.value) ? pair.value.items.slice(-MAX_NEIGHBOURS) : [];
  return {
    comments,
    isInline(key) {
      if (key === "-") {
        const last = items.findLast((item) => isMap(item) && item.items.length > 0);
        return isMap(last) ? last.flow === true : undefined;
      }
      const values = items.map((item) => (isMap(item) ? item.get(key, true) : undefined));
      const last = values.findLast(
        (value) => isCollection(value) && value.items.length > 0 && !value.items.some(isNested),
      );
      return isCollection(last) ? last.flow === true : undefined;
    },
  };
}

/** Number of preceding entries that decide the style of a new one. */
const MAX_NEIGHBOURS = 20;

// A list of mappings is a block for its own reasons.
const isNested = (item: unknown): boolean => {
  const value = isPair(item) ? item.value : item;
  return isCollection(value) && value.items.length > 0;
};

/** Returns a node with the value of a target: the same one as far as it is in brackets, else a new one. */
function updated(
  editing: Editing,
  node: Node | null,
  before: JsonValue,
  target: Target,
  make: (target: Target) => Node,
): Node {
  const { anchors } = editing;
  if (isAlias(node)) {
    const named = anchors.get(node.source);
    if (named !== undefined && isSameJson(named, target.value)) return node;
    const fresh = make(target);
    if (node.comment && !isBlock(fresh)) fresh.comment = node.comment;
    return fresh;
  }
  if (node !== null && isSettled(editing, node, before, target)) return node;
  if (isCollection(node) && node.flow === true && isSameKind(node, target) && isKeptInPart(target)) {
    node.items = (target.entries ?? []).map((entry) => updatedEntry(editing, node, before, entry)) as never;
    nameAnchor(anchors, node, target.value);
    return node;
  }
  const fresh = make(target);
  if (node !== null) {
    if ("anchor" in node && node.anchor !== undefined) (fresh as Collection).anchor = node.anchor;
    if (!isBlock(node) && !isBlock(fresh) && node.comment) fresh.comment = node.comment;
    nameAnchor(anchors, node, target.value);
  }
  return fresh;
}

const isKeptInPart = ({ entries }: Target): boolean => (entries ?? []).some(({ from }) => from !== null);

/** Returns an entry of a list or mapping in brackets. */
function updatedEntry(
  editing: Editing,
  collection: Collection,
  before: JsonValue,
  { key, from, target }: TargetEntry,
): Entry {
  if (isSeq(collection)) {
    if (from === null) return inlineNode(target);
    const item = collection.items[Number(from)] as Entry;
    // A pair in brackets without braces.
    if (isPair(item)) return inlineNode(target);
    const now = updated(
      editing,
      item,
      (listOf(before)[Number(from)] ?? null) as JsonValue,
      target,
      inlineNode,
    );
    if (now !== item && item.commentBefore) setHead(now, item.commentBefore);
    return now;
  }
  if (from === null) return new Pair(inlineScalar(key ?? ""), inlineNode(target));
  const pairs = collection.items.filter((pair) => keyText(pair.key) === from);
  const [pair] = pairs;
  if (pair === undefined || pairs.length > 1) throw new EditRefused("unsupported", []);
  if (key !== from) {
    const head = headOf(pair);
    pair.key = inlineScalar(key ?? "");
    if (head?.commentBefore) setHead(pair.key as Node, head.commentBefore);
  }
  pair.value = updated(
    editing,
    pair.value as Node | null,
    (fieldsOf(before)[String(from)] ?? null) as JsonValue,
    target,
    inlineNode,
  );
  return pair;
}

/** Prints a value in the place of the old one, or else its whole entry. */
function rewrite(editing: Editing, place: Place, target: Target): void {
  const { splices, comments } = editing;
  const { text } = splices;
  const { node, entry, path, before } = place;
  const range = inlineRange(node);
  const column = range === null ? columnOf(text, place.slot) + 1 : columnOf(text, range[0]);
  const oldComment = node?.comment ?? null;
  const oldNote = noteOn(listOf(before), comments);
  const at = { path, indent: entry === null ? -2 : place.column, column };
  const fresh = updated(editing, node, before, target, (inner) => newNode(inner, at, styleAt(editing, path)));
  // A new block has them among its items.
  if (!isBlock(fresh)) insertRemarks(editing, { ...place, node: fresh }, target);
  if (fresh === node && isAlias(node)) return;
  const isFlow = isCollection(fresh) && fresh.flow === true;
  const isLong = isFlow && tooMuchForALine(fresh, { text, column });
  if (isFlow && isSeq(fresh) && !isBlock(node) && oldComment === oldNote)
    noteItems(fresh, target, isLong, comments);
  const isText = isScalar(fresh) && fresh.value instanceof Written && fresh.value.body !== null;
  const isInline = !isBlock(fresh) && !isLong && !isText;
  if (isInline && range !== null && !text.slice(...range).includes("\n")) {
    replaceRange(splices, range, fresh, oldComment);
  } else {
    replaceEntry(editing, place, fresh, isInline);
  }
}

/** Prints a value on one line in the place of one on one line; its comment stays as it is unless it is another one. */
function replaceRange(
  { text, deletions, insertions }: Splices,
  [start, end]: readonly [number, number],
  fresh: Node,
  oldComment: string | null,
): void {
  const comment = fresh.comment ?? null;
  fresh.comment = null;
  // The anchor stands in front of the range.
  if ("anchor" in fresh) delete (fresh as Collection).anchor;
  withoutHead(fresh);
  deletions.push([start, end]);
  insertions.push({ at: start, text: printNode(fresh, { text, indent: 0, column: columnOf(text, start) }) });
  if (comment === oldComment) return;
  deletions.push([end, end + restOfLine(text, end).length]);
  insertions.push({ at: end, text: comment === null ? "" : ` #${comment}` });
}

/** Prints an entry with its new value in the place of the old one. */
function replaceEntry({ splices }: Editing, place: Place, fresh: Node, isInline: boolean): void {
  const { text, deletions, insertions } = splices;
  const { node, entry, column } = place;
  // The comment behind a value moves to its key if the value becomes a block, and back.
  const moved = isBlock(fresh) && !isBlock(node) ? (node?.comment ?? null) : null;
  if (isPair(entry)) {
    const key = entry.key as Scalar;
    if (isInline && key.comment) fresh.comment = key.comment;
    if (isInline) key.comment = null;
    else if (moved !== null) key.comment ??= moved;
    entry.value = fresh;
  }
  const lines =
    entry === null
      ? printNode(fresh, { text, indent: 0, column: 0 }).split("\n")
      : printEntry(withoutHead(isPair(entry) ? entry : fresh), { text, indent: column });
  if (!isPair(entry) && moved !== null) lines[0] += ` #${moved}`;
  deletions.push([place.start, place.end + restOfLine(text, place.end).length]);
  insertions.push({ at: place.start, text: indented(lines, column).join("\n").trimStart() });
  if (isBlock(node) && !isBlock(fresh)) dedentComments(splices, place);
}

/** Removes the comment and the blank line above an entry, which stay in the text. */
function withoutHead(entry: Entry): Entry {
  const head = headOf(entry);
  if (head !== null) {
    setHead(head, "");
    head.spaceBefore = false;
  }
  return entry;
}

/** Adds the names of the items of a list as a comment: behind the list, or behind each item of a block. */
function noteItems(
  list: YAMLSeq,
  { value }: Target,
  isLong: boolean,
  comments: ReadonlyMap<string, string>,
): void {
  const items = listOf(value);
  list.comment = isLong ? null : noteOn(items, comments);
  if (!isLong) return;
  for (const [index, item] of list.items.entries()) {
    const note = noteOn([items[index]], comments);
    if (note !== null && isScalar(item)) item.comment = note;
  }
}

/** Indents lines, but blank ones. */
const indented = (lines: readonly string[], column: number): readonly string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(column) + line));

/** Changes the entries of a block in which at least one entry stays or is new. */
function spliceBlock(editing: Editing, place: Place, { entries, kept, added }: BlockChange): void {
  const { splices } = editing;
  const { text } = splices;
  const [first] = entries;
  if (first === undefined) throw new EditRefused("unsupported", place.path);
  const column = columnOf(text, first.start);
  const style = styleAt(editing, place.path);
  const indexes = [...kept.keys()];
  const [firstKept, lastKept] = [Math.min(...indexes), Math.max(-1, ...indexes)];
  const floorOf = (index: number): number => {
    if (index > 0) return endWithComments(text, entries[index - 1]?.end ?? 0, column);
    return place.path.length === 0 ? lineStart(text, first.start) : lineEnd(text, place.slot);
  };
  const printed = (after: number): readonly string[] => {
    const isSpaced = isSpacedAt(text, entries, after);
    return (added.get(after) ?? []).flatMap((entry, number) => {
      const isApart = isSpaced && (number > 0 || firstKept <= after);
      const fresh =
        entry.key === null
          ? newItemNode(entry, [...place.path, 0], column, style)
          : newPair(entry, place.path, column, style);
      const lines = indented(printEntry(fresh, { text: "", indent: column }), column);
      return isApart ? ["", ...lines] : lines;
    });
  };
  const front = printed(-1);
  if (front.length > 0) {
    const leavesDash =
      !kept.has(0) && text.slice(first.end, entries[1]?.start ?? first.end + 1).includes("#");
    insertInFront(splices, first, front, { floor: floorOf(0), column, leavesDash });
  }
  let isTop = true;
  let gone: Removed | null = null;
  for (const [index, entry] of entries.entries()) {
    const now = kept.get(index);
    const end = endWithComments(text, entry.end, column);
    if (now === undefined) {
      const floor = floorOf(index);
      const start = commentsAbove(text, entry.start, floor, column);
      if (text.slice(floor, start).includes("#")) isTop = false;
      const hasFront = index === 0 && front.length > 0;
      const removal = { floor, start, end, isTop, isLast: index > lastKept, hasFront, before: gone };
      gone = removeEntry(splices, entries, index, removal);
    } else {
      isTop = false;
      spliceKept(editing, place, entry, column, now, index);
    }
    const lines = printed(index);
    if (lines.length > 0) {
      insertLines(splices, end, lines);
      gone = null;
    }
  }
}

function spliceKept(
  editing: Editing,
  { path, before }: Place,
  entry: BlockEntry,
  column: number,
  { key, from, target }: TargetEntry,
  index: number,
): void {
  const old = (key === null ? listOf(before)[index] : fieldsOf(before)[String(from)]) as
    | JsonValue
    | undefined;
  const inner = { ...entry, path: [...path, from ?? index], column, before: old ?? null };
  if (key !== null && key !== from && isPair(entry.entry)) {
    const range = inlineRange(entry.entry.key as Node);
    if (range === null) throw new EditRefused("unsupported", path);
    editing.splices.deletions.push([range[0], range[1]]);
    editing.splices.insertions.push({
      at: range[0],
      text: printNode(inlineScalar(key), { text: "", indent: 0, column: 0 }),
    });
  }
  spliceValue(editing, inner, target);
}

/** Adds commented-out items at the end of a list, or above an empty one, unless they are in the text. */
function insertRemarks(
  editing: Editing,
  { node, path, start, end, column }: Place,
  { value, remarks }: Target,
): void {
  if (remarks.length === 0) return;
  const { splices } = editing;
  const { text } = splices;
  const [first] = isBlock(node) ? blockEntries(node) : [];
  const isBelow = first !== undefined && listOf(value).length > 0;
  const indent = isBelow ? columnOf(text, first.start) : column;
  const style = styleAt(editing, path);
  const subjects = new Set(text.split("\n").map(subjectOf));
  const fresh = remarks
    .map((remark: Remark) => remarkLines(remark, [...path, 0], indent, style))
    .filter(([line = ""]) => !subjects.has(subjectOf(line)));
  // Below a list in brackets, a comment is the next key's.
  const at = isBelow ? endWithComments(text, end, indent) : lineStart(text, start);
  if (fresh.length > 0) insertLines(splices, at, indented(fresh.flat(), indent));
}

/** Returns what a commented-out item is about: its first key and value, however they are written. */
function subjectOf(line: string): string {
  const match =
    /^\s*#\s*- *(?:\{ *)?["']?(\w+)["']?: *(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s"',#}][^,#}]*))/.exec(
      line,
    );
  if (match === null) return line.trim();
  const [, key, double, single, plain = ""] = match;
  return `${key}: ${double ?? single ?? plain.trim()}`;
}
