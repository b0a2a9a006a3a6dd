import type { Plan } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import { inSight, type Pressed, press } from "./browse-keys.ts";
import { browseLines, rowsShown } from "./browse-lines.ts";
import { type BrowseState, browseModel } from "./browse-model.ts";
import { type BrowseRow, browseRows } from "./browse-rows.ts";
import type { Size } from "./cells.ts";

/** What can be done with plans that are browsed. */
export interface BrowseOptions {
  readonly plans: readonly Plan[];
  /** Everything that is left out when these changes are, by their ids, with the reason of those that were not chosen. */
  readonly leftOut: (chosen: ReadonlySet<string>) => ReadonlyMap<string, string | null>;
  /** Changes can be left out, and the rest applied. */
  readonly selects: boolean;
  readonly style: Style;
}

/** A plan on a screen: keys go in, lines come out. */
export interface BrowseScreen {
  press(state: BrowseState, pressed: Pressed, size: Size): BrowseState;
  lines(state: BrowseState, size: Size): readonly string[];
}

/** Browsing without a terminal: what is on the screen follows from the state alone; what is costly is kept until it changes. */
export function browseScreen({ plans, leftOut, selects, style }: BrowseOptions): BrowseScreen {
  const model = browseModel(plans);
  const changes = plans.reduce((sum, plan) => sum + plan.changes.length, 0);
  const rowsOf = kept(
    (state: BrowseState, columns: number) => browseRows(model, state, columns),
    (state) => [state.folding, state.turned, state.search, state.gained, state.lost, state.kind],
  );
  const outOf = kept(
    (state: BrowseState, _: number) => leftOut(state.chosen),
    ({ chosen }) => [chosen],
  );
  const settled = (state: BrowseState, rows: readonly BrowseRow[], size: Size): BrowseState =>
    inSight(state, rows, rowsShown(size));
  return {
    press(before, pressed, size) {
      let state = before;
      for (const one of singleKeys(pressed)) {
        const rows = rowsOf(state, size.columns);
        const next = press(state, one, { rows, height: rowsShown(size), leftOut, selects, changes });
        state = settled(next, rowsOf(next, size.columns), size);
        if (state.end !== null) break;
      }
      return state;
    },
    lines(state, size) {
      const rows = rowsOf(state, size.columns);
      const out = outOf(state, 0);
      const view = {
        state: settled(state, rows, size),
        rows,
        out,
        changes,
        merchants: plans.length,
        selects,
      };
      return browseLines(view, size, style);
    },
  };
}

/** Keys that are pressed fast come in one piece; a key that is more than text is alone. */
function singleKeys(pressed: Pressed): readonly Pressed[] {
  const { input, key } = pressed;
  const isText = Object.values(key).every((down) => !down);
  return isText && input.length > 1 ? [...input].map((letter) => ({ input: letter, key })) : [pressed];
}

/** Keeps the last result while what it was made from is the same. */
function kept<Result>(
  make: (state: BrowseState, columns: number) => Result,
  partsOf: (state: BrowseState) => readonly unknown[],
): (state: BrowseState, columns: number) => Result {
  let last: { readonly parts: readonly unknown[]; readonly result: Result } | null = null;
  return (state, columns) => {
    const parts = [...partsOf(state), columns];
    if (last && parts.every((part, index) => part === last?.parts[index])) return last.result;
    last = { parts, result: make(state, columns) };
    return last.result;
  };
}
