import type { Change } from "../../model/plan.ts";

/** What is typed into the bottom line: a search, or a permission that is gained or lost. */
export type Typing = "search" | "gained" | "lost";

/** Where somebody is in a plan, what they look for, and what they have left out. */
export interface BrowseState {
  /** Key of the row that the cursor is on; null for the first. */
  readonly cursor: string | null;
  /** Index of the first row on the screen. */
  readonly top: number;
  /** How rows are that nobody has folded or unfolded: as suits the size of the plan, or all one way. */
  readonly folding: "usual" | "open" | "closed";
  /** Keys of rows that are the other way; see `foldKey`. */
  readonly turned: ReadonlySet<string>;
  readonly typing: Typing | null;
  readonly search: string;
  readonly gained: string;
  readonly lost: string;
  readonly kind: Change["kind"] | null;
  /** Ids of the changes that were chosen to be left out. */
  readonly chosen: ReadonlySet<string>;
  readonly help: boolean;
  /** A sentence for the bottom line, until the next key. */
  readonly note: string;
  /** How it ends. */
  readonly end: "apply" | "leave" | null;
}

/** Where everybody begins. */
export const INITIAL_BROWSE_STATE: BrowseState = {
  cursor: null,
  top: 0,
  folding: "usual",
  turned: new Set(),
  typing: null,
  search: "",
  gained: "",
  lost: "",
  kind: null,
  chosen: new Set(),
  help: false,
  note: "",
  end: null,
};

/** What a row is remembered by when it is folded: with a search or a filter on, everything begins unfolded again. */
export function foldKey(state: BrowseState, key: string): string {
  return isFiltered(state) ? `filtered ${key}` : key;
}

/** Whether only a part of the changes is shown. */
export function isFiltered({ search, gained, lost, kind }: BrowseState): boolean {
  return search !== "" || gained !== "" || lost !== "" || kind !== null;
}
