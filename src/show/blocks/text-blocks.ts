import { oneLine, withoutCommand } from "../../lib/escape.ts";
import { cellWidth } from "../../lib/text.ts";
import type { Style, Tone } from "../style.ts";
import type { Block, Document, Facts, Grid, GridRow, ListBlock, Mark, Sentence, Text } from "./block.ts";
import { cutList, cutText } from "./cut-list.ts";

/** Prints a document as text, with an empty line between its paragraphs. */
export function documentText(document: Document, style: Style): string {
  const paragraphs = document
    .map((blocks) => blockLines(blocks, style))
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join("\n"));
  return paragraphs.length === 0 ? "" : `${paragraphs.join("\n\n")}\n`;
}

/** Prints blocks as lines. */
export function blockLines(blocks: readonly Block[], style: Style, indent = ""): readonly string[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case "sentence":
        return sentenceLines(block, style, indent);
      case "list":
        return listLines(block, style, `${indent}  `);
      case "facts":
        return factLines(block, style, indent);
      case "grid":
        return gridLines(block, style, indent);
      case "fold": {
        const { kind: _, blocks: below, title, ...rest } = block;
        return [
          ...(title.length === 0
            ? []
            : sentenceLines({ kind: "sentence", text: title, ...rest }, style, indent)),
          ...blockLines(below, style, `${indent}  `),
        ];
      }
      default:
        return block satisfies never;
    }
  });
}

const MARKS: Readonly<Record<Mark, readonly [sign: string, tone: Tone]>> = {
  ok: ["✓", "green"],
  failed: ["✗", "red"],
  unknown: ["?", "yellow"],
  warning: ["!", "yellow"],
  risk: ["!", "red"],
  next: ["→", "cyan"],
  idle: ["·", "dim"],
};

function markText(mark: Mark | undefined, style: Style): string {
  if (mark === undefined) return "";
  const [sign, tone] = MARKS[mark];
  return `${style[tone](sign)} `;
}

function sentenceLines(
  { text, mark, tone, isProse, isLogged, below = [] }: Sentence,
  style: Style,
  indent: string,
): readonly string[] {
  const columns = columnsFor(isLogged, style);
  const rest = isProse ? indent : `${indent}  `;
  return [
    ...flow(text, { columns, head: `${indent}${markText(mark, style)}`, rest, tone, style }),
    ...blockLines(below, style, `${indent}  `),
  ];
}

function columnsFor(isLogged: true | undefined, { columns, onTerminal }: Style): number {
  return isLogged && !onTerminal ? Number.POSITIVE_INFINITY : columns;
}

function listLines({ items, most }: ListBlock, style: Style, indent: string): readonly string[] {
  const { shown, hidden } = cutList(items, most);
  return [
    ...shown.flatMap((text) => sentenceLines({ kind: "sentence", text, isLogged: true }, style, indent)),
    ...(hidden.length > 0 ? [`${indent}${cutText(hidden.length)}`] : []),
  ];
}

/** Minimum width of texts beside their labels; on a narrower terminal they stand below them. */
const MIN_TEXT = 24;

function factLines(
  { rows, width: given, isPlain, isLogged }: Facts,
  style: Style,
  indent: string,
): readonly string[] {
  const labels = rows.map(({ label }) => cellWidth(safeText(label)));
  const width = given ?? Math.min(Math.max(0, ...labels), Math.floor(style.columns / 2));
  const columns = columnsFor(isLogged, style);
  return rows.flatMap(({ label, text, mark }, index) => {
    const head = `${indent}${markText(mark, style)}`;
    const column = cellWidth(head) + width + 1;
    const rest = " ".repeat(cellWidth(head) + 2);
    const tone = isPlain ? undefined : "dim";
    const lines = flow(label, { columns, head, rest, tone, style });
    const longest = safeText(text)
      .split(" ")
      .reduce((most, word) => Math.max(most, cellWidth(word)), 0);
    if (lines.length > 1 || style.columns - column < MIN_TEXT || column + longest > columns) {
      return [...lines, ...flow(text, { columns, head: rest, rest, style })];
    }
    const gap = " ".repeat(Math.max(1, width + 1 - (labels[index] ?? 0)));
    return flow(text, { columns, head: `${lines.join("")}${gap}`, rest: " ".repeat(column), style });
  });
}

