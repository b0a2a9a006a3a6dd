import { counted } from "../../../lib/text.ts";
import type { LeftOut } from "../../../model/plan.ts";
import { typeInto } from "../typing.ts";
import type { BrowseModel } from "./browse-model.ts";
import { type BrowseRow, type Found, isIssueFound } from "./browse-rows.ts";
import { type BrowseState, cursorAt, type FileLine, foldable } from "./browse-state.ts";

/** One piece of input, with its special keys. */
export interface Pressed {
  readonly input: string;
  readonly key: {
    readonly upArrow: boolean;
    readonly downArrow: boolean;
    readonly leftArrow: boolean;
    readonly rightArrow: boolean;
    readonly pageUp: boolean;
    readonly pageDown: boolean;
    readonly home: boolean;
    readonly end: boolean;
    readonly return: boolean;
    readonly escape: boolean;
    readonly ctrl: boolean;
    readonly tab: boolean;
    readonly backspace: boolean;
    readonly delete: boolean;
  };
}

/** The context of a key press besides the state. */
export interface BrowseScene {
  readonly model: BrowseModel;
  /** Returns the rows of a state. */
  readonly rowsOf: (state: BrowseState) => readonly BrowseRow[];
  /** Returns what a search finds in the tree. */
  readonly find: (search: string) => Found;
  /** The number of rows on the screen. */
  readonly height: number;
  /** The number of lines of the detail. */
  readonly detailLines: (state: BrowseState) => number;
  /** Returns every change left out along with the chosen ones. */
  readonly leftOut: (chosen: ReadonlySet<string>) => LeftOut;
  /** Returns why a selection cannot be applied; `null` if it can. */
  readonly objection: (chosen: ReadonlySet<string>) => string | null;
  /** Allows changes to be left out, and the rest applied. */
  readonly selects: boolean;
  /** Returns the location of a row's declaration, or why it cannot be opened. */
  readonly fileLineOf: (row: BrowseRow) => FileLine | string;
}

/** Actions of keys with Ctrl, which a terminal turns into signals elsewhere. */
const INTERRUPTS: ReadonlyMap<string, "leave" | "suspend"> = new Map([
  ["c", "leave"],
  ["z", "suspend"],
]);

/** Returns the state after a key press. */
export function press(before: BrowseState, pressed: Pressed, scene: BrowseScene): BrowseState {
  const state = before.note === "" ? before : { ...before, note: "" };
  const end = pressed.key.ctrl ? INTERRUPTS.get(pressed.input) : undefined;
  if (end !== undefined) return { ...state, end };
  if (state.searchFrom !== null) return typed(state, state.searchFrom, pressed, scene);
  const moved = movement(pressed, scene.height);
  const scrolls = state.help || state.focus === "detail";
  if (moved !== null) return scrolls ? scroll(state, moved, scene) : move(state, scene, moved);
  if (state.help) return { ...state, help: false, scroll: 0 };
  const { key, input } = pressed;
  if (key.tab) return { ...state, focus: state.focus === "list" ? "detail" : "list" };
  if (key.escape) return back(state);
  if (key.return) return entered(state, scene);
  if (key.rightArrow || input === "l") return unfold(state, scene);
  if (key.leftArrow || input === "h") return fold(state, scene);
  if (key.ctrl) return state;
  return letter(state, input, scene);
}

function letter(state: BrowseState, input: string, scene: BrowseScene): BrowseState {
  const { cursors, list } = state;
  switch (input) {
    case "/":
      return { ...state, focus: "list", search: "", searchFrom: { cursor: cursors[list] } };
    case "n":
      return nextMatch(state, scene, 1);
    case "N":
      return nextMatch(state, scene, -1);
    case "&":
      return state.search === ""
        ? { ...state, note: "Search with / first." }
        : {
            ...state,
            only: !state.only,
            note: state.only ? "" : "Showing only matches; press Escape to show all.",
          };
    case "J":
      return scroll(state, 1, scene);
    case "K":
      return scroll(state, -1, scene);
    case "r":
      return { ...state, list: list === "changes" ? "issues" : "changes", focus: "list", scroll: 0 };
    case "o":
      return { ...state, open: foldable(scene.model) };
    case "c":
      return { ...state, open: new Set() };
    case " ":
      return toggle(state, scene);
    case "a":
      return apply(state, scene);
    case "e":
      return edit(state, scene);
    case "?":
      return { ...state, help: true, scroll: 0 };
    case "q":
      return { ...state, end: "leave" };
    default:
      return state;
  }
}

