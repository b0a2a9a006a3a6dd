import type { Path } from "../../kernel/problems/problem.ts";
import type { Addition, EntriesChange, NodeChange } from "./changes.ts";
import { type PrintStyle, printInline, printKey } from "./print-value.ts";
import {
  commentsAbove,
  isFirstOnLine,
  lineBreak,
  lineEnd,
  lineStart,
  restOfLine,
  type Splices,
  spliced,
} from "./splices.ts";
import type { SyntaxEntry, SyntaxNode } from "./syntax-tree.ts";

/** Changes the entries of a collection in brackets or braces. */
export function spliceFlow(
  splices: Splices,
  node: SyntaxNode,
  change: EntriesChange,
  path: Path,
  style: PrintStyle,
): void {
  const { entries } = node;
  const kept = entries.flatMap((_, index) => (change.removed.has(index) ? [] : [index]));
  if (kept.length === 0) {
    rewrite(splices, node, change, path, style);
    return;
  }
  for (const [index, inner] of change.changed) {
    const entry = entries[index];
    if (entry !== undefined) spliceFlowEntry(splices, entry, inner, [...path, entry.key ?? index], style);
  }
  for (let index = 0; index < entries.length; index++) {
    if (!change.removed.has(index)) continue;
    let last = index;
    while (change.removed.has(last + 1)) last += 1;
    const isFollowed = [...change.added].some(([after, { length }]) => after >= index - 1 && length > 0);
    removeRun(splices, node, index, last, isFollowed);
    index = last;
  }
  for (const [after, additions] of change.added) {
    const texts = additions.map((addition) => printFlowEntry(addition, path, style));
    if (texts.length > 0) insertEntries(splices, node, kept, after, texts);
  }
}

/** Changes the value of an entry in brackets or braces, which has to stay on one line if it is replaced. */
function spliceFlowEntry(
  splices: Splices,
  entry: SyntaxEntry,
  change: NodeChange,
  path: Path,
  style: PrintStyle,
): void {
  const { node } = entry;
  if (change.kind === "entries") {
    spliceFlow(splices, node, change, path, style);
    return;
  }
  const printed = printInline(change.value, path, styleOfScalar(splices.text, node, style));
  if (node.kind === "empty") {
    splices.insertions.push({ at: entry.slot, text: `${entry.colon ? "" : ":"} ${printed}` });
  } else {
    splices.deletions.push([node.start, node.end]);
    splices.insertions.push({ at: node.start, text: printed });
  }
}

/** Returns the style with the quotes of the text that is to be replaced. */
export function styleOfScalar(text: string, node: SyntaxNode, style: PrintStyle): PrintStyle {
  const mark = text[node.start];
  const isQuoted = node.kind === "scalar" && (mark === '"' || mark === "'");
  return { ...style, quote: isQuoted ? mark : null };
}

/** Prints a new entry between brackets or braces. */
function printFlowEntry({ key, value }: Addition, path: Path, style: PrintStyle): string {
  const printed = printInline(value, [...path, key ?? 0], style);
  return key === null ? printed : `${printKey(key, style)}: ${printed}`;
}

/** Replaces all entries. */
function rewrite(
  splices: Splices,
  node: SyntaxNode,
  { added }: EntriesChange,
  path: Path,
  style: PrintStyle,
): void {
  const texts = [...added.values()].flat().map((addition) => printFlowEntry(addition, path, style));
  const pad = node.kind === "map" && texts.length > 0 ? " " : "";
  splices.deletions.push([node.start + 1, node.end - 1]);
  splices.insertions.push({ at: node.start + 1, text: pad + texts.join(", ") + pad });
}