/** Stands for a space that is no place to break a line; it cannot come from a text, in which it is escaped. */
const BOUND = "\ue000";

interface Flow {
  readonly columns: number;
  /** The beginning of the first line, painted. */
  readonly head: string;
  /** The beginning of the other lines. */
  readonly rest: string;
  readonly tone?: Tone | undefined;
  readonly style: Style;
}

/** A part of a text in one tone, by its position. */
interface Painted {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

/** Escapes a text, and breaks it at its spaces into painted lines; a word that is too long has a line of its own. */
function flow(text: Text, { columns, head, rest, tone, style }: Flow): readonly string[] {
  let whole = "";
  const painted: Painted[] = [];
  for (const part of typeof text === "string" ? [text] : text) {
    const { text: raw, tone: own = tone, isWhole = false } = typeof part === "string" ? { text: part } : part;
    const safe = oneLine(raw);
    const shown = isWhole ? safe.replaceAll(" ", BOUND) : safe;
    if (own !== undefined && shown !== "") {
      painted.push({ from: whole.length, to: whole.length + shown.length, tone: own });
    }
    whole += shown;
  }
  const lines: string[] = [];
  const add = (from: number, to: number): void => {
    const start = lines.length === 0 ? head : rest;
    const end = paintedText(whole, from, to, painted, style).replaceAll(BOUND, " ");
    lines.push(end === "" ? start.trimEnd() : `${start}${end}`);
  };
  let from = 0;
  let to = 0;
  let width = cellWidth(head);
  const words = whole.split(" ").flatMap((word) => {
    const isTooLong = word.includes(BOUND) && cellWidth(word) > columns - rest.length;
    return isTooLong ? word.split(BOUND) : [word];
  });
  for (const [index, word] of words.entries()) {
    const space = index === 0 ? 0 : 1;
    const wordWidth = cellWidth(word);
    const isFirst = index === 0 && rest.length >= cellWidth(head);
    if (!isFirst && width + space + wordWidth > columns && (index > 0 || head.trimEnd() !== "")) {
      add(from, to);
      from = to + space;
      width = rest.length + wordWidth;
    } else {
      width += space + wordWidth;
    }
    to += space + word.length;
  }
  add(from, to);
  return lines;
}

function paintedText(
  whole: string,
  from: number,
  to: number,
  painted: readonly Painted[],
  style: Style,
): string {
  let text = "";
  let at = from;
  for (const part of painted) {
    const [start, end] = [Math.max(part.from, at), Math.min(part.to, to)];
    if (start >= end) continue;
    text += whole.slice(at, start) + style[part.tone](whole.slice(start, end));
    at = end;
  }
  return text + whole.slice(at, to);
}

function safeText(text: Text): string {
  return typeof text === "string"
    ? oneLine(text)
    : text.map((part) => oneLine(typeof part === "string" ? part : part.text)).join("");
}

const GAP = 2;

/**
 * Prints a grid if it fits, perhaps with flexible columns that are narrower; else the cells of each row follow one
 * another below its group.
 */
function gridLines(grid: Grid, style: Style, indent: string): readonly string[] {
  const { heads, isGrouped = false, flexible = [] } = grid;
  const rows = grid.rows.map((row) => ({ ...row, cells: row.cells.map(oneLine) }));
  const isSame = (index: number): boolean =>
    isGrouped && index > 0 && rows[index - 1]?.cells[0] === rows[index]?.cells[0];
  // In a file or a pipe, rows without titles are for other programs, too.
  const columns = columnsFor(heads.length === 0 ? true : undefined, style);
  const all: readonly GridRow[] =
    heads.length === 0 ? rows : [{ cells: heads.map(oneLine), tone: "dim" }, ...rows];
  const widths = fittedWidths(widthsOf(all), flexible, columns - indent.length);
  if (widths !== null) {
    return all.flatMap((row, line) => {
      const index = line - (all.length - rows.length);
      const cells = isSame(index) ? ["", ...row.cells.slice(1)] : row.cells;
      return rowLines({ ...row, cells }, widths, indent, style);
    });
  }
  const inner = isGrouped ? `${indent}  ` : indent;
  const below = rows.map((row) => ({ ...row, cells: isGrouped ? row.cells.slice(1) : row.cells }));
  const belowWidths = fittedWidths(widthsOf(below), [], columns - inner.length);
  return below.flatMap((row, index) => {
    const group = rows[index]?.cells[0] ?? "";
    const heading =
      isGrouped && !isSame(index)
        ? broken(group, columns - indent.length).map((line) => `${indent}${line}`)
        : [];
    if (belowWidths !== null) return [...heading, ...rowLines(row, belowWidths, inner, style)];
    const cells = row.cells.flatMap((raw, shown): Exclude<Text, string> => {
      const column = isGrouped ? shown + 1 : shown;
      const tone = toneAt(row, column);
      const room = columns - inner.length - GAP;
      const text = flexible.includes(column) ? broken(raw, room - 1).join(" ") : raw;
      return text === "" ? [] : [", ", { text, isWhole: true, ...(tone && { tone }) }];
    });
    return [...heading, ...flow(cells.slice(1), { columns, head: inner, rest: `${inner}  `, style })];
  });
}

function widthsOf(rows: readonly GridRow[]): readonly number[] {
  const count = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  return Array.from({ length: count }, (_, column) =>
    rows.reduce((most, { cells }) => Math.max(most, cellWidth(cells[column] ?? "")), 0),
  );
}

/** Smallest width of a flexible column that is narrower than its cells. */
const MIN_FLEXIBLE = 14;

/** Returns widths that fit into a space, where flexible columns share what the others leave; `null` if it is too little. */
function fittedWidths(
  widths: readonly number[],
  flexible: readonly number[],
  room: number,
): readonly number[] | null {
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  if (total <= room) return widths;
  const fixed = flexible.reduce((sum, column) => sum - (widths[column] ?? 0), total);
  let left = room - fixed;
  if (flexible.length === 0 || left < flexible.length * MIN_FLEXIBLE) return null;
  const fitted = [...widths];
  for (const [index, column] of flexible.toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0)).entries()) {
    const width = Math.min(widths[column] ?? 0, Math.floor(left / (flexible.length - index)));
    fitted[column] = width;
    left -= width;
  }
  return fitted;
}

