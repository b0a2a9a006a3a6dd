import { render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Plan } from "../../model/plan.ts";
import type { Style } from "../style.ts";
import { inSight, type Pressed, press } from "./browse-keys.ts";
import { browseLines, rowsShown } from "./browse-lines.ts";
import { type BrowseState, browseModel, INITIAL_BROWSE_STATE } from "./browse-model.ts";
import { type BrowseRow, browseRows } from "./browse-rows.ts";
import { Frame, useSize } from "./frame.tsx";
import type { Size } from "./terminal-text.ts";

/** The plans to browse, and the possible actions. */
export interface BrowseOptions {
  readonly plans: readonly Plan[];
  /** Returns the ids of every change left out along with the chosen ones, with the reason if it was not chosen. */
  readonly leftOut: (chosen: ReadonlySet<string>) => ReadonlyMap<string, string | null>;
  /** Allows changes to be left out, and the rest applied. */
  readonly selects: boolean;
  readonly style: Style;
}

/** A browser screen: turns keys into states and states into lines. */
export interface BrowseScreen {
  press(state: BrowseState, pressed: Pressed, size: Size): BrowseState;
  lines(state: BrowseState, size: Size): readonly string[];
}

/** Creates the browser without a terminal; caches rows until the state changes. */
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

/** Splits input into single keys, since fast key presses arrive in one piece. */
function singleKeys(pressed: Pressed): readonly Pressed[] {
  const { input, key } = pressed;
  const isText = Object.values(key).every((down) => !down);
  return isText && input.length > 1 ? [...input].map((letter) => ({ input: letter, key })) : [pressed];
}

/** Caches the last result of a function while its inputs stay the same. */
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

/** The source of keys and the stream to draw on. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The decision made in the browser. */
export interface Browsed {
  /** True to apply the selected changes. */
  readonly apply: boolean;
  /** Ids of the changes that are chosen to be left out. */
  readonly leaveOut: ReadonlySet<string>;
}

const FRAMES_PER_SECOND = 30;

/** Shows plans in a full-screen browser until the user or a signal ends it. */
export async function browse(
  options: BrowseOptions,
  { stdin, stderr }: Terminal,
  left: AbortSignal,
): Promise<Browsed> {
  let last: BrowseState = INITIAL_BROWSE_STATE;
  const app = render(
    <Browser
      options={options}
      onState={(state) => {
        last = state;
      }}
    />,
    {
      stdin,
      stdout: stderr,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: FRAMES_PER_SECOND,
    },
  );
  left.addEventListener("abort", () => app.unmount());
  await app.waitUntilExit();
  return { apply: last.end === "apply", leaveOut: last.chosen };
}

interface BrowserProps {
  readonly options: BrowseOptions;
  /** Receives each new state. */
  readonly onState: (state: BrowseState) => void;
}

/** Draws the screen and forwards keys. */
function Browser({ options, onState }: BrowserProps): ReactNode {
  const { exit } = useApp();
  const size = useSize();
  const [screen] = useState(() => browseScreen(options));
  const [shown, setShown] = useState(INITIAL_BROWSE_STATE);
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
  return <Frame lines={screen.lines(shown, size)} />;
}
