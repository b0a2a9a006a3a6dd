import { counted, grouped } from "../../lib/text.ts";
import type { Change } from "../../model/plan.ts";
import type { Paint, Style } from "../style.ts";
import { rowOf } from "../view/change-view.ts";
import { equalText, namesText } from "../view/equal-text.ts";
import { addCounts, countsText } from "../view/plan-view.ts";
import { cursorAt } from "./browse-keys.ts";
import { type BrowsedPlan, type BrowseState, isFiltered } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { cutTo, line, type Piece, padded, type Size, shown } from "./terminal-text.ts";

/** The content of the browser's screen. */
export interface BrowseView {
  readonly state: BrowseState;
  readonly rows: readonly BrowseRow[];
  /** Id of a change → why it is left out; `null` if it was chosen to be. */
  readonly out: ReadonlyMap<string, string | null>;
  readonly changes: number;
  readonly merchants: number;
  readonly selects: boolean;
}

/** The lines above and below the rows: totals, and keys. */
const FRAME_ROWS = 2;

/** Returns the number of tree rows that fit; one line stays free, or the terminal would scroll. */
export function rowsShown({ rows }: Size): number {
  return Math.max(rows - FRAME_ROWS - 1, 1);
}

/** Returns the browser's screen: one line less than the terminal has. */
export function browseLines(view: BrowseView, size: Size, style: Style): readonly string[] {
  const { columns } = size;
  const height = rowsShown(size);
  const body = view.state.help
    ? helpLines(view.selects, columns, style)
    : treeLines(view, height, columns, style);
  return [
    line(headline(view, style), columns),
    ...Array.from({ length: height }, (_, index) => body[index] ?? ""),
    bottom(view, columns, style),
  ];
}

function headline(
  { state, rows, out, changes, merchants, selects }: BrowseView,
  style: Style,
): readonly Piece[] {
  const visible = rows.reduce((sum, row) => sum + (row.parent === null ? row.changes.length : 0), 0);
  const filters = [
    ...(state.kind === null ? [] : [state.kind]),
    ...(state.search === "" ? [] : [`"${shown(state.search)}"`]),
    ...(state.gained === "" ? [] : [`gains ${shown(state.gained)}`]),
    ...(state.lost === "" ? [] : [`loses ${shown(state.lost)}`]),
  ];
  return [
    [counted(changes, "change"), style.bold],
    [` at ${counted(merchants, "merchant")}`],
    [selects ? ` · ${grouped(changes - out.size)} selected` : "", style.green],
    [isFiltered(state) ? ` · ${grouped(visible)} shown: ${filters.join(", ")}` : "", style.yellow],
  ];
}

function treeLines(view: BrowseView, height: number, columns: number, style: Style): readonly string[] {
  const { state, rows } = view;
  if (rows.length === 0)
    return [line([["  No matches. Escape shows everything again.", style.dim]], columns)];
  const at = cursorAt(state, rows);
  return rows.slice(state.top, state.top + height).map((row, index) => {
    const here = state.top + index === at;
    const pieces = rowPieces(row, view, style);
    return line([[here ? "❯ " : "  ", style.cyan], ...(here ? emphasised(pieces, style) : pieces)], columns);
  });
}

/** Highlights the cursor's row with a mark, and in bold if styled. */
function emphasised(pieces: readonly Piece[], style: Style): readonly Piece[] {
  return pieces.map(([text, paint]) => [text, (cut) => style.bold(paint ? paint(cut) : cut)]);
}

function rowPieces(row: BrowseRow, view: BrowseView, style: Style): readonly Piece[] {
  const indent = "  ".repeat(row.depth);
  const fold = row.open === null ? "" : row.open ? "▾ " : "▸ ";
  switch (row.type) {
    case "merchant": {
      const { merchant, environment } = row.plan.plan;
      return [
        [indent + fold],
        [shown(merchant), style.bold],
        [environment === null ? "" : ` · ${environment}`],
        [selectedOf(row, view), style.green],
        [` · ${selectedCounts(row.plan, view.out)}`],
      ];
    }
    case "section":
      return [
        [indent + fold],
        [row.title, row.tone === "trouble" ? style.red : style.bold],
        [selectedOf(row, view), style.green],
      ];
    case "group":
      return groupPieces(row, indent, fold, view, style);
    case "change":
      return changePieces(row, indent, fold, view, style);
    case "person": {
      const { name, gained, lost, unknownGained, unknownLost } = row.impact;
      return [
        [indent + fold],
        [shown(name)],
        ...gainsAndLosses([...gained, ...unknownGained], [...lost, ...unknownLost], style),
      ];
    }
    case "detail": {
      const paint = row.sign === "+" ? style.green : row.sign === "-" ? style.red : undefined;
      const sign = row.sign === " " ? "" : `${row.sign} `;
      return [[indent], [padded(row.label, 13), style.dim], [" "], [`${sign}${row.text}`, paint]];
    }
    default:
      return row satisfies never;
  }
}

/** Returns the totals of a plan without the changes that are left out. */
function selectedCounts({ plan, roles, members }: BrowsedPlan, out: BrowseView["out"]): string {
  const { summary } = plan;
  const left = [...roles, ...members].filter(({ id }) => out.has(id)).map(({ change }) => change.kind);
  const counts = addCounts([summary.roles, summary.members]);
  const of = (kind: Change["kind"]): number => left.filter((one) => one === kind).length;
  return countsText({
    ...counts,
    create: counts.create - of("create"),
    update: counts.update - of("update"),
    replace: counts.replace - of("replace"),
    delete: counts.delete - of("delete"),
    unchanged: counts.unchanged + left.length - of("create"),
  });
}

