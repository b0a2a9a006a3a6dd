import { counted, grouped } from "../../../lib/text.ts";
import type { Selection } from "../../../model/plan.ts";
import { kindPaint, SIGNS, type Style } from "../../style.ts";
import { equalText } from "../../view/equal-text.ts";
import { shown } from "../second-screen.ts";
import { cutTo, line, type PaintedPiece as Piece, padded, widthOf } from "../terminal-text.ts";
import { effectOf, judgedPlan, planNumbers } from "./browse-issues.ts";
import type { BrowsedChange, BrowseNode } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { type BrowseState, cursorAt, isNarrowed } from "./browse-state.ts";
import { ISSUE_MARKS, issuePaint } from "./issue-detail.ts";

/** The content of the list. */
export interface ListView {
  readonly state: BrowseState;
  readonly rows: readonly BrowseRow[];
  readonly selection: Selection;
  /** Keys of the rows that the search finds. */
  readonly matches: readonly string[];
  readonly selects: boolean;
}

/** Returns the visible rows of the list. */
export function rowLines(view: ListView, height: number, width: number, style: Style): readonly string[] {
  const { state, rows } = view;
  if (rows.length === 0) return [line([[emptyText(state), style.dim]], width)];
  const cursor = cursorAt(state, rows);
  const matchKeys = new Set(view.matches);
  return rows.slice(state.top, state.top + height).map((row, index) => {
    const isHere = state.top + index === cursor;
    const { left, right } = rowPieces(row, view, width, style);
    const isFound = state.search !== "" && !isNarrowed(state) && matchKeys.has(row.key);
    return rowLine({ left, right, isHere, isFound }, width, style);
  });
}

function emptyText({ list }: BrowseState): string {
  return list === "issues" ? "  No refusals, risks or notes." : "  No matches. Press Escape to show all.";
}

/** The pieces of a row: what may be cut, and what stands at the end. */
interface RowPieces {
  readonly left: readonly Piece[];
  readonly right: readonly Piece[];
}

/** Lays a row out, its end on the right; the cursor's is highlighted. */
function rowLine(
  { left, right, isHere, isFound }: RowPieces & { readonly isHere: boolean; readonly isFound: boolean },
  width: number,
  style: Style,
): string {
  const end = right.reduce((sum, [text]) => sum + widthOf(text), 0);
  const space = labelWidth(right, width);
  const text = cutTo(left.map((piece) => piece[0]).join(""), space);
  const mark = isHere ? "❯ " : isFound ? "› " : "  ";
  if (isHere) {
    const rest = right.map((piece) => piece[0]).join("");
    return style.inverse(padded(`${mark}${padded(text, space)}${end > 0 ? " " : ""}${rest}`, width));
  }
  const gap = " ".repeat(Math.max(space - widthOf(text), 0) + (end > 0 ? 1 : 0));
  return line(
    [[mark, style.cyan], [line(left, space)], ...(end > 0 ? [[gap] as const, ...right] : [])],
    Infinity,
  );
}

/** Returns the space that the end of a row leaves to what stands before it. */
function labelWidth(right: readonly Piece[], width: number): number {
  const end = right.reduce((sum, [text]) => sum + widthOf(text), 0);
  return Math.max(width - 2 - end - (end > 0 ? 1 : 0), 1);
}

function rowPieces(row: BrowseRow, view: ListView, width: number, style: Style): RowPieces {
  switch (row.type) {
    case "heading":
      return {
        left: [[shown(row.group.title), (text) => style.bold(issuePaint(row.group.kind, style)(text))]],
        right: [],
      };
    case "issue": {
      const { kind, what, message, brief = message, places } = row.issue;
      const where = places.length > 1 ? counted(places.length, "merchant") : "";
      return {
        left: [
          [`  ${ISSUE_MARKS[kind]} `, issuePaint(kind, style)],
          [shown(what)],
          [` ${shown(brief)}`, style.dim],
        ],
        right: [[where, style.dim]],
      };
    }
    case "node":
      return nodePieces(row, row.node, view, width, style);
    default:
      return row satisfies never;
  }
}

function nodePieces(
  row: BrowseRow,
  node: BrowseNode,
  view: ListView,
  width: number,
  style: Style,
): RowPieces {
  const { out } = view.selection;
  const fold = row.open === null ? "" : row.open ? "▾ " : "▸ ";
  const indent = "  ".repeat(node.depth);
  const total = row.changes.length;
  const leftOutCount = row.changes.filter(({ id }) => out.has(id)).length;
  const kept =
    leftOutCount > 0 && leftOutCount < total ? `${grouped(total - leftOutCount)}/${grouped(total)} ` : "";
  const marks = marksOf(row.changes, view.selection, style);
  switch (node.type) {
    case "merchant":
      return merchantPieces(
        node,
        node.depth === 0 ? fold : `${indent}${view.selects ? box(leftOutCount, total) : ""}`,
        view.selection,
        style,
      );
    case "shared":
      return {
        left: [[fold], [node.title, style.bold], [` (${grouped(total)})`]],
        right: [[kept, style.green], ...marks],
      };
    case "idle":
      return { left: [[fold], [node.title, style.dim]], right: [[kept, style.green], ...marks] };
    case "waiting": {
      const { kind, name, resource } = node.deferred.change;
      const what = `${SIGNS[kind]} ${resource === "role" ? "role " : ""}${shown(name)}`;
      return { left: [[`${indent}… ${what}`, style.dim]], right: [["waits", style.yellow]] };
    }
    case "group":
      return groupPieces({ node, row, indent, fold, kept, marks }, view, width, style);
    case "change":
      return changePieces(node, indent, marks, view, style);
    default:
      return node satisfies never;
  }
}

