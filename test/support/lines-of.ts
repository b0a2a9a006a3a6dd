import { renderToString } from "ink";
import { createElement, type ReactNode } from "react";
import type { Size } from "../../src/show/screen/second-screen.ts";
import { Theme } from "../../src/show/screen/theme.tsx";
import { PLAIN } from "../../src/show/style.ts";

/** Returns the lines of a screen as they are drawn. */
export function linesOf(screen: ReactNode, size: Size, style = PLAIN): readonly string[] {
  return renderToString(createElement(Theme, { value: style }, screen), size)
    .split("\n")
    .map((line) => line.trimEnd());
}
