import type { Path } from "../../kernel/problems/problem.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import { parseLayout } from "../format/print-document.ts";
import { spliceDocument } from "./splice-document.ts";
import { type Splices, spliced } from "./splices.ts";
import { EditRefused, editedTarget, type YamlEdit } from "./target.ts";

export type { YamlEdit } from "./target.ts";

/** The options for printing new values. */
export interface YamlEditOptions {
  /** The comments on list items, by the items' text: the names of roles that are listed by id. */
  readonly comments?: ReadonlyMap<string, string>;
}

/** An edited text, or why it was not edited. */
export type EditedYaml =
  | { readonly text: string }
  | {
      /**
       * `unreadable`: the text is not valid YAML. `missing`: there is nothing at the path. `overlap`: several edits are
       * about one value. `unsupported`: the edits would change something else, too.
       */
      readonly refused: "unreadable" | "missing" | "overlap" | "unsupported";
      readonly path: Path;
    };

/** Edits a YAML text: prints the entries that change as `fmt` does, and keeps all other bytes. */
export function editYaml(
  text: string,
  edits: readonly YamlEdit[],
  { comments = new Map() }: YamlEditOptions = {},
): EditedYaml {
  if (edits.length === 0) return { text };
  const { value, readable } = parseFast(text) ?? parse(text);
  if (!readable) return { refused: "unreadable", path: [] };
  try {
    const target = editedTarget(value as JsonValue, edits);
    const edited = isJson(text)
      ? jsonText(text, target.value)
      : withLineEnds(text, (lines) => {
          const document = parseLayout(lines);
          if (document === null) throw new EditRefused("unsupported", []);
          return spliceDocument(document, lines, value as JsonValue, target, comments);
        });
    if (edited === text)
      return isSameJson(target.value, value) ? { text } : { refused: "unsupported", path: [] };
    const after = parseFast(edited) ?? parse(edited);
    const isAsExpected = after.readable && isSameJson(after.value, target.value);
    return isAsExpected ? { text: edited } : { refused: "unsupported", path: [] };
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error;
    return { refused: error.reason, path: error.path };
  }
}

/** Splices a text without its byte order mark, with `\n` after each line; new lines end as the one above. */
function withLineEnds(text: string, splicesOf: (lines: string) => Splices): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  const isEnded = body.endsWith("\n");
  // A last line without a line break temporarily gets one.
  const whole = isEnded ? body : body + (body.match(/\r?\n/)?.[0] ?? "\n");
  const ends: readonly string[] = whole.match(/\r?\n/g) ?? [];
  const lines = whole.replaceAll("\r\n", "\n");
  const splices = splicesOf(lines);
  if (!ends.includes("\r\n")) {
    const edited = spliced(splices);
    return mark + (isEnded ? edited : edited.replace(/\n$/, ""));
  }
  // Each offset moves by the number of carriage returns in front of it.
  const breaks: number[] = [];
  for (let at = lines.indexOf("\n"); at !== -1; at = lines.indexOf("\n", at + 1)) breaks.push(at);
  const linesBefore = (offset: number): number => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const returns = [0];
  for (const end of ends) returns.push((returns.at(-1) ?? 0) + (end === "\r\n" ? 1 : 0));
  const moved = (offset: number): number =>
    offset + (returns[Math.min(linesBefore(offset), ends.length)] ?? 0);
  const edited = spliced({
    text: whole,
    deletions: splices.deletions.map(([from, to]) => [moved(from), moved(to)]),
    insertions: splices.insertions.map(({ at, text: piece }) => ({
      at: moved(at),
      text: piece.replaceAll("\n", ends[Math.max(0, Math.min(linesBefore(at), ends.length) - 1)] ?? "\n"),
    })),
  });
  return mark + (isEnded ? edited : edited.replace(/\r?\n$/, ""));
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns JSON with the indentation and the end of a text. */
function jsonText(text: string, value: JsonValue): string {
  const [, indentation = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  const [end = ""] = /\s*$/.exec(text) ?? [];
  return JSON.stringify(value, null, text.trim().includes("\n") ? indentation : undefined) + end;
}
