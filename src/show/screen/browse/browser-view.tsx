import { Box, Text } from "ink";
import { type ReactNode, useContext } from "react";
import { counted, grouped } from "../../../lib/text.ts";
import type { Selection } from "../../../model/plan.ts";
import type { Tone } from "../../style.ts";
import { wrapText } from "../../text/wrap.ts";
import type { Size } from "../second-screen.ts";
import { type Piece, TextLine, Theme, Words } from "../theme.tsx";
import { selectionSums } from "./browse-issues.ts";
import type { BrowseModel } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { type BrowseState, cursorAt, isNarrowed } from "./browse-state.ts";
import type { DetailLine } from "./detail-lines.ts";
import { rowParts } from "./row-parts.ts";

/** The content of the browser's screen. */
export interface BrowseView {
  readonly state: BrowseState;
  readonly model: BrowseModel;
  readonly rows: readonly BrowseRow[];
  /** The lines of the detail. */
  readonly detail: readonly DetailLine[];
  readonly selection: Selection;
  /** Keys of the rows that the search finds. */
  readonly matches: readonly string[];
  readonly selects: boolean;
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
  return { list, detail: columns - list - EDGE.length, both: true };
}

const EDGE = " │ ";

interface ScreenProps {
  readonly view: BrowseView;
  readonly size: Size;
}

/** The browser's screen: one line less than the terminal has. */
export function BrowserView({ view, size }: ScreenProps): ReactNode {
  const { state, detail, selects } = view;
  const height = rowsShown(size);
  const panes = panesOf(size);
  const showsList = !state.help && (panes.both || state.focus === "list");
  const showsDetail = state.help || panes.both || state.focus === "detail";
  const lines = state.help ? helpLines(selects, size.columns) : detail;
  return (
    <Box flexDirection="column" width={size.columns}>
      <Headline view={view} size={size} />
      <Sums selection={view.selection} />
      <Box height={height} overflow="hidden">
        {showsList && <PlanTree view={view} height={height} width={panes.list} />}
        {showsList && showsDetail && (
          <Edge height={height} tone={state.focus === "detail" ? "cyan" : "dim"} />
        )}
        {showsDetail && (
          <Box flexDirection="column" flexGrow={1} flexBasis={0}>
            {lines.slice(state.scroll, state.scroll + height).map((pieces, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place in the detail.
              <TextLine key={state.scroll + index} pieces={pieces} />
            ))}
          </Box>
        )}
      </Box>
      <Keys view={view} size={size} />
    </Box>
  );
}

function Edge({ height, tone }: { readonly height: number; readonly tone: Tone }): ReactNode {
  return (
    <Box flexDirection="column" width={EDGE.length} flexShrink={0}>
      {Array.from({ length: height }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen.
        <Words key={index} pieces={[[EDGE, tone]]} />
      ))}
    </Box>
  );
}

/** The browsed plans, the selection, the search and the place of the cursor. */
function Headline({ view, size }: ScreenProps): ReactNode {
  const { state, model, rows, selection, selects, matches } = view;
  const { due, waiting } = selectionSums(selection);
  const matchNumber = matches.indexOf(rows[cursorAt(state, rows)]?.key ?? "") + 1;
  const matchText = `${matchNumber > 0 ? `${grouped(matchNumber)}/` : ""}${grouped(matches.length)}`;
  const position = rows.length === 0 ? "" : `${grouped(cursorAt(state, rows) + 1)}/${grouped(rows.length)}`;
  const changed = model.plans.filter(({ changes }) => changes.length > 0);
  const plans = ` at ${counted(changed.length || model.plans.length, "merchant")}`;
  const isShort = size.columns < NARROW && selects;
  const summary: readonly Piece[] = isShort
    ? [[`${grouped(due)} of ${grouped(model.changes)} selected`, "green"]]
    : [
        [counted(model.changes, "change"), "bold"],
        [plans],
        [selects ? ` · ${grouped(due)} selected` : "", "green"],
      ];
  const isSearched = state.search !== "" && state.searchFrom === null;
  return (
    <Box justifyContent="space-between" columnGap={1} height={1}>
      <Words
        pieces={[
          ...summary,
          [selects && waiting > 0 && selection.out.size > 0 ? `, ${grouped(waiting)} waiting` : "", "yellow"],
          [state.edited ? " · edited since" : "", "yellow"],
          [isSearched ? ` · ${matchText} "${state.search}"` : "", "yellow"],
        ]}
      />
      <Box flexShrink={0}>
        <Words pieces={[[position, "dim"]]} />
      </Box>
    </Box>
  );
}