/** Returns the number of lines that a key moves; `null` for other keys. */
function movement({ key, input }: Pressed, height: number): number | null {
  if (key.upArrow || input === "k") return -1;
  if (key.downArrow || input === "j") return 1;
  if (key.pageUp || (key.ctrl && input === "b")) return -height;
  if (key.pageDown || (key.ctrl && input === "f")) return height;
  if (key.ctrl && input === "u") return -Math.ceil(height / 2);
  if (key.ctrl && input === "d") return Math.ceil(height / 2);
  if (key.home || input === "g") return Number.NEGATIVE_INFINITY;
  if (key.end || input === "G") return Number.POSITIVE_INFINITY;
  return null;
}

function withCursor(state: BrowseState, cursor: string | null): BrowseState {
  const { cursors, list } = state;
  return cursors[list] === cursor ? state : { ...state, cursors: { ...cursors, [list]: cursor }, scroll: 0 };
}

function move(state: BrowseState, { rowsOf }: BrowseScene, by: number): BrowseState {
  const rows = rowsOf(state);
  const to = Math.min(Math.max(cursorAt(state, rows) + by, 0), rows.length - 1);
  return withCursor(state, rows[to]?.key ?? null);
}

function scroll(state: BrowseState, by: number, { detailLines, height }: BrowseScene): BrowseState {
  const last = Math.max(detailLines(state) - height, 0);
  return { ...state, scroll: Math.min(Math.max(state.scroll + by, 0), last) };
}

function rowAt(state: BrowseState, { rowsOf }: BrowseScene): BrowseRow | undefined {
  const rows = rowsOf(state);
  return rows[cursorAt(state, rows)];
}

/** Unfolds a row, or folds it again; shows any other in detail. */
function entered(state: BrowseState, scene: BrowseScene): BrowseState {
  if (state.focus === "detail") return { ...state, focus: "list" };
  const row = rowAt(state, scene);
  if (row === undefined) return state;
  return row.open === null ? { ...withCursor(state, row.key), focus: "detail" } : turned(state, row);
}

function turned(state: BrowseState, { key }: BrowseRow): BrowseState {
  const openKeys = new Set(state.open);
  if (!openKeys.delete(key)) openKeys.add(key);
  return withCursor({ ...state, open: openKeys }, key);
}

/** Unfolds a row, shows a single change in detail, and goes from an issue to its change. */
function unfold(state: BrowseState, scene: BrowseScene): BrowseState {
  const row = rowAt(state, scene);
  if (row === undefined || state.focus === "detail") return state;
  if (row.open === false) return turned(state, row);
  if (row.open !== null) return state;
  if (row.type === "node") return { ...withCursor(state, row.key), focus: "detail" };
  const [change] = row.changes;
  if (change === undefined) return { ...state, note: "This is not tied to a single change." };
  const node = [...scene.model.nodes.values()].find(
    (candidate) => candidate.type === "change" && candidate.change.id === change.id,
  );
  return node === undefined ? state : reveal({ ...state, list: "changes", only: false }, node.key, scene);
}

/** Folds a row, or goes to the one that it is below. */
function fold(state: BrowseState, scene: BrowseScene): BrowseState {
  if (state.focus === "detail") return { ...state, focus: "list" };
  const row = rowAt(state, scene);
  if (row === undefined) return state;
  return row.open === true && state.open.has(row.key)
    ? turned(state, row)
    : withCursor(state, row.parent ?? row.key);
}

/** Moves the cursor to a row of the tree, and unfolds what is above it. */
function reveal(state: BrowseState, key: string, { model }: BrowseScene): BrowseState {
  const openKeys = new Set(state.open);
  for (let above = model.nodes.get(key)?.parent; above != null; above = model.nodes.get(above)?.parent) {
    openKeys.add(above);
  }
  return withCursor({ ...state, open: openKeys }, key);
}

/** Goes back one step: from the detail, the search, the other list; finally quits. */
function back(state: BrowseState): BrowseState {
  if (state.focus === "detail") return { ...state, focus: "list" };
  if (state.only && state.search !== "") return { ...state, only: false };
  if (state.search !== "") return { ...state, search: "" };
  if (state.list === "issues") return { ...state, list: "changes", scroll: 0 };
  if (state.chosen.size === 0) return { ...state, end: "leave" };
  return { ...state, note: "Press q to quit and discard the selection." };
}

