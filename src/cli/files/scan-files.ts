import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fieldsOf, listOf } from "../../config/values.ts";
import { parseFast } from "../../config/yaml/fast-yaml.ts";
import { withoutLinks } from "./find-files.ts";

/** YAML can spell every character with it. */
const ESCAPE = "\\";

/**
 * Matches a line that begins nothing which goes on in the first column of the next one: a comment, a key with a quoted
 * text or a mapping that ends on the line, or words without quotes, brackets and indicators.
 */
const PLAIN_LINE = String.raw`(?: *#[^\n]*| *(?:- +)?[\w-]+: +(?:"[^"\\\n]*"|'[^'\n]*'|\{(?:[^"'{}[\]#\\\n]|(?<=[ ,:{])"[^"\\\n]*"(?=[ ,:}]))*\}) *\r?|(?! *#)[^"'{}[\]|>&*!%?\x60\\#\n]*(?:#[^\n]*)?)\n`;

/** Matches a text that declares its merchant plainly, after plain lines. */
const PLAIN_MERCHANT = new RegExp(
  String.raw`^\ufeff?(?:${PLAIN_LINE})*?merchant: +[\w-]+ *(?:#[^\n]*)?\r?(?:\n|$)`,
);

/**
 * Returns the files that may declare one of these merchants. A file is left out only if its text shows that it does not:
 * it has none of the codes, and no escapes that could spell one.
 */
export function filesNaming(files: readonly string[], merchants: readonly string[]): readonly string[] {
  const codes = merchants.map((code) => code.replaceAll(/[^\w-]/g, "\\$&")).join("|");
  const named = new RegExp(`(?<![\\w-])(?:${codes})(?![\\w-])`);
  return files.filter((file) => {
    const text = textOf(file);
    if (text === null || named.test(text)) return true;
    return text.includes(ESCAPE) && !PLAIN_MERCHANT.test(text);
  });
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/**
 * Returns each file with all files that it includes, directly or not, as absolute paths without links; `null` instead if
 * only the full parser knows the includes of one of them.
 */
export function includeClosures(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string> | null> {
  const includesOf = includeFinder();
  const closures = new Map<string, ReadonlySet<string> | null>();
  for (const file of files) {
    const reached = new Set([file]);
    let known = true;
    for (const one of reached) {
      const includes = includesOf(one);
      known &&= includes !== null;
      for (const next of includes ?? []) reached.add(next);
    }
    closures.set(file, known ? reached : null);
  }
  return closures;
}

/** Creates a function that returns what a file includes; most files of a fleet list the same ones. */
function includeFinder(): (file: string) => readonly string[] | null {
  const files = new Map<string, readonly string[] | null>();
  const lists = new Map<string, readonly string[] | null>();
  const targets = new Map<string, string>();
  const targetOf = (path: string): string => {
    const known = targets.get(path) ?? withoutLinks(path);
    targets.set(path, known);
    return known;
  };
  const find = (file: string): readonly string[] | null => {
    const text = textOf(file);
    if (text === null) return [];
    const part = includePart(text);
    if (part === "") return [];
    const paths = lists.has(part) ? lists.get(part) : includedPaths(part);
    lists.set(part, paths ?? null);
    return paths?.map((path) => targetOf(resolve(dirname(file), path))) ?? null;
  };
  return (file) => {
    const found = files.has(file) ? files.get(file) : find(file);
    files.set(file, found ?? null);
    return found ?? null;
  };
}

/** Returns the includes of a YAML text; `null` if it needs the full parser. */
function includedPaths(text: string): readonly string[] | null {
  const parsed = parseFast(text);
  if (parsed === null) return null;
  return listOf(fieldsOf(parsed.value)["include"]).flatMap((path) => (typeof path === "string" ? path : []));
}

/** Matches what may be the key `include`, and what may be a key that is spelled with escapes. */
const ANY_INCLUDE = /(?:^|[{,?])[ \t]*["']?include["']?[ \t]*:/m;
const ESCAPED_KEY = /^[ \t]*["{?]/m;

/** Matches the plain key `include` with its list, on its line or one path below the other, after plain lines. */
const PLAIN_INCLUDE = new RegExp(
  String.raw`^\ufeff?(?:(?!include:)${PLAIN_LINE})*(include:(?: +\[[\w./, -]*\] *(?:#[^\n]*)?\r?(?:\n|$)|\r?\n(?: *(?:- +[\w./-]+ *)?(?:#[^\n]*)?\r?(?:\n|$))+?))(?=[a-z]|$)`,
);

/** Returns the part of a text that lists its includes; empty if there are none, the whole text if they may be anywhere. */
function includePart(text: string): string {
  if (text.includes("include") && ANY_INCLUDE.test(text)) return PLAIN_INCLUDE.exec(text)?.[1] ?? text;
  return text.includes(ESCAPE) && ESCAPED_KEY.test(text) ? text : "";
}
