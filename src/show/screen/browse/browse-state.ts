import { type BrowseModel, type BrowseNode, SHARED } from "./browse-model.ts";

/** The list on the left: the changes, or the refusals and risks. */
export type BrowseList = "changes" | "issues";

/** A line of a file. */
export interface FileLine {
  readonly file: string;
  readonly line: number;
}

/** The state of browsing. */
export interface BrowseState {
  readonly list: BrowseList;
  /** Keys of the rows that the cursor is on, by list; `null` for the first. */
  readonly cursors: Readonly<Record<BrowseList, string | null>>;
  /** Index of the first row on the screen. */
  readonly top: number;
  /** Keys of the unfolded rows. */
  readonly open: ReadonlySet<string>;
  /** The pane that the arrow keys move in. */
  readonly focus: "list" | "detail";
  /** Index of the first line of the detail on the screen. */
  readonly scroll: number;
  readonly search: string;
  /** The cursor before the search that is being typed; `null` if none is. */
  readonly searchFrom: { readonly cursor: string | null } | null;
  /** Shows only what the search finds. */
  readonly only: boolean;
  /** Ids of the changes that were chosen to be left out. */
  readonly chosen: ReadonlySet<string>;
  readonly help: boolean;
  /** A file was opened in an editor since the plan was made. */
  readonly edited: boolean;
  /** A sentence for the bottom line, until the next key press. */
  readonly note: string;
  /** The action that closes the screen, temporarily or finally; `null` before. */
  readonly end: "apply" | "leave" | "suspend" | { readonly edit: FileLine } | null;
}

/** Returns the state at the start, unfolded as far as fits into a number of rows. */
export function initialBrowseState({ tree, plans }: BrowseModel, height: number): BrowseState {
  return {
    list: "changes",
    cursors: { changes: null, issues: null },
    top: 0,
    open: unfoldedInto(tree, plans.length === 1, height),
    focus: "list",
    scroll: 0,
    search: "",
    searchFrom: null,
    only: false,
    chosen: new Set(),
    help: false,
    edited: false,
    note: "",
    end: null,
  };
}

/**
 * Returns what to unfold: everything if it fits; otherwise no groups, but the top rows one after the other as long as
 * they fit.
 */
function unfoldedInto(tree: readonly BrowseNode[], single: boolean, height: number): ReadonlySet<string> {
  const withChildren = tree.filter(({ children, type }) => children.length > 0 && type !== "idle");
  const groups = withChildren
    .flatMap(({ children }) => children)
    .filter(({ children }) => children.length > 0);
  const tops = tree.length + withChildren.reduce((sum, { children }) => sum + children.length, 0);
  const allRows = tops + groups.reduce((sum, { children }) => sum + children.length, 0);
  if (allRows <= height) return new Set([...withChildren, ...groups].map(({ key }) => key));
  const openKeys = new Set<string>();
  let used = tree.length;
  for (const { key, children } of withChildren) {
    used += children.length;
    if (used > height && !(single || key === SHARED)) break;
    openKeys.add(key);
  }
  return openKeys;
}

/** Returns the keys of all rows that can be unfolded. */
export function foldable({ nodes }: BrowseModel): ReadonlySet<string> {
  return new Set([...nodes.values()].filter(({ children }) => children.length > 0).map(({ key }) => key));
}

/** Returns whether only what the search finds is shown. */
export function isNarrowed({ only, search, searchFrom }: BrowseState): boolean {
  return only && search !== "" && searchFrom === null;
}

/** Returns the index of the cursor's row; if the row is gone, that of its parent. */
export function cursorAt({ cursors, list }: BrowseState, rows: readonly { readonly key: string }[]): number {
  for (let key = cursors[list]; key !== null && key !== ""; key = parentOf(key)) {
    const index = rows.findIndex((row) => row.key === key);
    if (index >= 0) return index;
  }
  return 0;
}

function parentOf(key: string): string {
  return key.slice(0, Math.max(key.lastIndexOf("\n"), 0));
}

/** Returns the state scrolled so that the cursor is visible. */
export function inSight(
  state: BrowseState,
  rows: readonly { readonly key: string }[],
  height: number,
): BrowseState {
  const cursor = cursorAt(state, rows);
  const last = Math.max(rows.length - height, 0);
  const top = Math.min(Math.max(Math.min(state.top, cursor), cursor - height + 1), last);
  return top === state.top ? state : { ...state, top };
}