/** Returns whether an entry has its lines for itself, but for a comma and a comment. */
function hasOwnLines(text: string, entry: SyntaxEntry): boolean {
  return isFirstOnLine(text, entry.start) && /^[ \t]*,?[ \t]*(?:#.*)?$/.test(restOfLine(text, entry.end));
}

/** Removes entries side by side; `isFollowed` if new ones take their place at the end. */
function removeRun(splices: Splices, node: SyntaxNode, from: number, to: number, isFollowed: boolean): void {
  const { text } = splices;
  const run = node.entries.slice(from, to + 1);
  const [first, last, before, next] = [run[0], run.at(-1), node.entries[from - 1], node.entries[to + 1]];
  if (first === undefined || last === undefined) return;
  if (
    run.every((entry) => hasOwnLines(text, entry)) &&
    (next === undefined || isFirstOnLine(text, next.start))
  ) {
    for (const [index, entry] of run.entries()) {
      const above = node.entries[from + index - 1];
      const floor = lineEnd(text, above?.end ?? node.start);
      const start = commentsAbove(text, entry.start, floor, Number.POSITIVE_INFINITY);
      splices.deletions.push([start, lineEnd(text, entry.end)]);
    }
    if (before !== undefined && next === undefined && !isFollowed) removeComma(splices, node, before, first);
  } else if (next !== undefined) {
    splices.deletions.push([first.start, next.start]);
  } else {
    const between = before === undefined ? "#" : text.slice(before.end, first.start);
    splices.deletions.push([between.includes("#") ? first.start : (before?.end ?? first.start), last.end]);
  }
}

/** Removes the comma between the new last entry and the removed one, since JSON allows no comma behind the last. */
function removeComma(splices: Splices, node: SyntaxNode, before: SyntaxEntry, removed: SyntaxEntry): void {
  const { text, deletions } = splices;
  const [behind] = /^(?:\s|#.*)*,/.exec(text.slice(before.end, removed.start)) ?? [];
  if (behind === undefined || hasTrailingComma(text, node)) return;
  const end = before.end + behind.length;
  deletions.push([end - 1, end]);
}

function insertEntries(
  splices: Splices,
  node: SyntaxNode,
  kept: readonly number[],
  after: number,
  texts: readonly string[],
): void {
  const { text, insertions } = splices;
  const previous = kept.findLast((index) => index <= after);
  const entry = node.entries[previous ?? kept[0] ?? 0];
  if (entry === undefined) return;
  if (previous === undefined) {
    insertions.push({ at: entry.start, text: texts.map((piece) => `${piece}, `).join("") });
    return;
  }
  const isMultiLine = text.slice(node.start, node.end).includes("\n");
  if (!isMultiLine || !isFirstOnLine(text, entry.start)) {
    insertions.push({ at: entry.end, text: texts.map((piece) => `, ${piece}`).join("") });
    return;
  }
  const ends = lineBreak(text, entry.end);
  const indentation = text.slice(lineStart(text, entry.start), entry.start);
  if (!hasOwnLines(text, entry)) {
    const lines = texts.map((piece) => `,${ends}${indentation}${piece}`);
    insertions.push({ at: entry.end, text: lines.join("") });
    return;
  }
  const comma = restOfLine(text, entry.end).trimStart().startsWith(",");
  if (!comma) insertions.push({ at: entry.end, text: "," });
  // A comma stays behind the last one exactly if there was one.
  const isLast = previous === kept.at(-1) && !hasTrailingComma(text, node);
  const lines = texts.map((piece, index) => {
    const end = isLast && index === texts.length - 1 ? "" : ",";
    return indentation + piece + end + ends;
  });
  insertions.push({ at: lineEnd(text, entry.end), text: lines.join("") });
}

function hasTrailingComma(text: string, node: SyntaxNode): boolean {
  const end = node.entries.at(-1)?.end ?? node.start + 1;
  return text
    .slice(end, node.end - 1)
    .replaceAll(/#.*/g, "")
    .includes(",");
}

/** Returns the entries of a collection on one line after a change, each as text. */
export function flowPieces(
  text: string,
  node: SyntaxNode,
  change: EntriesChange,
  path: Path,
  style: PrintStyle,
): readonly string[] {
  const fresh = (after: number) =>
    (change.added.get(after) ?? []).map((addition) => printFlowEntry(addition, path, style));
  const pieces = node.entries.flatMap((entry, index) => {
    if (change.removed.has(index)) return fresh(index);
    const inner: Splices = { text, deletions: [], insertions: [] };
    const changed = change.changed.get(index);
    if (changed !== undefined) spliceFlowEntry(inner, entry, changed, [...path, entry.key ?? index], style);
    return [spliced(inner, entry.start, entry.end), ...fresh(index)];
  });
  return [...fresh(-1), ...pieces];
}
