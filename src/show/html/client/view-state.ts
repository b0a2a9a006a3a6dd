import type { PageData } from "../page-data.ts";

/** The search, the filters and the order of a view, as in its link. */
export interface ViewState {
  /** Returns a value; empty if the link does not have it. */
  readonly get: (key: string) => string;
  /** Sets a value; an empty one is removed from the link. */
  readonly set: (key: string, value: string) => void;
}

/** The context of a panel, besides its merchant. */
export interface PanelView {
  /** In milliseconds since the epoch. */
  readonly now: number;
  readonly about: PageData["about"];
  readonly state: ViewState;
  /**
   * The code of the merchant, or the other subject of the panel: the header of each printed page, and the prefix of
   * file names.
   */
  readonly title: string;
  /** Shows everything at once, without controls: the panel is printed. */
  readonly paper: boolean;
}

/** Creates the state of a view from the parameters of a link. */
export function makeState(params: URLSearchParams, onChange: () => void): ViewState {
  return {
    get: (key) => params.get(key) ?? "",
    set: (key, value) => {
      if (value === "") params.delete(key);
      else params.set(key, value);
      onChange();
    },
  };
}

/** Returns the link to a view of this page: `#merchant=MC1&tab=members`. */
export function linkTo(params: Readonly<Record<string, string>>): string {
  return `#${new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ""))}`;
}

/** Returns the parameters of the link that the page was opened with. */
export function linkParams(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** Writes the link of the current view to the address bar, without a history entry. */
export function replaceLink(params: Readonly<Record<string, string>>): void {
  try {
    history.replaceState(null, "", linkTo(params));
  } catch {
    // A page in a frame has no address of its own, and Safari blocks a page that writes it at every key press.
  }
}
