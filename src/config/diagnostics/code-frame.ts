import { escapeText } from "../../lib/escape.ts";
import type { Span } from "../../model/diagnostic.ts";
import type { Positions } from "../yaml/locate.ts";

const LINES_BEFORE = 2;
const LINES_AFTER = 1;
const MAX_CELLS = 100;
const CELLS_BEFORE = 40;
const TAB = "    ";
// A hostile file may be one endless line; only this much of it is looked at, which is always more than is shown.
const MAX_CHARACTERS = 2000;
const CHARACTERS_BEFORE = 400;

/** Renders the numbered lines around a span, its first line marked and underlined; control characters are escaped. */
export function renderFrame(positions: Positions, span: Span): string {
  const first = Math.max(1, span.line - LINES_BEFORE);
  const last = Math.min(positions.lineCount, span.line + LINES_AFTER);
  const cut = span.column > MAX_CHARACTERS / 2 ? span.column - CHARACTERS_BEFORE : 0;
  const lineOf = (number: number) => positions.line(number).slice(cut, cut + MAX_CHARACTERS);
  const marked = markedCells(lineOf(span.line), {
    ...span,
    column: span.column - cut,
    endColumn: span.endColumn - cut,
  });
  const from = windowStart(marked);
  const gutter = String(last).length;
  const lines: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lineOf(number);
    // The empty line after the file's last break is no line to a reader.
    if (number === positions.lineCount && positions.line(number) === "" && number !== span.line) {
      continue;
    }
    const marker = number === span.line ? ">" : " ";
    lines.push(`${marker} ${String(number).padStart(gutter)} | ${windowed(cellsOf(text), from)}`.trimEnd());
    if (number === span.line) {
      lines.push(`  ${" ".repeat(gutter)} | ${carets(marked, from)}`);
    }
  }
  return lines.join("\n");
}

/** A rendered character and its width, in cells. */
interface Cell {
  readonly text: string;
  readonly width: number;
}

function cellsOf(line: string): readonly Cell[] {
  return Array.from(line, (character) => {
    const text = character === "\t" ? TAB : escapeText(character);
    return { text, width: text === character ? characterWidth(character) : text.length };
  });
}

/** Returns the start and length of the underline, in cells. */
interface Marked {
  readonly start: number;
  readonly width: number;
  readonly total: number;
}

function markedCells(line: string, span: Span): Marked {
  const end = span.endLine === span.line ? span.endColumn : line.length + 1;
  const start = widthOf(line.slice(0, span.column - 1));
  const width = widthOf(line.slice(span.column - 1, end - 1));
  return { start, width: Math.max(1, width), total: widthOf(line) };
}

function widthOf(text: string): number {
  return cellsOf(text).reduce((sum, { width }) => sum + width, 0);
}

/** Returns the first visible cell; all lines of a frame scroll together, so that indentation stays comparable. */
function windowStart({ start, width, total }: Marked): number {
  return total <= MAX_CELLS || start + width < MAX_CELLS ? 0 : Math.max(0, start - CELLS_BEFORE);
}

const CUT = "…";

function windowed(cells: readonly Cell[], from: number): string {
  let shown = from > 0 ? CUT : "";
  let position = 0;
  for (const { text, width } of cells) {
    if (position >= from + MAX_CELLS) {
      return shown + CUT;
    }
    if (position >= from) {
      shown += text;
    } else if (position + width > from) {
      // Half of a wide character is cut off: keep the columns below it true.
      shown += " ".repeat(position + width - from);
    }
    position += width;
  }
  return shown;
}

function carets({ start, width }: Marked, from: number): string {
  const offset = start - from + (from > 0 ? 1 : 0);
  return " ".repeat(offset) + "^".repeat(Math.min(width, MAX_CELLS - (start - from)));
}

/** Scripts and symbols that terminals draw two cells wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Returns how many terminal cells a character takes: two for wide ones, none for marks that sit on another. */
function characterWidth(character: string): number {
  if (character <= "~") {
    return 1;
  }
  if (/\p{M}/u.test(character)) {
    return 0;
  }
  return WIDE.test(character) ? 2 : 1;
}
