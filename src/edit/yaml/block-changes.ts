import type { Path } from "../../kernel/problems/problem.ts";
import type { EntryRange } from "./entry-ranges.ts";
import {
  blanksAbove,
  blanksBelow,
  commentsAbove,
  insertLines,
  isFirstOnLine,
  lineEnd,
  lineStart,
  restOfLine,
  type Splices,
} from "./splices.ts";
import { EditRefused, type Target, type TargetEntry } from "./target.ts";

/** The changes of a list or mapping: what becomes of its entries by index, and new ones by the index that they follow. */
export interface EntryChanges {
  readonly entries: readonly EntryRange[];
  readonly kept: ReadonlyMap<number, TargetEntry>;
  readonly added: ReadonlyMap<number, readonly TargetEntry[]>;
}

/** Compares the entries of a list or mapping with a target. */
export function entryChanges(entries: readonly EntryRange[], target: Target, path: Path): EntryChanges {
  const indexes = new Map(entries.map(({ key }, index) => [key ?? index, index]));
  // One of several keys with the same name would stand for all.
  if (indexes.size < entries.length) throw new EditRefused("unsupported", path);
  const kept = new Map<number, TargetEntry>();
  const added = new Map<number, TargetEntry[]>();
  const targets = target.entries ?? [];
  for (const [position, entry] of targets.entries()) {
    if (entry.from === null) {
      const next = targets.slice(position).find(({ from }) => from !== null)?.from ?? null;
      const before = next === null ? entries.length : (indexes.get(next) ?? 0);
      const after = kept.size === 0 && next !== null ? -1 : before - 1;
      added.set(after, [...(added.get(after) ?? []), entry]);
    } else {
      const index = indexes.get(entry.from);
      if (index === undefined) throw new EditRefused("unsupported", path);
      kept.set(index, entry);
    }
  }
  return { entries, kept, added };
}

/** Returns whether nothing of a block stays, and the new content cannot be on its lines. */
export function isReplaced(text: string, start: number, { entries, kept, added }: EntryChanges): boolean {
  if (kept.size > 0) return false;
  return added.size === 0 || !isFirstOnLine(text, entries[0]?.start ?? start);
}

/** Inserts new entries in front of the first one. */
export function insertInFront(
  splices: Splices,
  first: EntryRange,
  lines: readonly string[],
  place: { readonly floor: number; readonly column: number; readonly leavesDash: boolean },
): void {
  const { text, insertions } = splices;
  if (isFirstOnLine(text, first.start)) {
    const above = commentsAbove(text, first.start, place.floor, place.column);
    insertLines(splices, first.key === null ? above : lineStart(text, first.start), lines);
    return;
  }
  // The first entry stands behind the dash of the list that it is in.
  const piece = lines.join("\n").trimStart() + (place.leavesDash ? "" : `\n${" ".repeat(place.column)}`);
  insertions.push({ at: first.start, text: piece });
}

/** Returns whether the entries around a place stand apart by blank lines; behind the last one, as the last two do. */
export function isSpacedAt(text: string, entries: readonly EntryRange[], after: number): boolean {
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
export interface Removed {
  /** The start of the blank lines above the first one. */
  readonly above: number;
  readonly end: number;
}

/** Removes an entry with its comments and one blank line; returns null if the next removal does not depend on it. */
export function removeEntry(
  splices: Splices,
  entries: readonly EntryRange[],
  index: number,
  removal: Removal,
): Removed | null {
  const { text, deletions } = splices;
  const { start, end, isTop, isLast } = removal;
  const [entry, next] = [entries[index], entries[index + 1]];
  if (entry === undefined) return null;
  if (!isFirstOnLine(text, entry.start)) {
    if (next !== undefined && !text.slice(entry.end, next.start).includes("#")) {
      deletions.push([entry.start, next.start]);
      return null;
    }
    // Only the dash stays on the line, for the comments below.
    const line = lineStart(text, entry.start);
    const dash = line + text.slice(line, entry.start).trimEnd().length;
    deletions.push([removal.hasFront ? entry.start : dash, end - 1]);
    return null;
  }
  const below = blanksBelow(text, end);
  const blanksStart = blanksAbove(text, start, removal.floor);
  const above = removal.before?.end === blanksStart ? removal.before.above : blanksStart;
  if (isTop) deletions.push([start, next === undefined ? end : below]);
  else deletions.push([below > end || isLast ? above : start, end]);
  return isTop ? null : { above, end };
}

/** Moves the comments below a block that is gone to the column of its key. */
export function dedentComments(
  splices: Splices,
  { end, column }: { readonly end: number; readonly column: number },
): void {
  const { text, deletions } = splices;
  const start = lineEnd(text, end);
  // As in fmt, comments at the end of a file are set apart by a blank line.
  if (/^[ \t]*#/.test(text.slice(start)) && /^(?:[ \t]*(?:#.*)?\n)*$/.test(text.slice(start))) {
    insertLines(splices, start, [""]);
  }
  for (let offset = start; offset < text.length; offset = lineEnd(text, offset)) {
    const [, indentation = "", mark] = /^([ \t]*)(#|$)/.exec(restOfLine(text, offset)) ?? [];
    if (mark === undefined || (mark === "#" && indentation.length <= column)) return;
    if (mark === "#") deletions.push([offset + column, offset + indentation.length]);
  }
}
