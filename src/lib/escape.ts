/**
 * Matches control characters, line separators, bidirectional overrides, invisible and private characters, and lone
 * surrogates: all that can make a terminal show something other than the text.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** Format characters that scripts and emoji need. */
const JOINER = /[\u200c\u200d]/;

/** Matches the beginning of a logging command: `##[` on GitHub, `##vso[` on Azure, `##teamcity[`. */
const LOGGING_COMMAND = /##(?=\w*\[)/g;

/** Matches printable ASCII, which needs no escapes; nearly all texts are. */
const PLAIN_TEXT = /^[\x20-\x7e]*$/;

/** Returns a text from a file or the service as one line that is safe for a terminal and for a CI log. */
export function oneLine(text: string): string {
  // Not only at the beginning: a line may be broken at any space.
  return unbrokenLine(text).replaceAll(/(?<=^|\s)::/g, ":\\:");
}

/** Returns a text as one line that is safe behind something else on a line that nothing breaks. */
function unbrokenLine(text: string): string {
  if (PLAIN_TEXT.test(text) && !text.includes("##")) return text;
  return text
    .replace(UNSAFE, (character) => (JOINER.test(character) ? character : readable(character)))
    .replaceAll(LOGGING_COMMAND, "#\\#");
}

/**
 * Returns a whole line, without line breaks in it, that GitHub does not treat as a workflow command: those are at the
 * beginning of a line, after white space. Any other line stays as it is.
 */
export function withoutCommand(line: string): string {
  return line.replace(/^([\s\p{Cf}]*):(?=:)/u, "$1:\\").replaceAll(LOGGING_COMMAND, "#\\#");
}

/** Returns a text of a source file with every unsafe character as an escape of that file's language: `\x1b`, `\u202e`. */
export function escapeText(text: string): string {
  if (PLAIN_TEXT.test(text)) return text;
  return text.replace(UNSAFE, (character) => {
    const hex = codeOf(character).toString(16);
    if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
    return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
  });
}

/** Returns a text on one line without unsafe characters: each run of them, and of white space, becomes a space. */
export function withoutUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, " ").replaceAll(/\s+/g, " ").trim();
}

function readable(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  if (character === "\r") return "\\r";
  return `\\u{${codeOf(character).toString(16)}}`;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Matches a cell that a spreadsheet would treat as a formula. */
const FORMULA = /^[\s'"]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/u;

/** Returns rows as CSV (RFC 4180), of which no cell is a formula, and none has control characters. */
export function toCsv(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}

function csvCell(text: string): string {
  const line = unbrokenLine(text);
  const safe = FORMULA.test(line) ? `'${line}` : line;
  // In quotes, "::" does not begin a line, which a CI log would treat as a command.
  return /[",;\s]|^::/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
