import { render, useApp, useInput } from "ink";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Frame, useSize } from "./board.tsx";
import { type BrowseState, INITIAL_BROWSE_STATE } from "./browse-model.ts";
import { type BrowseOptions, browseScreen } from "./browse-screen.ts";

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
