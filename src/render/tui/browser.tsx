import { render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Frame, useSize } from "./board.tsx";
import { type BrowseState, INITIAL_BROWSE_STATE } from "./browse-model.ts";
import { type BrowseOptions, browseScreen } from "./browse-screen.ts";

/** Where keys come from, and where is drawn. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** What somebody has decided who looked at plans. */
export interface Browsed {
  /** Apply what is selected; else nothing. */
  readonly apply: boolean;
  /** Ids of the changes that are chosen to be left out. */
  readonly leaveOut: ReadonlySet<string>;
}

const FRAMES_PER_SECOND = 30;

/** Lets somebody look through plans with the keyboard, on the whole terminal, until they leave or are made to. */
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

/** What the browser needs. */
interface BrowserProps {
  readonly options: BrowseOptions;
  /** Hears of each state. */
  readonly onState: (state: BrowseState) => void;
}

/** Draws the plans, and hands keys on; it decides nothing. */
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