/** The effects of the selection: sums, people, risks and refusals. */
function Sums({ selection }: { readonly selection: Selection }): ReactNode {
  const sums = selectionSums(selection);
  const { gain, lose, risks, refusals, refusedMerchants } = sums;
  const people = [gain > 0 ? `${grouped(gain)} gain` : "", lose > 0 ? `${grouped(lose)} lose` : ""];
  const told = people.filter((part) => part !== "").join(", ");
  const where = refusedMerchants > 1 ? ` at ${counted(refusedMerchants, "merchant")}` : "";
  return (
    <TextLine
      pieces={[
        [`+${grouped(sums.create)}`, "green"],
        [` ~${grouped(sums.update)}`, "yellow"],
        [` -${grouped(sums.delete)}`, "red"],
        [refusals === 0 ? "" : ` · ✗ ${counted(refusals, "refusal")}${where}`, "red"],
        [risks === 0 ? "" : ` · ! ${counted(risks, "risk")}`, "yellow"],
        [told === "" ? " · nobody gains or loses" : ` · ${told}`],
      ]}
    />
  );
}

/** The visible rows of the changes, or of the refusals, risks and notes. */
function PlanTree({
  view,
  height,
  width,
}: {
  readonly view: BrowseView;
  readonly height: number;
  readonly width: number;
}): ReactNode {
  const { state, rows } = view;
  const cursor = cursorAt(state, rows);
  const matches = new Set(state.search === "" || isNarrowed(state) ? [] : view.matches);
  const none =
    state.list === "issues" ? "  No refusals, risks or notes." : "  No matches. Press Escape to show all.";
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      {rows.length === 0 && <TextLine pieces={[[none, "dim"]]} />}
      {rows.slice(state.top, state.top + height).map((row, index) => (
        <TreeRow
          key={row.key}
          row={row}
          view={view}
          width={width}
          isHere={state.top + index === cursor}
          isFound={matches.has(row.key)}
        />
      ))}
    </Box>
  );
}

/** A row, with its numbers and marks on the right; the cursor's row is inverted over its whole width. */
function TreeRow({
  row,
  view,
  width,
  isHere,
  isFound,
}: {
  readonly row: BrowseRow;
  readonly view: BrowseView;
  readonly width: number;
  readonly isHere: boolean;
  readonly isFound: boolean;
}): ReactNode {
  const { inverse } = useContext(Theme);
  const { left, rest = [], right } = rowParts(row, view, width);
  const hasEnd = right.some(([text]) => text !== "");
  const dressed = (pieces: readonly Piece[]): readonly Piece[] =>
    isHere ? pieces.map(([text]) => [text, "inverse"]) : pieces;
  return (
    <Box height={1} flexShrink={0}>
      <Box flexShrink={0}>
        <Words pieces={dressed([[isHere ? "❯ " : isFound ? "› " : "  ", "cyan"]])} />
      </Box>
      <Words pieces={dressed(left)} />
      <Box flexShrink={0}>
        <Words pieces={dressed(rest)} />
      </Box>
      <Box flexGrow={1} flexBasis={0} minWidth={hasEnd ? 1 : 0} height={1} overflow="hidden">
        <Text>{isHere ? inverse(" ".repeat(width)) : ""}</Text>
      </Box>
      <Box flexShrink={0}>
        <Words pieces={dressed(right)} />
      </Box>
    </Box>
  );
}

/** The search being typed, a note, or the keys. */
function Keys({ view: { state, selects, matches }, size: { columns } }: ScreenProps): ReactNode {
  if (state.searchFrom !== null) {
    const matchText = state.search === "" ? "" : `  ${counted(matches.length, "match", "matches")}`;
    return (
      <TextLine
        pieces={[
          ["/", "bold"],
          [`${state.search}▏`],
          [matchText, "dim"],
          ["  Enter applies, Escape cancels", "dim"],
        ]}
      />
    );
  }
  if (state.note !== "") return <TextLine pieces={[[state.note, "yellow"]]} />;
  if (state.help) return <TextLine pieces={[["↑↓ scroll · any other key returns", "dim"]]} />;
  return <TextLine pieces={[[fitting(keysOf(state, selects), columns), "dim"]]} />;
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
export function helpLines(selects: boolean, columns: number): readonly DetailLine[] {
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
    ["Ctrl-Z", "suspend; fg resumes"],
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
        return [[` ${(index === 0 ? key : "").padEnd(label)} `, "cyan"], [text]];
      }),
    ),
    ...marks.flatMap((text) => wrapText(text, columns - 1).map((each): DetailLine => [[` ${each}`, "dim"]])),
  ];
}
