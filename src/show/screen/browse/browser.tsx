import { render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { JudgeSelection, LeftOut, Plan, Selection } from "../../../model/plan.ts";
import type { Style } from "../../style.ts";
import { type Size, secondScreen, terminalSize } from "../second-screen.ts";
import { Theme } from "../theme.tsx";
import { useSize } from "../use-size.ts";
import { detailOf } from "./browse-detail.ts";
import { type BrowseScene, matchesOf, type Pressed, press } from "./browse-keys.ts";
import { browseModel } from "./browse-model.ts";
import { type BrowseRow, changeRows, type FileOf, issueRows, searchTree } from "./browse-rows.ts";
import { type BrowseState, cursorAt, initialBrowseState, inSight } from "./browse-state.ts";
import { BrowserView, type BrowseView, helpLines, panesOf, rowsShown } from "./browser-view.tsx";
import type { DetailContext, DetailLine } from "./detail-lines.ts";

/** The plans to browse, and the possible actions. */
export interface BrowseOptions extends Omit<DetailContext, "selection"> {
  readonly plans: readonly Plan[];
  /** Returns the plans of what is kept. */
  readonly judge: JudgeSelection;
  /** Returns every change left out along with the chosen ones, without judging the rest. */
  readonly leftOut: (chosen: ReadonlySet<string>) => LeftOut;
  /** Returns why a selection cannot be applied; `null` if it can. */
  readonly objection: (selection: Selection) => string | null;
  readonly fileOf: FileOf;
}

/** A browser screen: turns keys into states, and states into views. */
export interface BrowseScreen {
  /** Returns the state at the start, for the size of the window. */
  start(size: Size): BrowseState;
  press(state: BrowseState, pressed: Pressed, size: Size): BrowseState;
  view(state: BrowseState, size: Size): BrowseView;
}

/** Creates the browser without a terminal; caches what a state needs until it changes. */
export function browseScreen(options: BrowseOptions): BrowseScreen {
  const { plans, judge, leftOut, objection, fileOf, fileLineOf, selects } = options;
  const model = browseModel(plans);
  const find = kept((search: string) => searchTree(model, search, fileOf));
  const selectionOf = kept((chosen: ReadonlySet<string>) => judge(chosen));
  const issuesFor = kept((selection: Selection) => issueRows(model, selection));
  const changesFor = kept((open: BrowseState["open"], search: string, only: boolean, typing: boolean) =>
    changeRows(model, { open, search, only: only && !typing }, find(search)),
  );
  const rowsOf = ({ list, open, search, only, searchFrom, chosen }: BrowseState): readonly BrowseRow[] =>
    list === "issues"
      ? issuesFor(selectionOf(chosen))
      : changesFor(open, only ? search : "", only, searchFrom !== null);
  const detailFor = kept((row: BrowseRow | undefined, selection: Selection, width: number) =>
    row === undefined ? [] : detailOf(row, { ...options, selection }, width),
  );
  const detailLines = (state: BrowseState, size: Size): readonly DetailLine[] => {
    const rows = rowsOf(state);
    return detailFor(rows[cursorAt(state, rows)], selectionOf(state.chosen), panesOf(size).detail);
  };
  const scene = (size: Size): BrowseScene => ({
    model,
    rowsOf,
    find,
    height: rowsShown(size),
    detailLines: (state) =>
      state.help ? helpLines(selects, size.columns).length : detailLines(state, size).length,
    leftOut,
    objection: (chosen) => objection(selectionOf(chosen)),
    selects,
    fileLineOf(row) {
      const [change] = row.changes;
      if (change === undefined) return "There is no change on this line.";
      return fileLineOf(change) ?? "It is not in a file.";
    },
  });
  const settled = (state: BrowseState, size: Size): BrowseState =>
    inSight(state, rowsOf(state), rowsShown(size));
  /** Keeps the cursor in its position in a list if its row is gone. */
  const placed = (before: BrowseState, after: BrowseState): BrowseState => {
    const { list, cursors } = after;
    if (list !== "issues" || before.list !== list || before.chosen === after.chosen) return after;
    const rows = rowsOf(after);
    if (rows.some(({ key }) => key === cursors.issues)) return after;
    const next = rows[Math.min(cursorAt(before, rowsOf(before)), rows.length - 1)];
    return { ...after, cursors: { ...cursors, issues: next?.key ?? null }, scroll: 0 };
  };
  return {
    start: (size) => initialBrowseState(model, rowsShown(size)),
    press(before, pressed, size) {
      let state = before;
      for (const key of singleKeys(pressed)) {
        state = settled(placed(state, press(state, key, scene(size))), size);
        if (state.end !== null) break;
      }
      return state;
    },
    view(before, size) {
      const state = settled(before, size);
      return {
        state,
        model,
        rows: rowsOf(state),
        detail: detailLines(state, size),
        selection: selectionOf(state.chosen),
        matches: state.search === "" ? [] : matchesOf(state, { find, rowsOf }),
        selects,
      };
    },
  };
}

/** Splits input into single keys, since fast key presses arrive in one piece. */
function singleKeys(pressed: Pressed): readonly Pressed[] {
  const { input, key } = pressed;
  const isText = Object.values(key).every((down) => !down);
  return isText && input.length > 1 ? [...input].map((letter) => ({ input: letter, key })) : [pressed];
}

/** Caches the last result of a function while its arguments stay the same. */
function kept<Args extends readonly unknown[], Result>(
  make: (...args: Args) => Result,
): (...args: Args) => Result {
  let last: { readonly args: Args; readonly result: Result } | null = null;
  return (...args) => {
    if (last === null || args.some((arg, index) => arg !== last?.args[index])) {
      last = { args, result: make(...args) };
    }
    return last.result;
  };
}

/** The source of keys and the stream to draw on. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

const FRAMES_PER_SECOND = 30;

/**
 * Shows plans on the whole screen until a key or a signal ends it; resolves to the last state, from which it can be
 * shown again.
 */
export async function browse(
  screen: BrowseScreen,
  before: BrowseState | null,
  { stdin, stderr }: Terminal,
  style: Style,
  leaving: AbortSignal,
): Promise<BrowseState> {
  let last = before ?? screen.start(terminalSize(stderr));
  const app = render(
    <Theme value={style}>
      <Browser
        screen={screen}
        initial={last}
        onState={(state) => {
          last = state;
        }}
      />
    </Theme>,
    {
      stdin,
      stdout: secondScreen(stderr),
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: FRAMES_PER_SECOND,
    },
  );
  const leave = (): void => app.unmount();
  leaving.addEventListener("abort", leave);
  await app.waitUntilExit();
  leaving.removeEventListener("abort", leave);
  return last;
}

interface BrowserProps {
  readonly screen: BrowseScreen;
  readonly initial: BrowseState;
  /** Receives each new state. */
  readonly onState: (state: BrowseState) => void;
}

/** Draws the screen and forwards keys. */
function Browser({ screen, initial, onState }: BrowserProps): ReactNode {
  const { exit } = useApp();
  const size = useSize();
  const [shown, setShown] = useState(initial);
  // Several keys may come before the next drawing, so the state itself is not React's.
  const state = useRef(shown);
  useInput((input, key) => {
    if (state.current.end !== null) return;
    state.current = screen.press(state.current, { input, key }, size);
    onState(state.current);
    setShown(state.current);
  });
  useEffect(() => {
    if (shown.end !== null) exit();
  }, [shown, exit]);
  return <BrowserView view={screen.view(shown, size)} size={size} />;
}
