import type { Path } from "../../kernel/problems/problem.ts";
import { maskKeys } from "../../kernel/problems/secrets.ts";
import { oneLine } from "../../lib/escape.ts";
import type { JsonValue } from "../../model/json.ts";
import { canonicalKeys } from "../format/sort-document.ts";

/** Maximum width of a line with a list or mapping in brackets, in columns, as `fmt` has it. */
export const MAX_COLUMNS = 100;

/** The style in which new values are printed. */
export interface PrintStyle {
  /** Indentation of a block relative to its key, in columns. */
  readonly step: number;
  /** Indentation of a list relative to its key, in columns: `step`, or 0. */
  readonly listStep: number;
  /** The quotes around every text, where the neighbours have them; null for quotes only where YAML needs them. */
  readonly quote: '"' | "'" | null;
  /** The quotes around every key, by the same rule. */
  readonly keyQuote: '"' | "'" | null;
  /** The keys whose neighbours have lists or mappings, true if these are in brackets. */
  readonly inline: ReadonlyMap<string, boolean>;
  /** The comments on list items, by the items' text: the names of roles that are listed by id. */
  readonly comments: ReadonlyMap<string, string>;
}

export const DEFAULT_STYLE: PrintStyle = {
  step: 2,
  listStep: 2,
  quote: null,
  keyQuote: null,
  inline: new Map(),
  comments: new Map(),
};

/** A value as lines: the first stands behind the dash or colon, and each has its indentation relative to the entry. */
type Lines = readonly string[];

/** Prints a value on one line, with brackets and braces. */
export function printInline(value: JsonValue, path: Path, style: PrintStyle): string {
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue, index) => printInline(item, [...path, index], style)).join(", ")}]`;
  }
  if (isMapping(value)) {
    const pairs = sortedEntries(value, path).map(
      ([key, item]) => `${printKey(key, style)}: ${printInline(item, [...path, key], style)}`,
    );
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return printScalar(value, style.quote);
}

/** Prints a key with its value as lines at a column. */
export function printPair(
  key: string,
  value: JsonValue,
  path: Path,
  column: number,
  style: PrintStyle,
): Lines {
  const [name, inner] = [printKey(key, style), [...path, key]];
  const block = isCollection(value) ? null : blockText(value, style);
  if (block !== null) return [`${name}: ${block[0]}`, ...indent(block.slice(1), style.step)];
  if (!isCollection(value)) return [`${name}: ${printScalar(value, style.quote)}`];
  const line = printInline(value, inner, style);
  if (fits(value, line, inner, column + name.length + 2, style)) {
    const note = Array.isArray(value) ? noteOn(value, style) : null;
    return [`${name}: ${line}${note === null ? "" : ` # ${note}`}`];
  }
  const lines = printBlock(
    value,
    inner,
    column + (Array.isArray(value) ? style.listStep : style.step),
    style,
  );
  return [`${name}:`, ...indent(lines, Array.isArray(value) ? style.listStep : style.step)];
}

/** Prints an item of a list as lines, with its dash at a column. */
export function printItem(
  value: JsonValue,
  path: Path,
  column: number,
  style: PrintStyle,
  dash = "- ",
): Lines {
  if (isCollection(value)) {
    const line = printInline(value, path, style);
    const asLine = Array.isArray(value) || style.inline.get("-") === true || line === "{}";
    if (asLine && (column + dash.length + line.length <= MAX_COLUMNS || line.length === 2)) {
      return [`${dash}${line}`];
    }
    const [first = "", ...rest] = printBlock(value, path, column + dash.length, style);
    return [`${dash}${first}`, ...indent(rest, dash.length)];
  }
  const block = blockText(value, style);
  if (block !== null) return [`${dash}${block[0]}`, ...indent(block.slice(1), style.step)];
  const note = typeof value === "string" ? style.comments.get(value) : undefined;
  return [`${dash}${printScalar(value, style.quote)}${note === undefined ? "" : ` # ${commentText(note)}`}`];
}

/** Prints a list or mapping that is not empty as a block at a column. */
function printBlock(value: JsonValue, path: Path, column: number, style: PrintStyle): Lines {
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) => printItem(item, [...path, index], column, style));
  }
  return isMapping(value)
    ? sortedEntries(value, path).flatMap(([key, item]) => printPair(key, item, path, column, style))
    : [printScalar(value, style.quote)];
}

/** Prints an entry of a list as a comment: `# - email: …`; its first line says what it is about. */
export function printCommentedItem(
  value: JsonValue,
  note: string | undefined,
  path: Path,
  column: number,
  style: PrintStyle,
): Lines {
  const hasBreak = isMapping(value) && Object.values(value).some((item) => String(item).includes("\n"));
  const quoting: PrintStyle = hasBreak ? { ...style, quote: '"' } : style;
  const [first = "", ...rest] = printItem(value, path, column + 2, quoting);
  const end = note === undefined || first.includes(" # ") ? "" : ` # ${commentText(note)}`;
  return [`# ${first}${end}`, ...rest.map((line) => `# ${line}`)];
}

