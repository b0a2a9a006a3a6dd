import { createElement } from "react";
import { Board } from "../../src/show/screen/board.tsx";
import type { Size } from "../../src/show/screen/second-screen.ts";
import type { ProgressView } from "../../src/show/view/progress.ts";
import { linesOf } from "./lines-of.ts";

/** Returns the lines of a board as they are drawn, without those that are blank at its end. */
export function boardLines(view: ProgressView, size: Size): readonly string[] {
  const lines = linesOf(createElement(Board, { view, size }), size);
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}