function merchantPieces(
  { plan }: BrowseNode & { readonly type: "merchant" },
  start: string,
  selection: Selection,
  style: Style,
): RowPieces {
  const { create, update, delete: remove, refusals, risks } = planNumbers(judgedPlan(plan, selection));
  const { merchant, environment } = plan;
  const sums: readonly Piece[] = [
    [create > 0 ? `+${grouped(create)}` : "", style.green],
    [update > 0 ? ` ~${grouped(update)}` : "", style.yellow],
    [remove > 0 ? ` -${grouped(remove)}` : "", style.red],
  ];
  return {
    left: [
      [start],
      [shown(merchant), style.bold],
      [environment === null ? "" : ` · ${environment}`, style.dim],
    ],
    right: [...sums, ...markPieces(risks > 0, refusals > 0, style)],
  };
}

/** The parts of a row that depend on the selection or on where it is. */
interface GroupRow {
  readonly node: BrowseNode & { readonly type: "group" };
  readonly row: BrowseRow;
  readonly indent: string;
  readonly fold: string;
  /** "59/60 " if a part is left out. */
  readonly kept: string;
  readonly marks: readonly Piece[];
}

function groupPieces(
  { node, row: { changes }, indent, fold, kept, marks }: GroupRow,
  { selection, selects }: ListView,
  width: number,
  style: Style,
): RowPieces {
  const leftOutCount = changes.filter(({ id }) => selection.out.has(id)).length;
  const isOut = leftOutCount === changes.length;
  const start = `${indent}${selects ? box(leftOutCount, changes.length) : ""}${fold}`;
  const end = [...groupEffect(changes, selection, style), ...marks];
  const space = labelWidth([[kept], ...end], width) - widthOf(start) - 2;
  const { label, counts } = groupLabel(node, kept, space);
  return {
    left: [
      [start],
      [`${SIGNS[node.row.kind]} `, isOut ? style.dim : kindPaint(node.row.kind, style)],
      [label, isOut ? style.dim : undefined],
    ],
    right: [[counts ? "" : kept, style.green], ...end],
  };
}

/** The least of a name that is left of it, in cells. */
const LEAST_NAME = 4;

/** Returns what equal changes do, with so much of the names as there is space for, and whether it counts those kept. */
function groupLabel(
  { row, equal }: BrowseNode & { readonly type: "group" },
  kept: string,
  space: number,
): { readonly label: string; readonly counts: boolean } {
  const { title, subject, does } = equalText(row, equal);
  if (widthOf(shown(subject)) <= space || does === "" || row.resource === "role") {
    return { label: shown(title), counts: false };
  }
  const effect = shown(does);
  const { names, changes } = equal;
  if (names.length > 1) return { label: `${kept.trim() || grouped(changes)}: ${effect}`, counts: true };
  const name = cutTo(shown(names[0] ?? ""), Math.max(space - 2 - widthOf(effect), LEAST_NAME));
  return { label: `${name}: ${effect}`, counts: false };
}

/** Returns how many permissions each of equal changes gives and takes: the same number, or the most. */
function groupEffect(
  changes: readonly BrowsedChange[],
  selection: Selection,
  style: Style,
): readonly Piece[] {
  let [gained, lost] = [0, 0];
  for (const change of changes) {
    const effect = effectOf(change, selection);
    gained = Math.max(gained, effect.gained.length);
    lost = Math.max(lost, effect.lost.length);
  }
  return effectPieces(gained, lost, style);
}

function effectPieces(gained: number, lost: number, style: Style): readonly Piece[] {
  return [
    [gained > 0 ? `+${grouped(gained)}` : "", style.green],
    [lost > 0 ? `${gained > 0 ? " " : ""}-${grouped(lost)}` : "", style.red],
  ];
}

function box(leftOutCount: number, total: number): string {
  return leftOutCount === 0 ? "[x] " : leftOutCount === total ? "[ ] " : "[-] ";
}

function changePieces(
  node: BrowseNode & { readonly type: "change" },
  indent: string,
  marks: readonly Piece[],
  { selection, selects }: ListView,
  style: Style,
): RowPieces {
  const { id, plan, change } = node.change;
  const { gained, lost } = effectOf(node.change, selection);
  const why = selection.out.get(id);
  const isOut = why !== undefined;
  const { kind, resource, name } = change;
  const paint = isOut ? style.dim : undefined;
  return {
    left: [
      [indent],
      [selects ? (isOut ? (why === null ? "[ ] " : "[·] ") : "[x] ") : ""],
      [`${SIGNS[kind]} `, isOut ? style.dim : kindPaint(kind, style)],
      [node.named ? `${shown(plan.merchant)} ` : "", paint],
      [`${resource === "role" ? "role " : ""}${shown(name)}`, paint],
    ],
    right: isOut ? [] : [...effectPieces(gained.length, lost.length, style), ...marks],
  };
}

/** The marks of what is refused or risky among the changes that are kept. */
function marksOf(changes: readonly BrowsedChange[], selection: Selection, style: Style): readonly Piece[] {
  let [isRefused, isRisky] = [false, false];
  for (const { id, plan, change } of changes) {
    if (selection.out.has(id)) continue;
    const { refused, risky } = planNumbers(judgedPlan(plan, selection));
    const subject = `${change.resource} ${change.name}`;
    isRefused ||= refused.has(subject);
    isRisky ||= risky.has(subject);
    if (isRefused && isRisky) break;
  }
  return markPieces(isRisky, isRefused, style);
}

/** Returns the marks, which take the same space whether they are there or not. */
function markPieces(isRisky: boolean, isRefused: boolean, style: Style): readonly Piece[] {
  return [
    [isRisky ? " !" : "  ", style.yellow],
    [isRefused ? "✗" : " ", style.red],
  ];
}
