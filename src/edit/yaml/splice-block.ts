import { listOf } from "../../kernel/values/values.ts";
import {
  type BlockEntry,
  indented,
  isBlockList,
  isEmpty,
  printAddition,
  printNewList,
  replaceValue,
  writeValue,
} from "./block-entries.ts";
import type { EntriesChange, NodeChange } from "./changes.ts";
import { MAX_COLUMNS, noteOn, type PrintStyle } from "./print-value.ts";
import { flowPieces, spliceFlow } from "./splice-flow.ts";
import {
  blanksAbove,
  blanksBelow,
  columnOf,
  commentsAbove,
  endWithComments,
  insertLines,
  isFirstOnLine,
  lineBreak,
  lineEnd,
  lineStart,
  restOfLine,
  type Splices,
  spliced,
} from "./splices.ts";
import { type EditStyle, type SyntaxEntry, type SyntaxNode, siblingStyle } from "./syntax-tree.ts";

/** Returns the splices that change a text's root. */
export function spliceRoot(text: string, change: NodeChange | null, style: EditStyle): Splices {
  const splices: Splices = { text, deletions: [], insertions: [] };
  const { root } = style;
  if (change === null) return splices;
  const entry = { key: null, start: root.start, slot: root.start, colon: true, node: root, end: root.end };
  spliceEntry(splices, { entry, path: [], column: 0 }, change, style);
  return splices;
}

function spliceEntry(splices: Splices, place: BlockEntry, change: NodeChange, style: EditStyle): void {
  const { node } = place.entry;
  if (change.kind === "replace") {
    replaceValue(splices, place, change.value, style);
  } else if (node.flow) {
    spliceFlowValue(splices, place, change, style);
  } else if (isReplaced(splices.text, node, change)) {
    replaceValue(splices, place, change.value, style);
  } else {
    spliceBlock(splices, place, change, style);
  }
}

/** Returns whether nothing stays of a block, and what is new cannot stand on its lines. */
function isReplaced(
  text: string,
  { entries, start }: SyntaxNode,
  { removed, value }: EntriesChange,
): boolean {
  return entries.every((_, index) => removed.has(index)) && (isEmpty(value) || !isFirstOnLine(text, start));
}

/** Changes a collection in brackets that is an entry of a block; one that gets too long for its line becomes a block. */
function spliceFlowValue(splices: Splices, place: BlockEntry, change: EntriesChange, style: EditStyle): void {
  const { text } = splices;
  const { entry, path } = place;
  const { node } = entry;
  if (node.entries.length === 0 && path.length > 0) {
    fillEmpty(splices, place, change, style);
    return;
  }
  const print = siblingStyle(text, style, path, node.entries);
  const flowSplices: Splices = { text, deletions: [], insertions: [] };
  spliceFlow(flowSplices, node, change, path, print);
  const column = columnOf(text, node.start);
  const isLong = (length: number) => column + length > MAX_COLUMNS;
  const result = spliced(flowSplices, node.start, node.end);
  if (!result.includes("\n") && isLong(result.length) && !isLong(node.end - node.start) && path.length > 0) {
    unfold(splices, place, change, style);
    return;
  }
  splices.deletions.push(...flowSplices.deletions);
  splices.insertions.push(...flowSplices.insertions);
  if (node.kind === "seq") updateNote(splices, entry, listOf(change.value), print);
}

/** Fills an empty list or mapping, as if it had not been there. */
function fillEmpty(splices: Splices, place: BlockEntry, change: EntriesChange, style: EditStyle): void {
  const { entry, path, column } = place;
  const items = [...change.added.values()].flat();
  if (entry.key === null || entry.node.kind === "map" || !isBlockList(items)) {
    replaceValue(splices, place, change.value, style);
    return;
  }
  const print = siblingStyle(splices.text, style, path, []);
  const lines = printNewList(items, [], path, column + print.listStep, print);
  writeValue(splices, place, "", indented(lines, print.listStep), false);
}