function toneAt({ tone }: GridRow, column: number): Tone | undefined {
  return typeof tone === "string" ? tone : tone?.[column];
}

function rowLines(row: GridRow, widths: readonly number[], indent: string, style: Style): readonly string[] {
  const parts = row.cells.map((cell, column) => broken(cell, widths[column] ?? 0));
  const height = parts.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, line) => {
    const cells = parts.map((part) => part[line] ?? "");
    const last = cells.findLastIndex((cell) => cell !== "");
    const shown = cells.slice(0, last + 1).map((cell, column) => {
      const tone = toneAt(row, column);
      const painted = cell === "" || tone === undefined ? cell : style[tone](cell);
      return column === last ? painted : `${painted}${" ".repeat((widths[column] ?? 0) - cellWidth(cell))}`;
    });
    return `${indent}${shown.join(" ".repeat(GAP))}`;
  });
}

/** Breaks a text into lines of at most `width` cells: at its spaces, and a longer word anywhere. */
function broken(text: string, width: number): readonly string[] {
  if (cellWidth(text) <= width) return [text];
  // A line may begin with what a CI log would treat as a command, whose escape takes a cell.
  const room = width - 1;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((each) => pieces(each, room))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (cellWidth(longer) <= room) {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map(withoutCommand);
}

function pieces(word: string, width: number): readonly string[] {
  if (cellWidth(word) <= width) return [word];
  const found: string[] = [];
  let piece = "";
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (cellWidth(piece + segment) > width) {
      found.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return [...found, piece];
}
