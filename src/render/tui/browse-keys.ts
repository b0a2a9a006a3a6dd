import type { Change } from "../../model/plan.ts";
import { type BrowseState, foldKey, INITIAL_BROWSE_STATE, isFiltered, type Typing } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { typeInto } from "./terminal-text.ts";

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
    readonly backspace: boolean;
    readonly delete: boolean;
  };
}

/** The context of a key press besides the state. */
export interface BrowseScene {
  readonly rows: readonly BrowseRow[];
  /** The number of rows on the screen. */
  readonly height: number;
  /** Returns every change left out along with the chosen ones, with the reason if it was not chosen. */
  readonly leftOut: (chosen: ReadonlySet<string>) => ReadonlyMap<string, string | null>;
  /** Allows changes to be left out, and the rest applied. */
  readonly selects: boolean;
  /** The number of changes. */
  readonly changes: number;
}

const KINDS: readonly (Change["kind"] | null)[] = [null, "create", "update", "replace", "delete"];

/** Returns the state after a key press. */
export function press(before: BrowseState, pressed: Pressed, scene: BrowseScene): BrowseState {
  const state = before.note === "" ? before : { ...before, note: "" };
  if (pressed.key.ctrl && pressed.input === "c") return { ...state, end: "leave" };
  if (state.typing !== null) return typed(state, state.typing, pressed);
  if (state.help) return { ...state, help: false };
  const moved = movement(pressed, scene.height);
  if (moved !== null) return move(state, scene, moved);
  const { key, input } = pressed;
  if (key.rightArrow) return fold(state, scene, true);
  if (key.leftArrow) return fold(state, scene, false);
  if (key.return) return fold(state, scene, null);
  if (key.escape) return escaped(state);
  if (key.ctrl) return state;
  return letter(state, input, scene);
}

function letter(state: BrowseState, input: string, scene: BrowseScene): BrowseState {
  switch (input) {
    case "l":
      return fold(state, scene, true);
    case "h":
      return fold(state, scene, false);
    case "/":
      return { ...state, typing: "search" };
    case "+":
      return { ...state, typing: "gained" };
    case "-":
      return { ...state, typing: "lost" };
    case "f":
      return { ...state, kind: KINDS[(KINDS.indexOf(state.kind) + 1) % KINDS.length] ?? null };
    case "e":
      return { ...state, folding: "open", turned: new Set() };
    case "c":
      return { ...state, folding: "closed", turned: new Set() };
    case " ":
      return toggle(state, scene);
    case "a":
      return apply(state, scene);
    case "?":
      return { ...state, help: true };
    case "q":
      return { ...state, end: "leave" };
    default:
      return state;
  }
}

/** Returns the number of rows that a key moves; `null` for other keys. */
function movement({ key, input }: Pressed, height: number): number | null {
  if (key.upArrow || input === "k") return -1;
  if (key.downArrow || input === "j") return 1;
  if (key.pageUp || (key.ctrl && input === "b")) return -height;
  if (key.pageDown || (key.ctrl && input === "f")) return height;
  if (key.home || input === "g") return Number.NEGATIVE_INFINITY;
  if (key.end || input === "G") return Number.POSITIVE_INFINITY;
  return null;
}

/** Returns the index of the cursor's row. */
export function cursorAt({ cursor }: BrowseState, rows: readonly BrowseRow[]): number {
  if (cursor === null) return 0;
  const at = rows.findIndex(({ key }) => key === cursor);
  if (at >= 0) return at;
  // Its row is folded or filtered away: what it was folded into is nearest.
  const parent = cursor.slice(0, Math.max(cursor.lastIndexOf("\n"), 0));
  return parent === "" ? 0 : cursorAt({ ...INITIAL_BROWSE_STATE, cursor: parent }, rows);
}

/** Returns the state scrolled so that the cursor is visible. */
export function inSight(state: BrowseState, rows: readonly BrowseRow[], height: number): BrowseState {
  const at = cursorAt(state, rows);
  const last = Math.max(rows.length - height, 0);
  const top = Math.min(Math.max(Math.min(state.top, at), at - height + 1), last);
  return top === state.top ? state : { ...state, top };
}

function move(state: BrowseState, { rows }: BrowseScene, by: number): BrowseState {
  const to = Math.min(Math.max(cursorAt(state, rows) + by, 0), rows.length - 1);
  return { ...state, cursor: rows[to]?.key ?? null };
}

/** Unfolds or folds a row, or toggles it (`null`); on a row without children, moves the cursor to its parent. */
function fold(state: BrowseState, { rows }: BrowseScene, open: boolean | null): BrowseState {
  const row = rows[cursorAt(state, rows)];
  if (row === undefined) return state;
  if (row.open === null || (open === false && !row.open)) {
    return open === true ? state : { ...state, cursor: row.parent ?? row.key };
  }
  if (open === row.open) return state;
  const turned = new Set(state.turned);
  const folded = foldKey(state, row.key);
  if (!turned.delete(folded)) turned.add(folded);
  return { ...state, cursor: row.key, turned };
}

/** Clears the search and filters. */
function escaped(state: BrowseState): BrowseState {
  const { search, gained, lost, kind } = INITIAL_BROWSE_STATE;
  return isFiltered(state)
    ? { ...state, search, gained, lost, kind }
    : { ...state, note: "Press q to quit." };
}

function typed(state: BrowseState, typing: Typing, { input, key }: Pressed): BrowseState {
  const line = typeInto(state[typing], key.return ? "\r" : input, key);
  switch (line.state) {
    case "open":
      return { ...state, [typing]: line.text };
    case "sent":
      return { ...state, typing: null };
    case "left":
      return { ...state, typing: null, [typing]: "" };
    default:
      return line.state satisfies never;
  }
}

/** Deselects the row's changes, or selects them again with all that they need. */
function toggle(state: BrowseState, { rows, leftOut, selects }: BrowseScene): BrowseState {
  if (!selects) return { ...state, note: "Read-only: use apply --interactive to leave changes out." };
  const row = rows[cursorAt(state, rows)];
  const own = row?.type === "detail" ? rows.find(({ key }) => key === row.parent) : row;
  const ids = own?.changes.map(({ id }) => id) ?? [];
  if (ids.length === 0) return { ...state, note: "There is no change on this line." };
  const out = leftOut(state.chosen);
  const takeIn = ids.every((id) => out.has(id));
  if (!takeIn) return { ...state, chosen: new Set([...state.chosen, ...ids]) };
  const wanted = new Set(ids);
  const chosen = [...state.chosen].filter(
    (one) => !wanted.has(one) && ![...leftOut(new Set([one])).keys()].some((tied) => wanted.has(tied)),
  );
  return { ...state, chosen: new Set(chosen) };
}

function apply(state: BrowseState, { selects, leftOut, changes }: BrowseScene): BrowseState {
  if (!selects) return { ...state, note: "Read-only: use apply --interactive to apply." };
  if (leftOut(state.chosen).size >= changes) return { ...state, note: "Nothing is selected." };
  return { ...state, end: "apply" };
}