function typed(
  state: BrowseState,
  from: NonNullable<BrowseState["searchFrom"]>,
  { input, key }: Pressed,
  scene: BrowseScene,
): BrowseState {
  const line = typeInto(state.search, key.return ? "\r" : input, key);
  switch (line.state) {
    case "open": {
      const typing = withCursor({ ...state, search: line.text }, from.cursor);
      return { ...nextMatch(typing, scene, 0), note: "", searchFrom: from };
    }
    case "sent": {
      const ended = { ...state, searchFrom: null };
      const missing = state.search !== "" && matchesOf(state, scene).length === 0;
      return missing ? { ...ended, search: "", only: false, note: `Nothing has "${state.search}".` } : ended;
    }
    case "left":
      return withCursor({ ...state, search: "", only: false, searchFrom: null }, from.cursor);
    default:
      return line.state satisfies never;
  }
}

/** Returns the keys of the rows that the search finds, in order, folded or not. */
export function matchesOf(
  state: BrowseState,
  { find, rowsOf }: Pick<BrowseScene, "find" | "rowsOf">,
): readonly string[] {
  if (state.list === "changes") return [...find(state.search).keys];
  return rowsOf(state).flatMap((row) => (isIssueFound(row, state.search) ? [row.key] : []));
}

/** Moves the cursor to the next match: `0` also stays where it is, `-1` goes back. */
function nextMatch(state: BrowseState, scene: BrowseScene, by: -1 | 0 | 1): BrowseState {
  if (state.search === "") return { ...state, note: "Search with / first." };
  const matches = matchesOf(state, scene);
  if (matches.length === 0) return { ...state, note: `Nothing has "${state.search}".` };
  const keys =
    state.list === "changes" ? [...scene.model.nodes.keys()] : scene.rowsOf(state).map(({ key }) => key);
  const order = new Map(keys.map((key, index) => [key, index]));
  const here = order.get(rowAt(state, scene)?.key ?? "") ?? 0;
  const placed = matches.map((key) => ({ key, index: order.get(key) ?? 0 }));
  const next =
    by < 0
      ? placed.findLast(({ index }) => index < here)
      : placed.find(({ index }) => (by === 0 ? index >= here : index > here));
  const key = (next ?? (by < 0 ? placed.at(-1) : placed[0]))?.key ?? null;
  const note = next === undefined && by !== 0 ? `From the ${by < 0 ? "end" : "beginning"} again.` : "";
  const moved = state.list === "changes" && key !== null ? reveal(state, key, scene) : withCursor(state, key);
  return { ...moved, note };
}

/** Leaves the row's changes out, or includes them again with everything that they need. */
function toggle(state: BrowseState, scene: BrowseScene): BrowseState {
  const { leftOut, selects } = scene;
  if (!selects) return { ...state, note: "Read-only: use apply --interactive to leave changes out." };
  const row = rowAt(state, scene);
  const ids = row?.changes.map(({ id }) => id) ?? [];
  if (ids.length === 0) return { ...state, note: "There is no change on this line." };
  const out = leftOut(state.chosen);
  const takesIn = ids.every((id) => out.has(id));
  if (!takesIn) return { ...state, chosen: new Set([...state.chosen, ...ids]) };
  const rowIds = new Set(ids);
  const chosen = [...state.chosen].filter(
    (id) => !rowIds.has(id) && ![...leftOut(new Set([id])).keys()].some((tied) => rowIds.has(tied)),
  );
  const remainingOut = leftOut(new Set(chosen)).size;
  const needed = out.size - remainingOut - ids.length;
  const note = needed > 0 ? `With ${counted(needed, "other change")} that belong together with it.` : "";
  return { ...state, chosen: new Set(chosen), note };
}

function apply(state: BrowseState, { selects, leftOut, objection, model }: BrowseScene): BrowseState {
  if (!selects) return { ...state, note: "Read-only: use apply --interactive to apply." };
  if (leftOut(state.chosen).size >= model.changes) return { ...state, note: "Nothing is selected." };
  const note = objection(state.chosen);
  return note === null ? { ...state, end: "apply" } : { ...state, note };
}

function edit(state: BrowseState, scene: BrowseScene): BrowseState {
  const row = rowAt(state, scene);
  if (row === undefined) return state;
  const place = scene.fileLineOf(row);
  return typeof place === "string" ? { ...state, note: place } : { ...state, end: { edit: place } };
}
