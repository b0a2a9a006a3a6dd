import type { Path } from "../../kernel/problems/problem.ts";
import { createLocator } from "../../kernel/yaml/locate.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { isSameJson } from "../../lib/json-text.ts";
import { commentText } from "./new-node.ts";
import { lineStart } from "./splices.ts";

/** Writes a comment above the line of a value; `null` if there is no place for it. */
export function commentAbove(text: string, path: Path, comment: string): string | null {
  const range = createLocator(text)({ at: "value", path });
  if (range === null) return null;
  const start = lineStart(text, range.start);
  const indentation = /^[ \t]*/.exec(text.slice(start))?.[0] ?? "";
  const [end = "\n"] = /\r?\n/.exec(text.slice(start)) ?? [];
  const commented = `${text.slice(0, start)}${indentation}# ${commentText(comment)}${end}${text.slice(start)}`;
  return isSameJson(parse(commented).value, parse(text).value) ? commented : null;
}
