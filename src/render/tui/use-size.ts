import { useStdout } from "ink";
import { useEffect, useState } from "react";
import type { Size } from "./cells.ts";

const USUAL: Size = { columns: 80, rows: 24 };

/** How large the terminal is, now and whenever that changes. */
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
  return { columns: columns || USUAL.columns, rows: rows || USUAL.rows };
}
