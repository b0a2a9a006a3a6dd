import { escapeText } from "../../lib/escape.ts";
import type { Problem } from "../diagnostics/problem.ts";

// What YAML does not allow to stand in a text, and halves of characters; tabs and line breaks are allowed.
const CONTROL = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]|\p{Cs}/gu;

/** The first character of a text that cannot be seen, and how many more there are. */
export function controlProblems(text: string): readonly Problem[] {
  let first: number | null = null;
  let count = 0;
  for (const { index } of text.matchAll(CONTROL)) {
    first ??= index;
    count += 1;
  }
  if (first === null) {
    return [];
  }
  return [
    {
      code: "yaml-control",
      character: escapeText(text.charAt(first)),
      more: count - 1,
      place: { at: "text", start: first, end: first + 1 },
    },
  ];
}
