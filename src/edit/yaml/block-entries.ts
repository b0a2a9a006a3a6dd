import type { Path } from "../../kernel/problems/problem.ts";
import { valueAt } from "../../kernel/values/values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { Addition, ListRemarks, Remark } from "./changes.ts";
import {
  commentText,
  type PrintStyle,
  printCommentedItem,
  printItem,
  printKey,
  printPair,
} from "./print-value.ts";
import { styleOfScalar } from "./splice-flow.ts";
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
import { type EditStyle, type SyntaxEntry, type SyntaxNode, siblingStyle } from "./syntax-tree.ts";

/** An entry of a block with its path. */
export interface BlockEntry {
  readonly entry: SyntaxEntry;
  readonly path: Path;
  readonly column: number;
}

/** Writes another value in the place of an entry's value. */
export function replaceValue(
  splices: Splices,
  place: BlockEntry,
  value: JsonValue,
  style: EditStyle,
  unfolds = false,
): void {
  const { text } = splices;
  const { entry, path, column } = place;
  const { node, key } = entry;
  const siblings = siblingStyle(text, style, path, node.entries);
  const isBlock = unfolds || (!node.flow && (node.kind === "map" || node.kind === "seq"));
  const inline = new Map([...siblings.inline, ...(isBlock ? [[String(key ?? "-"), false] as const] : [])]);
  const hasComment = restOfLine(text, node.end).includes("#");
  const comments = hasComment ? new Map<string, string>() : siblings.comments;
  const print = { ...styleOfScalar(text, node, siblings), inline, comments };
  const lines =
    key === null
      ? printItem(value, path, column, print, dashOf(text, entry))
      : printPair(key, value, path.slice(0, -1), column, print);
  const [first = "", ...rest] = lines;
  const name = key === null ? "-" : `${printKey(key, print)}:`;
  const isInline = typeof value !== "object" || value === null || /^ *[[{]/.test(first.slice(name.length));
  writeValue(splices, place, first.slice(name.length), rest, !isInline);
}

/** Replaces an entry's value: by what stands on the line of its dash or key, and by lines below that. */
export function writeValue(
  splices: Splices,
  place: BlockEntry,
  head: string,
  rest: readonly string[],
  isBlockHead: boolean,
): void {
  const { text, insertions, deletions } = splices;
  const { entry, column } = place;
  const { node, slot } = entry;
  const isBlock = !node.flow && (node.kind === "map" || node.kind === "seq");
  const colon = entry.colon ? "" : ":";
  // Behind an anchor, a block begins on the next line.
  if (entry.key === null && slot > entry.start + 1 && isBlockHead) {
    writeValue(splices, place, "", [`  ${head.trimStart()}`, ...rest], false);
    return;
  }
  let below = lineEnd(text, node.end);
  if (isBlock && lineEnd(text, slot) <= node.start) {
    insertions.push({ at: slot, text: colon + head });
    const first = node.entries[0]?.start ?? node.start;
    below = lineEnd(text, slot);
    const inner = columnOf(text, first);
    const end = endWithComments(text, node.end, inner);
    deletions.push([commentsAbove(text, first, below, inner), end], ...indentationBelow(text, end, column));
    // As fmt has it: what ends a file stands apart.
    if (
      head !== "" &&
      /^[ \t]*#/.test(text.slice(end)) &&
      /^(?:[ \t]*(?:#.*)?\r?\n)*$/.test(text.slice(end))
    ) {
      insertLines(splices, end, [""]);
    }
  } else if (node.kind === "empty") {
    insertions.push({ at: slot, text: colon + head });
  } else if (node.kind === "block-scalar") {
    const header = node.headerEnd + restOfLine(text, node.headerEnd).length;
    deletions.push([slot, node.headerEnd], [Math.min(header, node.end), node.end]);
    insertions.push({ at: slot, text: head });
  } else if (head !== "" || text.slice(slot, node.start).trim() !== "") {
    deletions.push([node.start, node.end]);
    insertions.push({ at: node.start, text: head.trimStart() });
  } else {
    deletions.push([slot, node.end]);
  }
  if (rest.length > 0) insertLines(splices, below, indented(rest, column));
}

/** Returns the indentation of comments below a block that is gone, as far as it exceeds a column. */
function indentationBelow(
  text: string,
  start: number,
  column: number,
): readonly (readonly [number, number])[] {
  const remarks: (readonly [number, number])[] = [];
  for (let offset = start; offset < text.length; offset = lineEnd(text, offset)) {
    const [, indentation = "", mark] = /^([ \t]*)(#|\r?$)/.exec(restOfLine(text, offset)) ?? [];
    if (mark === undefined || (mark === "#" && indentation.length <= column)) break;
    if (mark === "#") remarks.push([offset + column, offset + indentation.length]);
  }
  return remarks;
}

/** Indents lines, but blank ones. */
export const indented = (lines: readonly string[], column: number): readonly string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(column) + line));

/** Returns whether a value is a list or mapping without entries. */
export const isEmpty = (value: JsonValue): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** Prints a new entry of a list or mapping as lines. */
export function printAddition(
  text: string,
  addition: Addition,
  node: SyntaxNode,
  path: Path,
  column: number,
  style: PrintStyle,
): readonly string[] {
  const { key, value, items = [], remarks = [] } = addition;
  if (key === null) return printNewItem(addition, path, column, style, dashOf(text, node.entries.at(-1)));
  const inner = [...path, key];
  // Above an empty list, as a comment below it is the next key's.
  if (isEmpty(value) || (!isBlockList(items) && remarks.length === 0)) {
    const pair = printPair(key, value, path, column, style);
    return [...printNewList([], remarks, inner, column, style), ...pair];
  }
  const lines = printNewList(items, remarks, inner, column + style.listStep, style);
  return [`${printKey(key, style)}:`, ...indented(lines, style.listStep)];
}

/** Returns whether a new list is more than a few words. */
export const isBlockList = (items: readonly Addition[]): boolean =>
  items.some(({ value, comment }) => (typeof value === "object" && value !== null) || comment !== undefined);

/** Prints the items of a new list as lines, the commented-out ones last. */
export function printNewList(
  items: readonly Addition[],
  remarks: readonly Remark[],
  path: Path,
  column: number,
  style: PrintStyle,
): readonly string[] {
  return [
    ...items.flatMap((item) => printNewItem(item, path, column, style)),
    ...remarks.flatMap(({ value, comment }) =>
      printCommentedItem(value, comment, [...path, 0], column, style),
    ),
  ];
}

function printNewItem(
  { value, comment }: Addition,
  path: Path,
  column: number,
  style: PrintStyle,
  dash?: string,
): readonly string[] {
  const above = comment === undefined ? [] : [`# ${commentText(comment)}`];
  return [...above, ...printItem(value, [...path, 0], column, style, dash)];
}

/** Returns the dash of a list's item with the spaces behind it. */
function dashOf(text: string, item: SyntaxEntry | undefined): string {
  const dash = item === undefined ? "" : text.slice(item.start, item.node.start);
  return /^- +$/.test(dash) ? dash : "- ";
}

/** Adds commented-out items at the ends of lists, or above empty ones, unless they are in the text. */
export function insertRemarks(
  splices: Splices,
  lists: readonly ListRemarks[],
  style: EditStyle,
  expected: JsonValue,
): void {
  const { text } = splices;
  for (const { path, remarks } of lists) {
    const list = entryAt(style.root, path);
    if (list === null) continue;
    const print = siblingStyle(text, style, path, list.node.entries);
    const { at, column } = placeOfRemarks(text, list, isEmpty(valueAt(expected, path) as JsonValue), print);
    const subjects = new Set(text.split(/\r?\n/).map(subjectOf));
    const fresh = remarks.filter(({ value, comment }) => {
      const [first = ""] = printCommentedItem(value, comment, [...path, 0], column, print);
      return !subjects.has(subjectOf(first));
    });
    const lines = printNewList([], fresh, path, column, print);
    if (lines.length > 0) insertLines(splices, at, indented(lines, column));
  }
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

function placeOfRemarks(
  text: string,
  list: SyntaxEntry,
  isEmptied: boolean,
  { listStep }: PrintStyle,
): { at: number; column: number } {
  const { node } = list;
  const listColumn = columnOf(text, list.start);
  const last = node.entries.at(-1);
  // Below a list in brackets, a comment is the next key's.
  if (isEmptied || (node.flow && last !== undefined))
    return { at: lineStart(text, list.start), column: listColumn };
  const column = last === undefined ? listColumn + listStep : columnOf(text, last.start);
  return { at: endWithComments(text, (last ?? list).end, column), column };
}

function entryAt(root: SyntaxNode, path: Path): SyntaxEntry | null {
  let entry: SyntaxEntry | undefined;
  let node = root;
  for (const segment of path) {
    entry =
      node.kind === "map"
        ? node.entries.find(({ key }) => key === String(segment))
        : node.entries[Number(segment)];
    if (entry === undefined) return null;
    node = entry.node;
  }
  return entry ?? null;
}