/** Turns a list or mapping in brackets into a block whose entries stay as they are. */
function unfold(splices: Splices, place: BlockEntry, change: EntriesChange, style: EditStyle): void {
  const { entry, path, column } = place;
  const { node, key } = entry;
  const print = siblingStyle(splices.text, style, path, node.entries);
  const pieces = flowPieces(splices.text, node, change, path, print);
  const shift = key === null ? 2 : node.kind === "map" ? print.step : print.listStep;
  if (pieces.some((piece) => column + shift + 2 + piece.length > MAX_COLUMNS)) {
    replaceValue(splices, place, change.value, style, true);
    return;
  }
  const [first = "", ...rest] = pieces.map((piece) => (node.kind === "seq" ? `- ${piece}` : piece));
  const lines = indented(key === null ? rest : [first, ...rest], shift);
  writeValue(splices, place, key === null ? ` ${first}` : "", lines, true);
}

/** Updates the comment behind a list in brackets if it says what its items are called. */
function updateNote(
  splices: Splices,
  { node }: SyntaxEntry,
  items: readonly unknown[],
  style: PrintStyle,
): void {
  const { text } = splices;
  const [before, after] = [noteOn(listOf(node.value), style), noteOn(items, style)];
  const rest = restOfLine(text, node.end);
  if (before === null ? rest.trim() !== "" : rest.trim() !== `# ${before}`) return;
  if (before === after) return;
  splices.deletions.push([node.end, node.end + rest.length]);
  splices.insertions.push({ at: node.end, text: after === null ? "" : ` # ${after}` });
}

/** Changes the entries of a block, at least one of which stays or is new. */
function spliceBlock(splices: Splices, place: BlockEntry, change: EntriesChange, style: EditStyle): void {
  const { text } = splices;
  const { node } = place.entry;
  const { entries } = node;
  const column = columnOf(text, entries[0]?.start ?? node.start);
  const isKept = (index: number) => index < entries.length && !change.removed.has(index);
  const firstKept = entries.findIndex((_, index) => isKept(index));
  const lastKept = entries.findLastIndex((_, index) => isKept(index));
  const floorOf = (index: number) =>
    index === 0
      ? place.path.length === 0
        ? lineStart(text, node.start)
        : lineEnd(text, place.entry.slot)
      : endWithComments(text, entries[index - 1]?.end ?? 0, column);
  const printed = (after: number): readonly string[] => {
    if (!change.added.has(after)) return [];
    const print = siblingStyle(text, style, place.path, entries);
    const isSpaced = isSpacedAt(text, node, after);
    return (change.added.get(after) ?? []).flatMap((addition, number) => {
      const blank = isSpaced && (number > 0 || (firstKept >= 0 && firstKept <= after));
      const lines = printAddition(text, addition, node, place.path, column, print);
      return [...(blank ? [""] : []), ...indented(lines, column)];
    });
  };
  const front = printed(-1);
  const [first] = entries;
  if (front.length > 0 && first !== undefined)
    insertInFront(splices, node, front, {
      floor: floorOf(0),
      column,
      leavesDash: leavesDash(text, node, change),
    });
  let isTop = true;
  let gone: Removed | null = null;
  for (const [index, entry] of entries.entries()) {
    const inner = change.changed.get(index);
    if (isKept(index)) isTop = false;
    const isChanged = inner !== undefined || change.removed.has(index) || change.added.has(index);
    if (!isChanged) continue;
    const end = endWithComments(text, entry.end, column);
    if (change.removed.has(index)) {
      const floor = floorOf(index);
      const start = commentsAbove(text, entry.start, floor, column);
      if (text.slice(floor, start).includes("#")) isTop = false;
      const hasFront = index === 0 && front.length > 0;
      const place = { floor, start, end, isTop, isLast: index > lastKept, hasFront, before: gone };
      gone = removeEntry(splices, node, index, place);
    } else if (inner !== undefined) {
      spliceEntry(splices, { entry, path: [...place.path, entry.key ?? index], column }, inner, style);
    }
    const lines = printed(index);
    if (lines.length > 0) {
      insertLines(splices, end, lines);
      gone = null;
    }
  }
}

