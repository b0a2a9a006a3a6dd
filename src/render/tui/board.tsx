import { Box, type Instance, render, Text, useStderr, useStdout } from "ink";
import { type ReactNode, useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import type { Size } from "./terminal-text.ts";

/** The lines of a board, and the signal that they have changed. */
export interface LineSource {
  /** Calls back after a change, at most about ten times a second. */
  subscribe(listener: () => void): () => void;
  /** Returns a number that changes with the content. */
  version(): number;
  /** Returns the current lines; none is wider than the terminal. */
  lines(size: Size): readonly string[];
}

/** A board on the screen. */
export interface Board {
  /** Writes whole lines, which scroll by above the board. */
  write(stream: "stdout" | "stderr", text: string): void;
  /** Removes the board from the screen. */
  close(): Promise<void>;
}

/** The streams of the terminal. */
export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

const FRAMES_PER_SECOND = 15;

/** Moves up one line, to its start, and clears it. */
const BACK_ONE_LINE = "\u001b[1A\u001b[2K\r";

/** Draws a board on stderr until it is closed; it reads no keys, so Ctrl-C keeps its meaning. */
export function openBoard(source: LineSource, { stdout, stderr }: Streams): Board {
  let above: Above | null = null;
  let height = 0;
  const counted: LineSource = {
    ...source,
    lines(size) {
      const lines = source.lines(size);
      height = lines.length;
      return lines;
    },
  };
  // When a signal ends the process, Ink leaves the last drawing where it is.
  const leave = (): void => {
    if (above !== null) stderr.write(BACK_ONE_LINE.repeat(height));
  };
  const direct = { stdout, stderr };
  const app: Instance = render(
    <Lines
      source={counted}
      onGone={leave}
      onReady={(ready) => {
        above = ready;
      }}
    />,
    // Ink draws on what it calls stdout; what it calls stderr is the other stream to write past the drawing to.
    { stdout: stderr, stderr: stdout, exitOnCtrlC: false, patchConsole: false, maxFps: FRAMES_PER_SECOND },
  );
  return {
    write(stream, text) {
      if (above) above[stream](text);
      else direct[stream].write(text);
    },
    async close() {
      above = null;
      app.rerender(<Box />);
      app.unmount();
      await app.waitUntilExit();
      // Of an empty drawing one empty line is left.
      stderr.write(BACK_ONE_LINE);
    },
  };
}

/** Functions that write above the drawing. */
type Above = Readonly<Record<"stdout" | "stderr", (text: string) => void>>;

interface LinesProps {
  readonly source: LineSource;
  readonly onReady: (above: Above) => void;
  readonly onGone: () => void;
}

/** Shows the lines of a source as they come. */
function Lines({ source, onReady, onGone }: LinesProps): ReactNode {
  useSyncExternalStore(source.subscribe, source.version);
  const size = useSize();
  const { write: writeBeside } = useStdout();
  const { write: writeToOther } = useStderr();
  useLayoutEffect(() => {
    onReady({ stderr: writeBeside, stdout: writeToOther });
  }, [onReady, writeBeside, writeToOther]);
  useLayoutEffect(() => onGone, [onGone]);
  return <Frame lines={source.lines(size)} />;
}

/** Lines that are as wide as the terminal allows, one below the other. */
export function Frame({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return (
    <Box flexDirection="column">
      {lines.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen.
        <Text key={index} wrap="truncate">
          {text === "" ? " " : text}
        </Text>
      ))}
    </Box>
  );
}

const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };

/** Returns the size of the terminal, and follows its changes. */
export function useSize(): Size {
  const { stdout } = useStdout();
  const [size, setSize] = useState(() => sizeOf(stdout));
  useEffect(() => {
    const resized = (): void => setSize(sizeOf(stdout));
    stdout.on("resize", resized);
    return () => {
      stdout.off("resize", resized);
    };
  }, [stdout]);
  return size;
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows };
}