/** Returns a text as a comment on one line can hold it: visible, and without anything like an API key. */
export function commentText(text: string): string {
  return maskKeys(
    oneLine(text)
      .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
      .trim(),
  );
}

/** Returns the comment behind a list in brackets: what its items are called; null if there is nothing to say. */
export function noteOn(items: readonly unknown[], { comments }: PrintStyle): string | null {
  const commented = items.flatMap((item) => {
    const name = typeof item === "string" ? comments.get(item) : undefined;
    return name === undefined ? [] : [[String(item), commentText(name)] as const];
  });
  const [only] = commented;
  if (only === undefined) return null;
  if (items.length === 1) return only[1];
  return commented.map(([item, name]) => `${commentText(item)}: ${name}`).join(", ");
}

/** Returns whether a list or mapping stands on its key's line: a short one does, of scalars unless its neighbours do. */
function fits(value: JsonValue, line: string, path: Path, column: number, style: PrintStyle): boolean {
  if (line.length === 2) return true;
  const key = path.at(-1);
  const items: readonly JsonValue[] = isMapping(value)
    ? Object.values(value)
    : (value as readonly JsonValue[]);
  const isInline =
    style.inline.get(String(key)) ?? (path.length > 1 || key === "sync" || Array.isArray(value));
  const flat = style.inline.get(String(key)) === true || !items.some(isCollection);
  return isInline && flat && column + line.length <= MAX_COLUMNS;
}

/** Returns a mapping's entries in the order in which `fmt` puts them. */
function sortedEntries(
  value: { readonly [key: string]: JsonValue },
  path: Path,
): readonly (readonly [string, JsonValue])[] {
  const order = canonicalKeys(path);
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => rank(a) - rank(b));
}

function indent(lines: Lines, by: number): Lines {
  return lines.map((line) => (line === "" ? "" : " ".repeat(by) + line));
}

/** Returns a text of several lines as a literal block; null if it is none, or would not keep every character. */
function blockText(value: JsonValue, { quote }: PrintStyle): readonly [string, ...string[]] | null {
  if (typeof value !== "string" || quote !== null || !/\S\n+\S/.test(value) || UNPRINTABLE.test(value))
    return null;
  const lines = value.split("\n");
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  if (/^\s/.test(value) || lines.at(-1) === "" || lines.some((line) => /\s$|\t/.test(line))) return null;
  return [ended ? "|" : "|-", ...lines];
}

/** Prints a key. */
export function printKey(key: string, { keyQuote }: PrintStyle): string {
  return printScalar(key, keyQuote);
}

