import stringWidth from "string-width";
import { counted, grouped } from "../../../lib/text.ts";
import type { Selection } from "../../../model/plan.ts";
import { KIND_TONES, SIGNS } from "../../style.ts";
import { equalText } from "../../view/equal-text.ts";
import { shown } from "../second-screen.ts";
import type { Piece } from "../theme.tsx";
import { effectOf, judgedPlan, planNumbers } from "./browse-issues.ts";
import type { BrowsedChange, BrowseNode } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { ISSUE_MARKS, ISSUE_TONES } from "./issue-detail.ts";

/** The pieces of a row. */
interface RowParts {
  /** The part that is cut if there is not enough space. */
  readonly left: readonly Piece[];
  /** The part after it, which is never cut. */
  readonly rest?: readonly Piece[];
  /** The part at the end, which is never cut. */
  readonly right: readonly Piece[];
}

/** The context that rows depend on besides the plans. */
interface Selecting {
  readonly selection: Selection;
  readonly selects: boolean;
}

/** Returns the content of a row in a list with a number of cells. */
export function rowParts(row: BrowseRow, view: Selecting, width: number): RowParts {
  switch (row.type) {
    case "heading":
      return {
        left: [[row.group.title, ISSUE_TONES[row.group.kind], "bold"]],
        right: [],
      };
    case "issue": {
      const { kind, what, message, brief = message, places } = row.issue;
      const where = places.length > 1 ? counted(places.length, "merchant") : "";
      return {
        left: [[`  ${ISSUE_MARKS[kind]} `, ISSUE_TONES[kind]], [what], [` ${brief}`, "dim"]],
        right: [[where, "dim"]],
      };
    }
    case "node":
      return nodePieces(row, row.node, view, width);
    default:
      return row satisfies never;
  }
}

function nodePieces(row: BrowseRow, node: BrowseNode, view: Selecting, width: number): RowParts {
  const { out } = view.selection;
  const fold = row.open === null ? "" : row.open ? "▾ " : "▸ ";
  const indent = "  ".repeat(node.depth);
  const total = row.changes.length;
  const leftOutCount = row.changes.filter(({ id }) => out.has(id)).length;
  const kept =
    leftOutCount > 0 && leftOutCount < total ? `${grouped(total - leftOutCount)}/${grouped(total)} ` : "";
  const marks = marksOf(row.changes, view.selection);
  switch (node.type) {
    case "merchant":
      return merchantPieces(
        node,
        node.depth === 0 ? fold : `${indent}${view.selects ? box(leftOutCount, total) : ""}`,
        view.selection,
      );
    case "shared":
      return {
        left: [[fold], [node.title, "bold"], [` (${grouped(total)})`]],
        right: [[kept, "green"], ...marks],
      };
    case "idle":
      return { left: [[fold], [node.title, "dim"]], right: [[kept, "green"], ...marks] };
    case "waiting": {
      const { kind, name, resource } = node.deferred.change;
      const what = `${SIGNS[kind]} ${resource === "role" ? "role " : ""}${name}`;
      return { left: [[`${indent}… ${what}`, "dim"]], right: [["waits", "yellow"]] };
    }
    case "group":
      return groupPieces({ node, row, indent, fold, kept, marks }, view, width);
    case "change":
      return changePieces(node, indent, marks, view);
    default:
      return node satisfies never;
  }
}