/** Returns whether the removal of a first entry behind a dash leaves the line to the dash, for the comments below. */
function leavesDash(
  text: string,
  { entries: [first, next] }: SyntaxNode,
  { removed }: EntriesChange,
): boolean {
  const gap = first === undefined || next === undefined ? "#" : text.slice(first.end, next.start);
  return removed.has(0) && gap.includes("#");
}

function insertInFront(
  splices: Splices,
  { kind, entries: [first] }: SyntaxNode,
  lines: readonly string[],
  place: { readonly floor: number; readonly column: number; readonly leavesDash: boolean },
): void {
  const { text } = splices;
  if (first === undefined) return;
  if (isFirstOnLine(text, first.start)) {
    const start = lineStart(text, first.start);
    insertLines(
      splices,
      kind === "seq" ? commentsAbove(text, first.start, place.floor, place.column) : start,
      lines,
    );
    return;
  }
  // The first entry stands behind the dash of the list that it is in.
  const ends = lineBreak(text, first.start);
  splices.insertions.push({
    at: first.start,
    text: lines.join(ends).trimStart() + (place.leavesDash ? "" : ends + " ".repeat(place.column)),
  });
}

/** Returns whether the entries around a place stand apart by blank lines; behind the last one, as the last two do. */
function isSpacedAt(text: string, { entries }: SyntaxNode, after: number): boolean {
  const index = after + 1 < entries.length ? after + 1 : after;
  const [above, below] = [entries[index - 1], entries[index]];
  if (above === undefined || below === undefined) return false;
  const between = text.slice(lineEnd(text, above.end), lineStart(text, below.start)).split("\n");
  return between.slice(0, -1).some((line) => line.trim() === "");
}

interface Removal {
  readonly floor: number;
  /** The start of its first line, or of the comments above it. */
  readonly start: number;
  /** The end of its last line and of its comments. */
  readonly end: number;
  /** True if nothing above it in its block stays. */
  readonly isTop: boolean;
  /** True if no entry below it stays. */
  readonly isLast: boolean;
  /** True if new entries are inserted in front of it. */
  readonly hasFront: boolean;
  /** The last removal above it. */
  readonly before: Removed | null;
}

/** Entries that were removed side by side. */
interface Removed {
  /** The start of the blank lines above the first one. */
  readonly above: number;
  readonly end: number;
}

function removeEntry(
  splices: Splices,
  { entries }: SyntaxNode,
  index: number,
  removal: Removal,
): Removed | null {
  const { text, deletions } = splices;
  const { start, end, isTop, isLast } = removal;
  const entry = entries[index];
  if (entry === undefined) return null;
  if (!isFirstOnLine(text, entry.start)) {
    const next = entries[index + 1];
    const gap = next === undefined ? "#" : text.slice(entry.end, next.start);
    if (next !== undefined && !gap.includes("#")) {
      deletions.push([entry.start, next.start]);
      return null;
    }
    // Only the dash stays on the line, for the comments below.
    const line = lineStart(text, entry.start);
    const dash = line + text.slice(line, entry.start).trimEnd().length;
    const from = removal.hasFront ? entry.start : dash;
    deletions.push([from, end - (text[end - 2] === "\r" ? 2 : 1)]);
    return null;
  }
  const below = blanksBelow(text, end);
  const blanksStart = blanksAbove(text, start, removal.floor);
  const above = removal.before?.end === blanksStart ? removal.before.above : blanksStart;
  if (isTop) deletions.push([start, index === entries.length - 1 ? end : below]);
  else deletions.push([below > end || isLast ? above : start, end]);
  return isTop ? null : { above, end };
}