/** Prints text, a number, a boolean or null so that it is read as the same again, also in brackets. */
function printScalar(value: JsonValue, quote: '"' | "'" | null): string {
  if (typeof value !== "string") return Object.is(value, -0) ? "-0" : String(value);
  if (quote === "'" && !UNPRINTABLE.test(value) && !value.includes("\n"))
    return `'${value.replaceAll("'", "''")}'`;
  return quote === null && isPlain(value) ? value : doubleQuoted(value);
}

// Characters that are written as escapes: control and format characters, line separators, halves of characters.
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\ufffe\uffff]/u;
const ESCAPED = new RegExp(UNPRINTABLE.source, "gu");

// An indicator in front, or one that ends a plain text within it, or in brackets.
const INDICATED = /^[-?:,[\]{}#&*!|>'"%@`=<]|: | #|:$|[,[\]{}\n]|^\s|\s$|^\.\.\.|[^\S ]/;

// Plain scalars that some version of YAML reads as null, a boolean, or a number.
const OTHER = /^(?:null|~|true|false|yes|no|on|off|[-+]?\.?(?:inf|nan|[0-9][0-9a-fox_,.:+-]*))$/i;

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt][0-9:.]+(?:[Zz]|[-+][0-9:]+)?)?$/;

function isPlain(text: string): boolean {
  if (text === "" || INDICATED.test(text) || UNPRINTABLE.test(text)) return false;
  return !OTHER.test(text) || DATE.test(text);
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(ESCAPED, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16);
    return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  });
}

function isCollection(
  value: JsonValue,
): value is readonly JsonValue[] | { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null;
}

function isMapping(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return isCollection(value) && !Array.isArray(value);
}

/** An entry of a new file's roles or members; with `remark`, one that is commented out. */
export interface NewEntry {
  readonly value: JsonValue;
  /** The text above the entry, or after the first line of one that is commented out. */
  readonly comment?: string;
  readonly remark?: boolean;
}

/** The content of a new file. */
export interface NewMerchantFile {
  /** The path or address of the schema, which editors read in the first line. */
  readonly schema?: string;
  /** The sections but `roles` and `members`: `version`, `merchant`, `sync` and so on. */
  readonly settings: { readonly [key: string]: JsonValue };
  readonly roles?: readonly NewEntry[];
  readonly members?: readonly NewEntry[];
}

/** Prints a new merchant's file as `fmt` would; `comments` are those on items of lists, by the items' text. */
export function printMerchantFile(
  { schema, settings, roles, members }: NewMerchantFile,
  comments: ReadonlyMap<string, string> = new Map(),
): string {
  const style = { ...DEFAULT_STYLE, comments };
  const head = schema === undefined ? [] : [`# yaml-language-server: $schema=${commentText(schema)}`];
  const order = canonicalKeys([]);
  const keys = Object.keys(settings).toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  const sections = keys.flatMap((key) => printPair(key, settings[key] ?? null, [], 0, style));
  const lists = (["roles", "members"] as const).flatMap((key) => {
    const entries = key === "roles" ? roles : members;
    if (entries === undefined) return [];
    const isEmpty = entries.every(({ remark }) => remark === true);
    const column = isEmpty ? 0 : style.listStep;
    const lines = entries.flatMap((entry) => printEntry(entry, key, column, style));
    // Below an empty list at the end of a file, fmt would set the comment off.
    if (isEmpty) return ["", ...lines, `${key}: []`];
    return ["", `${key}:`, ...lines.map((line) => (line === "" ? "" : " ".repeat(column) + line))];
  });
  return `${[...head, ...sections, ...lists].join("\n")}\n`;
}

function printEntry(
  { value, comment, remark }: NewEntry,
  section: string,
  column: number,
  style: typeof DEFAULT_STYLE,
): readonly string[] {
  if (remark === true) return printCommentedItem(value, comment, [section, 0], column, style);
  const above = comment === undefined ? [] : [`# ${commentText(comment)}`];
  return [...above, ...printItem(value, [section, 0], column, style)];
}
