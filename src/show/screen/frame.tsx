import { Box, Text, useStdout } from "ink";
import { type ReactNode, useEffect, useState } from "react";
import { type Size, terminalSize } from "./second-screen.ts";

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