function merchantPieces(
  { plan }: BrowseNode & { readonly type: "merchant" },
  start: string,
  selection: Selection,
): RowParts {
  const { create, update, delete: remove, refusals, risks } = planNumbers(judgedPlan(plan, selection));
  const { merchant, environment } = plan;
  const sums: readonly Piece[] = [
    [create > 0 ? `+${grouped(create)}` : "", "green"],
    [update > 0 ? ` ~${grouped(update)}` : "", "yellow"],
    [remove > 0 ? ` -${grouped(remove)}` : "", "red"],
  ];
  return {
    left: [[start], [merchant, "bold"], [environment === null ? "" : ` · ${environment}`, "dim"]],
    right: [...sums, ...markPieces(risks > 0, refusals > 0)],
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
  { selection, selects }: Selecting,
  width: number,
): RowParts {
  const leftOutCount = changes.filter(({ id }) => selection.out.has(id)).length;
  const isOut = leftOutCount === changes.length;
  const start = `${indent}${selects ? box(leftOutCount, changes.length) : ""}${fold}`;
  const end = [...groupEffect(changes, selection), ...marks];
  const taken = [[start], [kept], ...end].reduce((sum, [text = ""]) => sum + stringWidth(text), MARKS);
  const { label, does, counts } = groupLabel(node, kept, width - taken);
  const tone = isOut ? "dim" : undefined;
  return {
    left: [[start], [`${SIGNS[node.row.kind]} `, isOut ? "dim" : KIND_TONES[node.row.kind]], [label, tone]],
    rest: [[does, tone]],
    right: [[counts ? "" : kept, "green"], ...end],
  };
}

/** The cells of the cursor's mark, of the sign of a change, and of the space before the end. */
const MARKS = 2 + 2 + 1;

/** Minimum width of a shortened name, in cells. */
const LEAST_NAME = 4;

/** Returns the names of equal changes, or if there is no space for several, their number, and what they do. */
function groupLabel(
  { row, equal }: BrowseNode & { readonly type: "group" },
  kept: string,
  space: number,
): { readonly label: string; readonly does: string; readonly counts: boolean } {
  const { title, subject, does } = equalText(row, equal);
  const { names, changes } = equal;
  if (stringWidth(shown(subject)) <= space || does === "" || row.resource === "role") {
    return { label: title, does: "", counts: false };
  }
  const [name = "", ...more] = names;
  const label = more.length > 0 ? kept.trim() || grouped(changes) : name;
  const fits = stringWidth(shown(`: ${does}`)) + LEAST_NAME <= space;
  return {
    label: fits ? label : `${label}: ${does}`,
    does: fits ? `: ${does}` : "",
    counts: more.length > 0,
  };
}

/** Returns how many permissions each of equal changes gives and takes: the same number, or the most. */
function groupEffect(changes: readonly BrowsedChange[], selection: Selection): readonly Piece[] {
  let [gained, lost] = [0, 0];
  for (const change of changes) {
    const effect = effectOf(change, selection);
    gained = Math.max(gained, effect.gained.length);
    lost = Math.max(lost, effect.lost.length);
  }
  return effectPieces(gained, lost);
}

function effectPieces(gained: number, lost: number): readonly Piece[] {
  return [
    [gained > 0 ? `+${grouped(gained)}` : "", "green"],
    [lost > 0 ? `${gained > 0 ? " " : ""}-${grouped(lost)}` : "", "red"],
  ];
}

function box(leftOutCount: number, total: number): string {
  return leftOutCount === 0 ? "[x] " : leftOutCount === total ? "[ ] " : "[-] ";
}

function changePieces(
  node: BrowseNode & { readonly type: "change" },
  indent: string,
  marks: readonly Piece[],
  { selection, selects }: Selecting,
): RowParts {
  const { id, plan, change } = node.change;
  const { gained, lost } = effectOf(node.change, selection);
  const why = selection.out.get(id);
  const isOut = why !== undefined;
  const { kind, resource, name } = change;
  const tone = isOut ? "dim" : undefined;
  return {
    left: [
      [indent],
      [selects ? (isOut ? (why === null ? "[ ] " : "[·] ") : "[x] ") : ""],
      [`${SIGNS[kind]} `, isOut ? "dim" : KIND_TONES[kind]],
      [node.named ? `${plan.merchant} ` : "", tone],
      [`${resource === "role" ? "role " : ""}${name}`, tone],
    ],
    right: isOut ? [] : [...effectPieces(gained.length, lost.length), ...marks],
  };
}

/** The marks of what is refused or risky among the changes that are kept. */
function marksOf(changes: readonly BrowsedChange[], selection: Selection): readonly Piece[] {
  let [isRefused, isRisky] = [false, false];
  for (const { id, plan, change } of changes) {
    if (selection.out.has(id)) continue;
    const { refused, risky } = planNumbers(judgedPlan(plan, selection));
    const subject = `${change.resource} ${change.name}`;
    isRefused ||= refused.has(subject);
    isRisky ||= risky.has(subject);
    if (isRefused && isRisky) break;
  }
  return markPieces(isRisky, isRefused);
}

/** Returns the marks, which take the same space whether they are there or not. */
function markPieces(isRisky: boolean, isRefused: boolean): readonly Piece[] {
  return [
    [isRisky ? " !" : "  ", "yellow"],
    [isRefused ? "✗" : " ", "red"],
  ];
}
