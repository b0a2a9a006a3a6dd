import { structuredPatch } from "diff";
import { escapeText, withoutCommand } from "../../lib/escape.ts";
import type { Style } from "../style.ts";

/** A file's text before and after; `before` is `null` for a new file. */
export interface FilePatch {
  readonly file: string;
  readonly before: string | null;
  readonly after: string;
}

const CONTEXT = 3;

/** Returns the unified diff of files, as `git apply` takes it. */
export function patchText(patches: readonly FilePatch[]): string {
  return patches.map((patch) => `${patchLines(patch).join("\n")}\n`).join("");
}

/**
 * Renders the unified diff of files for a reader: in colours, without anything that could control a terminal. Line
 * breaks show only if a patch has different ones.
 */
export function renderPatch(patches: readonly FilePatch[], style: Style): string {
  const paint = (line: string): string => {
    const text = withoutCommand(line.split("\t").map(escapeText).join("\t"));
    if (/^(?:---|\+\+\+) /.test(line)) return style.bold(text);
    if (line.startsWith("@@")) return style.cyan(text);
    if (line.startsWith("+")) return style.green(text);
    return line.startsWith("-") ? style.red(text) : text;
  };
  const shown = (patch: FilePatch): readonly string[] => {
    const isCrlf = ![patch.before ?? "", patch.after].some((text) => /(?<!\r)\n/.test(text));
    return patchLines(patch).map((line) => paint(isCrlf ? line.replace(/\r$/, "") : line));
  };
  return patches.map((patch) => `${shown(patch).join("\n")}\n`).join("");
}

/** Returns a path as git writes it: in quotes if it has a character that could end it. */
function pathText(path: string): string {
  const escaped = path.replaceAll(/["\\]|(?=\p{ASCII})\p{Cc}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\${/\p{Cc}/u.test(character) ? code.toString(8).padStart(3, "0") : character}`;
  });
  return escaped === path ? path : `"${escaped}"`;
}

function patchLines({ file, before, after }: FilePatch): readonly string[] {
  const head = [
    `--- ${before === null ? "/dev/null" : pathText(`a/${file}`)}`,
    `+++ ${pathText(`b/${file}`)}`,
  ];
  if (before === null) {
    const lines = after.replace(/\n$/, "").split("\n");
    return [...head, `@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`)];
  }
  const { hunks } = structuredPatch(file, file, before, after, undefined, undefined, { context: CONTEXT });
  return [
    ...head,
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ]),
  ];
}