const SIGNS: Readonly<Record<Change["kind"], string>> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "-",
};

function changePieces(
  row: BrowseRow & { readonly type: "change" },
  indent: string,
  fold: string,
  { out, selects }: BrowseView,
  style: Style,
): readonly Piece[] {
  const { id, change, gained, lost } = row.change;
  const why = out.get(id);
  const isOut = why !== undefined;
  const paint = isOut ? style.dim : paintOf(change.kind, style);
  const { remark } = rowOf(change);
  return [
    [indent],
    [selects ? (isOut ? (why === null ? "[ ] " : "[·] ") : "[x] ") : ""],
    [fold],
    [row.merchant === null ? "" : `${shown(row.merchant)}  `],
    [`${SIGNS[change.kind]} ${change.kind.padEnd(7)} `, paint],
    [shown(change.name), isOut ? style.dim : undefined],
    [remark === "" || why ? "" : ` (${shown(remark)})`, style.dim],
    ...(why
      ? [[` left out too: ${shown(why)}`, style.yellow] as const]
      : gainsAndLosses(gained, lost, style)),
  ];
}

function groupPieces(
  row: BrowseRow & { readonly type: "group" },
  indent: string,
  fold: string,
  view: BrowseView,
  style: Style,
): readonly Piece[] {
  const { row: change, equal } = row.group;
  const { subject, where, effect, names } = equalText(change, equal);
  const out = row.changes.filter(({ id }) => view.out.has(id)).length;
  const paint = out === row.changes.length ? style.dim : paintOf(change.kind, style);
  return [
    [indent],
    [view.selects ? (out === 0 ? "[x] " : out === row.changes.length ? "[ ] " : "[-] ") : ""],
    [fold],
    [`${SIGNS[change.kind]} `, paint],
    [shown(subject), paint],
    [selectedOf(row, view), style.green],
    [where === "" ? "" : ` in ${shown(where)}`],
    [names.length === 0 ? "" : `: ${shown(namesText(names))}`, style.dim],
    [effect === "" ? "" : `; ${shown(effect)}`, style.green],
  ];
}

function paintOf(kind: Change["kind"], style: Style): Paint {
  switch (kind) {
    case "create":
      return style.green;
    case "update":
    case "replace":
      return style.yellow;
    case "delete":
      return style.red;
    default:
      return kind satisfies never;
  }
}

function gainsAndLosses(gained: readonly string[], lost: readonly string[], style: Style): readonly Piece[] {
  const brief = (permissions: readonly string[]): string =>
    permissions.length === 1 ? shown(permissions.join("")) : grouped(permissions.length);
  return [
    [gained.length === 0 ? "" : `  gains ${brief(gained)}`, style.green],
    [lost.length === 0 ? "" : `  loses ${brief(lost)}`, style.red],
  ];
}

/** " · 3 of 5 selected", where not all are. */
function selectedOf({ changes }: BrowseRow, { out, selects }: BrowseView): string {
  if (!selects || changes.length === 0) return "";
  const left = changes.filter(({ id }) => out.has(id)).length;
  return left === 0 ? "" : ` · ${grouped(changes.length - left)} of ${grouped(changes.length)} selected`;
}

const PROMPTS = {
  search: "Search: ",
  gained: "Gains a permission like: ",
  lost: "Loses a permission like: ",
} as const;

function bottom({ state, selects }: BrowseView, columns: number, style: Style): string {
  if (state.typing !== null) {
    const prompt = PROMPTS[state.typing];
    return line(
      [
        [prompt, style.bold],
        [shown(state[state.typing])],
        ["▏"],
        ["  Enter keeps, Escape clears", style.dim],
      ],
      columns,
    );
  }
  if (state.note !== "") return line([[state.note, style.yellow]], columns);
  const keys = selects
    ? "space leaves out · a applies the selection · / search · ? keys · q quits"
    : "→ unfolds · / search · f kind · ? keys · q quits";
  return line([[cutTo(keys, columns), style.dim]], columns);
}

function helpLines(selects: boolean, columns: number, style: Style): readonly string[] {
  const keys: readonly (readonly [string, string])[] = [
    ["↑ ↓  k j", "one line up or down"],
    ["PgUp PgDn", "one screen up or down"],
    ["Home End  g G", "to the first line, to the last"],
    ["→ ←  l h  Enter", "unfold, fold; ← again goes one level up"],
    ["e  c", "unfold everything, fold everything"],
    ["/", "search in names, addresses, ids, merchants and kinds"],
    ["f", "only what is created, updated, replaced or deleted"],
    ["+  -", "only where a permission is gained, or lost"],
    ["Escape", "ends a search or a filter"],
    ...(selects
      ? ([
          ["space", "leaves out, or includes again; on a heading, all below it"],
          ["a", "applies what is selected; it asks first"],
        ] as const)
      : []),
    ["q  Ctrl-C", selects ? "quits; nothing is changed" : "quits; the plan is printed"],
  ];
  const lines = keys.map(([key, what]) => line([["  "], [padded(key, 18), style.cyan], [what]], columns));
  const marks = "  [x] selected · [ ] left out · [·] left out, too: it needs what is left out";
  return [
    line([["  Keys", style.bold]], columns),
    ...lines,
    "",
    ...(selects ? [line([[marks, style.dim]], columns)] : []),
    line([["  Press any key to return.", style.dim]], columns),
  ];
}
