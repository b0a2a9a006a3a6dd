import { Box, Text, useStdout } from "ink";
import { type ReactNode, useEffect, useState } from "react";
import { type Size, terminalSize } from "./terminal-text.ts";

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

/** Returns the size of the terminal, and follows its changes. */
export function useSize(): Size {
  const { stdout } = useStdout();
  const [size, setSize] = useState(() => terminalSize(stdout));
  useEffect(() => {
    const resized = (): void => setSize(terminalSize(stdout));
    stdout.on("resize", resized);
    return () => {
      stdout.off("resize", resized);
    };
  }, [stdout]);
  return size;
}

const ERASE_HISTORY = "\u001b[3J";

/** Returns a terminal for Ink, which erases the history of one that gets lower than its last frame. */
export function keepingHistory(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return new Proxy(stream, {
    get(target, name) {
      if (name === "write") {
        return (text: string, ...rest: []) => target.write(text.replaceAll(ERASE_HISTORY, ""), ...rest);
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
