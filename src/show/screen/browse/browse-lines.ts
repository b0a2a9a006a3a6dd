import { counted, grouped } from "../../../lib/text.ts";
import type { Style } from "../../style.ts";
import { wrapText } from "../../text/wrap.ts";
import { type Size, shown } from "../second-screen.ts";
import { line, padded, widthOf } from "../terminal-text.ts";
import { selectionSums } from "./browse-issues.ts";
import type { BrowseModel } from "./browse-model.ts";
import { type BrowseState, cursorAt } from "./browse-state.ts";
import type { DetailLine } from "./detail-lines.ts";
import { type ListView, rowLines } from "./row-lines.ts";

/** The content of the browser's screen. */
export interface BrowseView extends ListView {
  readonly model: BrowseModel;
  /** The lines of the detail. */
  readonly detail: readonly DetailLine[];
}

/** The lines above and below the panes: the numbers, and the keys. */
const FRAME_ROWS = 3;

/** Minimum width for two panes, in cells. */
const TWO_PANES = 72;

/** Below this width, the numbers are shorter. */
const NARROW = 56;

/** Returns the number of rows of the panes; one line stays free, or the terminal would scroll. */
export function rowsShown({ rows }: Size): number {
  return Math.max(rows - FRAME_ROWS - 1, 1);
}

/** The widths of the list and the detail; without a list beside it, the detail has the whole window when it is shown. */
interface Panes {
  readonly list: number;
  readonly detail: number;
  readonly both: boolean;
}

/** Returns the widths of the panes. */
export function panesOf({ columns }: Size): Panes {
  if (columns < TWO_PANES) return { list: columns, detail: columns, both: false };
  const list = Math.min(Math.max(Math.floor(columns * 0.45), 36), 64);
  return { list, detail: columns - list - SEPARATOR.length, both: true };
}

const SEPARATOR = " │ ";

/** Returns the browser's screen: one line less than the terminal has. */
export function browseLines(view: BrowseView, size: Size, style: Style): readonly string[] {
  const { columns } = size;
  const height = rowsShown(size);
  const { help, scroll } = view.state;
  const body = help
    ? helpLines(view.selects, columns, style)
        .slice(scroll, scroll + height)
        .map((pieces) => line(pieces, columns))
    : paneLines(view, height, panesOf(size), style);
  return [
    headline(view, columns, style),
    sumsLine(view, columns, style),
    ...Array.from({ length: height }, (_, index) => body[index] ?? ""),
    bottom(view, size, style),
  ];
}

/** Describes the browsed plans, the selection and the cursor. */
function headline(
  { state, model, rows, selection, selects, matches }: BrowseView,
  columns: number,
  style: Style,
): string {
  const { due, waiting } = selectionSums(selection);
  const matchNumber = matches.indexOf(rows[cursorAt(state, rows)]?.key ?? "") + 1;
  const matchText = `${matchNumber > 0 ? `${grouped(matchNumber)}/` : ""}${grouped(matches.length)}`;
  const position = rows.length === 0 ? "" : `${grouped(cursorAt(state, rows) + 1)}/${grouped(rows.length)}`;
  const isNarrow = columns < NARROW && selects;
  const summary = line(
    [
      [isNarrow ? "" : counted(model.changes, "change"), style.bold],
      [isNarrow ? "" : ` at ${counted(model.plans.length, "merchant")}`],
      [isNarrow ? `${grouped(due)} of ${grouped(model.changes)} selected` : "", style.green],
      [selects && !isNarrow ? ` · ${grouped(due)} selected` : "", style.green],
      [selects && waiting > 0 && selection.out.size > 0 ? `, ${grouped(waiting)} waiting` : "", style.yellow],
      [state.edited ? " · edited since" : "", style.yellow],
      [
        state.search === "" || state.searchFrom ? "" : ` · ${matchText} "${shown(state.search)}"`,
        style.yellow,
      ],
    ],
    columns - position.length - 1,
  );
  return `${summary}${" ".repeat(Math.max(columns - visibleWidth(summary) - position.length, 1))}${style.dim(position)}`;
}

