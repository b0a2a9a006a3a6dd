import { useStdout } from "ink";
import { useEffect, useState } from "react";
import { type Size, terminalSize } from "./second-screen.ts";

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
