import { cellWidth } from "../../lib/text.ts";
import type { Style } from "../style.ts";
import { padTo, wrapList } from "./wrap.ts";

/** A row of texts; `paint` paints a cell that is padded to its width. */
export interface GridRow {
  readonly cells: readonly string[];
  readonly paint?: (text: string, column: number) => string;
}

/** Rows in aligned columns. */
export interface Grid {
  /** The titles of the columns; empty for none. */
  readonly heads: readonly string[];
  readonly rows: readonly GridRow[];
  /** True if rows with the same first cell belong together, and only the first of them shows it. */
  readonly isGrouped?: boolean;
}

const GAP = "  ";

/** Formats a grid if it fits; on a narrower terminal, the cells of each row stand below its group, and are wrapped. */
export function gridLines(
  { heads, rows, isGrouped = false }: Grid,
  style: Style,
  indent = "  ",
): readonly string[] {
  const isSame = (index: number): boolean =>
    isGrouped && rows[index - 1]?.cells[0] === rows[index]?.cells[0] && index > 0;
  const all = heads.length === 0 ? rows : [{ cells: heads }, ...rows];
  const widths = widthsOf(all);
  const room = style.columns - indent.length;
  if (widthOf(widths) <= room) {
    return [
      ...(heads.length === 0 ? [] : [`${indent}${style.dim(line({ cells: heads }, widths))}`]),
      ...rows.map((row, index) => {
        const [, ...rest] = row.cells;
        return `${indent}${line(isSame(index) ? { ...row, cells: ["", ...rest] } : row, widths)}`;
      }),
    ];
  }
  const below = isGrouped ? rows.map((row) => ({ ...row, cells: row.cells.slice(1) })) : rows;
  const belowWidths = widthsOf(below);
  const inner = isGrouped ? `${indent}  ` : indent;
  const fits = inner.length + widthOf(belowWidths) <= style.columns;
  return below.flatMap((row, index) => {
    const group = isGrouped && !isSame(index) ? [`${indent}${rows[index]?.cells[0] ?? ""}`] : [];
    if (fits) return [...group, `${inner}${line(row, belowWidths)}`];
    const cells = row.cells.filter((cell) => cell !== "");
    const paint = row.paint ?? ((text) => text);
    const lines = wrapList(cells, style.columns - inner.length - 2).map(
      (text, part) => `${part === 0 ? inner : `${inner}  `}${paint(text, 0)}`,
    );
    return [...group, ...lines];
  });
}

/** Formats a grid as a list for people and programs: in files and pipes, each row is one line. */
export function gridText(grid: Grid, style: Style): string {
  const columns = style.onTerminal ? style.columns : Number.POSITIVE_INFINITY;
  return gridLines(grid, { ...style, columns }, "")
    .map((text) => `${text}\n`)
    .join("");
}

function widthsOf(rows: readonly GridRow[]): readonly number[] {
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  return Array.from({ length: count }, (_, column) =>
    rows.reduce((most, { cells }) => Math.max(most, cellWidth(cells[column] ?? "")), 0),
  );
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, 0);
}

function line({ cells, paint = (text) => text }: GridRow, widths: readonly number[]): string {
  const last = cells.findLastIndex((cell) => cell !== "");
  return cells
    .slice(0, last + 1)
    .map((cell, column) => {
      const painted = cell === "" ? "" : paint(cell, column);
      return column === last ? painted : `${painted}${padTo("", (widths[column] ?? 0) - cellWidth(cell))}`;
    })
    .join(GAP);
}