/** Describes the effects of the selection: sums, people, risks and refusals. */
function sumsLine({ selection }: BrowseView, columns: number, style: Style): string {
  const sums = selectionSums(selection);
  const { gain, lose, risks, refusals, refusedMerchants } = sums;
  const people = [gain > 0 ? `${grouped(gain)} gain` : "", lose > 0 ? `${grouped(lose)} lose` : ""];
  const told = people.filter((part) => part !== "").join(", ");
  const where = refusedMerchants > 1 ? ` at ${counted(refusedMerchants, "merchant")}` : "";
  return line(
    [
      [`+${grouped(sums.create)}`, style.green],
      [` ~${grouped(sums.update)}`, style.yellow],
      [` -${grouped(sums.delete)}`, style.red],
      [refusals === 0 ? "" : ` · ✗ ${counted(refusals, "refusal")}${where}`, style.red],
      [risks === 0 ? "" : ` · ! ${counted(risks, "risk")}`, style.yellow],
      [told === "" ? " · nobody gains or loses" : ` · ${told}`],
    ],
    columns,
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of the style.
const COLOURS = /\u001b\[[\d;]+m/g;

function visibleWidth(painted: string): number {
  return widthOf(painted.replaceAll(COLOURS, ""));
}

function paneLines(view: BrowseView, height: number, panes: Panes, style: Style): readonly string[] {
  const { state, detail } = view;
  const list = (): readonly string[] => rowLines(view, height, panes.list, style);
  const beside = (): readonly string[] =>
    detail.slice(state.scroll, state.scroll + height).map((pieces) => line(pieces, panes.detail));
  if (!panes.both) return state.focus === "detail" ? beside() : list();
  const [listLines, besideLines] = [list(), beside()];
  const edge = state.focus === "detail" ? style.cyan : style.dim;
  return Array.from({ length: height }, (_, index) => {
    const row = listLines[index] ?? "";
    const space = " ".repeat(Math.max(panes.list - visibleWidth(row), 0));
    return `${row}${space}${edge(SEPARATOR)}${besideLines[index] ?? ""}`;
  });
}

function bottom({ state, selects, matches }: BrowseView, { columns }: Size, style: Style): string {
  if (state.searchFrom !== null) {
    const matchText = state.search === "" ? "" : `  ${counted(matches.length, "match", "matches")}`;
    return line(
      [
        ["/", style.bold],
        [shown(state.search)],
        ["▏"],
        [matchText, style.dim],
        ["  Enter keeps, Escape cancels", style.dim],
      ],
      columns,
    );
  }
  if (state.note !== "") return line([[state.note, style.yellow]], columns);
  const keys = state.help ? "↑↓ scroll · any other key returns" : fitting(keysOf(state, selects), columns);
  return line([[keys, style.dim]], columns);
}

const LAST_KEYS = ["? keys", "q quit"];

/** Returns as many keys as fit, the most important ones first, and always the last ones. */
function fitting(keys: readonly string[], columns: number): string {
  const joined = [...keys, ...LAST_KEYS].join(" · ");
  return joined.length <= columns || keys.length === 0 ? joined : fitting(keys.slice(0, -1), columns);
}

function keysOf({ focus, list }: BrowseState, selects: boolean): readonly string[] {
  if (focus === "detail") return ["← back", "↑↓ scroll", "e edit"];
  if (list === "issues") return ["→ to the change", "r changes", "/ search"];
  const selectionKeys = selects ? ["space leave out", "a apply"] : [];
  return [...selectionKeys, "⏎ show", "r risks", "/ search", "e edit"];
}

/** Returns all keys, and the marks of the rows. */
export function helpLines(selects: boolean, columns: number, style: Style): readonly DetailLine[] {
  const keys: readonly (readonly [string, string])[] = [
    ["↑ ↓  k j", "one line up or down"],
    ["PgUp PgDn", "one screen up or down (Ctrl-B Ctrl-F, half: Ctrl-U Ctrl-D)"],
    ["Home End  g G", "to the first line, to the last"],
    ["→ ←  l h", "unfold, fold; show one change, go back"],
    ["Enter", "unfold or fold; show one change"],
    ["Tab", "to the detail pane and back; J K scroll it from the list"],
    ["o  c", "unfold everything, fold everything"],
    ["r", "the list of refusals, risks and notes; → goes to the change"],
    ["/", "search people, roles, permissions (+refunds: who gains it), files"],
    ["n  N", "next match, previous match"],
    ["&", "show only matches; again, or Escape: show all"],
    ["e", "open the file at the line, in $VISUAL or $EDITOR"],
    ...(selects
      ? ([
          ["space", "leave out, or select again; on a heading, everything below it"],
          ["a", "apply the selection; asks first"],
        ] as const)
      : []),
    ["Escape", "one step back; finally quit"],
    ["Ctrl-Z", "suspend; fg comes back"],
    ["q  Ctrl-C", selects ? "quit; nothing is changed" : "quit; the plan is printed"],
  ];
  const marks = [
    ...(selects ? ["[x] selected  [ ] left out  [·] also left out: it depends on a left-out change"] : []),
    "+2 -1 permissions gained and lost  ! a risk  ✗ refused",
  ];
  const label = columns < TWO_PANES ? 14 : 15;
  return [
    ...keys.flatMap(([key, what]) =>
      wrapText(what, columns - label - 2).map((text, index): DetailLine => {
        return [[" "], [padded(index === 0 ? key : "", label), style.cyan], [" "], [text]];
      }),
    ),
    ...marks.flatMap((text) =>
      wrapText(text, columns - 1).map((each): DetailLine => [[` ${each}`, style.dim]]),
    ),
  ];
}
