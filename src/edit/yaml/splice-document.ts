import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import {
  type Entry,
  headOf,
  MAX_COLUMNS,
  printEntry,
  printNode,
  setHead,
  Written,
} from "../format/print-document.ts";
import { type Anchors, hasAliases, nameAnchor, nameIfHeld } from "./anchors.ts";
import {
  dedentComments,
  type EntryChanges,
  entryChanges,
  insertInFront,
  isReplaced,
  isSpacedAt,
  type Removed,
  removeEntry,
} from "./block-changes.ts";
import { type EntryRange, entryRanges, inlineRange } from "./entry-ranges.ts";
import { type FlowText, flowRemoval, insertInFlow } from "./flow-changes.ts";
import {
  commentText,
  inlineNode,
  inlineScalar,
  type NewStyle,
  newItemNode,
  newNode,
  newPair,
  noteOn,
  quotedScalar,
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
  spliced,
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
interface Place extends Omit<EntryRange, "entry"> {
  /** `null` for the root. */
  readonly entry: Entry | null;
  readonly path: Path;
  readonly column: number;
  readonly before: JsonValue;
  /** True within brackets, where no value can be a block. */
  readonly isInline: boolean;
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
  const [first, last] = isBlock(root) ? [entryRanges(root)[0], entryRanges(root).at(-1)] : [];
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
    isInline: false,
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
  const changes =
    isSameKind(node, target) && node.srcToken ? entryChanges(entryRanges(node), target, place.path) : null;
  if (changes !== null && spliceEntries(editing, place, changes, target)) {
    nameAnchor(editing.anchors, node, target.value);
    insertRemarks(editing, place, target);
  } else if (settled) {
    insertRemarks(editing, place, target);
  } else if (place.isInline) {
    rewriteInline(editing, place, target);
  } else {
    rewrite(editing, place, target);
  }
}

/** Changes the entries of a list or mapping where they are; returns false if it has to be printed anew. */
function spliceEntries(editing: Editing, place: Place, changes: EntryChanges, target: Target): boolean {
  if (!isBlock(place.node)) return changes.kept.size > 0 && spliceFlow(editing, place, changes, target);
  const isSpliced = !isReplaced(editing.splices.text, place.start, changes);
  if (isSpliced) spliceBlock(editing, place, changes);
  return isSpliced;
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

/**
 * Returns a new node with the value of a target, and the quotes, anchor and comment of the old one, unless that named
 * its items; an alias of the value stays.
 */
function updated(
  { anchors, comments }: Editing,
  { node, before }: Pick<Place, "node" | "before">,
  target: Target,
  make: (target: Target) => Node,
): Node {
  if (isAlias(node) && isSameJson(anchors.get(node.source), target.value)) return node;
  const { value } = target;
  const isLine = isScalar(node) && typeof value === "string" && !value.includes("\n");
  const fresh = (isLine ? quotedScalar(value, node) : null) ?? make(target);
  if (node === null) return fresh;
  const comment = node.comment ?? null;
  if (!isBlock(node) && !isBlock(fresh) && comment !== noteOn(listOf(before), comments))
    fresh.comment = comment;
  if ("anchor" in node && node.anchor !== undefined) (fresh as Collection).anchor = node.anchor;
  nameAnchor(anchors, node, value);
  return fresh;
}

/** Prints a value within brackets in the place of the old one. */
function rewriteInline(editing: Editing, place: Place, target: Target): void {
  const { node, start, end, key, path } = place;
  const fresh = updated(editing, place, target, inlineNode);
  if (fresh === node) return;
  const range = inlineRange(node) ?? (key === null ? ([start, end] as const) : null);
  if (range === null) throw new EditRefused("unsupported", path);
  replaceRange(editing.splices, range, fresh, fresh.comment ?? null);
}

/** Prints a value in the place of the old one, or else its whole entry. */
function rewrite(editing: Editing, place: Place, target: Target): void {
  const { splices } = editing;
  const { text } = splices;
  const { node, entry, path } = place;
  const range = inlineRange(node);
  const column = range === null ? columnOf(text, place.slot) + 1 : columnOf(text, range[0]);
  const at = { path, indent: entry === null ? -2 : place.column, column };
  const fresh = updated(editing, place, target, (inner) => newNode(inner, at, styleAt(editing, path)));
  // A new block has them among its items.
  if (!isBlock(fresh)) insertRemarks(editing, { ...place, node: fresh }, target);
  if (fresh === node) return;
  const isText = isScalar(fresh) && fresh.value instanceof Written && fresh.value.body !== null;
  const isInline = !isBlock(fresh) && !isText;
  if (isInline && range !== null && !text.slice(...range).includes("\n")) {
    replaceRange(splices, range, fresh, node?.comment ?? null);
  } else {
    replaceEntry(editing, place, fresh, isInline);
  }
}

/** The position of a value that stays on one line, however long. */
const ON_A_LINE = { text: "", indent: 0, column: Number.NEGATIVE_INFINITY };

/** Prints a value on one line in the place of one on one line; its comment stays as it is unless it is another one. */
function replaceRange(
  splices: Splices,
  [start, end]: readonly [number, number],
  fresh: Node,
  oldComment: string | null,
): void {
  const comment = fresh.comment ?? null;
  fresh.comment = null;
  // The anchor stands in front of the range.
  if ("anchor" in fresh) delete (fresh as Collection).anchor;
  withoutHead(fresh);
  splices.deletions.push([start, end]);
  splices.insertions.push({ at: start, text: printNode(fresh, ON_A_LINE) });
  replaceComment(splices, end, oldComment, comment);
}

/** Replaces the comment behind a value, unless it stays the same. */
function replaceComment(
  { text, deletions, insertions }: Splices,
  end: number,
  before: string | null,
  after: string | null,
): void {
  if (after === before) return;
  deletions.push([end, end + restOfLine(text, end).length]);
  insertions.push({ at: end, text: after === null ? "" : ` #${after}` });
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

/** Indents lines, but blank ones. */
const indented = (lines: readonly string[], column: number): readonly string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(column) + line));

/** Changes the entries of a block in which at least one entry stays or is new. */
function spliceBlock(editing: Editing, place: Place, { entries, kept, added }: EntryChanges): void {
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

/** Changes the entries in brackets, at least one of which stays; returns false if their line would become too long. */
function spliceFlow(
  editing: Editing,
  place: Place,
  { entries, kept, added }: EntryChanges,
  { value }: Target,
): boolean {
  const {
    splices: { text },
    comments,
  } = editing;
  const { node, before } = place;
  const inner: Editing = {
    ...editing,
    anchors: new Map(editing.anchors),
    splices: { text, deletions: [], insertions: [] },
  };
  const { deletions, insertions } = inner.splices;
  const column = columnOf(text, entries[0]?.start ?? place.start);
  const lastKept = Math.max(...kept.keys());
  insertInFlow(inner.splices, entries, -1, printedInFlow(added.get(-1)), null);
  for (const [index, entry] of entries.entries()) {
    const now = kept.get(index);
    const removal = now === undefined ? flowRemoval(text, entries, index, lastKept) : null;
    if (removal !== null) deletions.push(removal);
    if (now !== undefined) spliceKept(inner, place, entry, column, now, index);
    insertInFlow(inner.splices, entries, index, printedInFlow(added.get(index)), removal);
  }
  const [start, end] = inlineRange(node) ?? [place.start, place.end];
  if (!place.isInline && !text.slice(start, end).includes("\n")) {
    const edited = spliced(inner.splices, start, end);
    const isLonger = edited.length > end - start && columnOf(text, start) + edited.length > MAX_COLUMNS;
    if (isLonger || edited.includes("\n")) return false;
    const note = noteOn(listOf(before), comments);
    if (isSeq(node) && (node.comment ?? null) === note)
      replaceComment(inner.splices, end, note, noteOn(listOf(value), comments));
  }
  for (const [name, value] of inner.anchors) editing.anchors.set(name, value);
  editing.splices.deletions.push(...deletions);
  editing.splices.insertions.push(...insertions);
  return true;
}

/** Prints new entries on one line each. */
function printedInFlow(entries: readonly TargetEntry[] = []): readonly FlowText[] {
  return entries.map(({ key, target, comment }) => {
    const value = printNode(inlineNode(target), ON_A_LINE);
    return {
      text: key === null ? value : `${printNode(inlineScalar(key), ON_A_LINE)}: ${value}`,
      comment: comment === undefined ? null : `# ${commentText(comment)}`,
    };
  });
}

function spliceKept(
  editing: Editing,
  { path, before, node, isInline }: Place,
  entry: EntryRange,
  column: number,
  { key, from, target }: TargetEntry,
  index: number,
): void {
  const old = (key === null ? listOf(before)[index] : fieldsOf(before)[String(from)]) as
    | JsonValue
    | undefined;
  const inner = {
    ...entry,
    path: [...path, from ?? index],
    column,
    before: old ?? null,
    isInline: isInline || !isBlock(node),
  };
  if (key !== null && key !== from && isPair(entry.entry)) {
    const range = inlineRange(entry.entry.key as Node);
    if (range === null) throw new EditRefused("unsupported", path);
    editing.splices.deletions.push([range[0], range[1]]);
    editing.splices.insertions.push({
      at: range[0],
      text: printNode(inlineScalar(key), ON_A_LINE),
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
  const [first] = isBlock(node) ? entryRanges(node) : [];
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
