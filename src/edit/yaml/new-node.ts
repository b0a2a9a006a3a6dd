import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { Path } from "../../kernel/problems/problem.ts";
import { maskKeys } from "../../kernel/problems/secrets.ts";
import { oneLine } from "../../lib/escape.ts";
import type { JsonValue } from "../../model/json.ts";
import { inlineWidth, MAX_COLUMNS, printEntry, setHead, Written } from "../format/print-document.ts";
import { type Remark, type Target, type TargetEntry, targetFor } from "./target.ts";

/** The context that determines how new values are written. */
export interface NewStyle {
  /** The comments on list items, by the items' text. */
  readonly comments: ReadonlyMap<string, string>;
  /** Whether the neighbours have the value of a key in brackets; undefined if they do not have it. */
  readonly isInline: (key: string) => boolean | undefined;
}

/** The path of a new value and the column at which it would begin on its line. */
interface Place {
  readonly path: Path;
  /** The column of its key or dash. */
  readonly indent: number;
  readonly column: number;
}

/** Returns the node of a new value: on one line if that is short, as `fmt` would leave it. */
export function newNode({ value, entries, remarks }: Target, place: Place, style: NewStyle): Node {
  if (entries === null) return new Scalar(blockText(value) ?? new Written(printScalar(value)));
  const { path, indent } = place;
  const line = inlineNode({ value, entries, remarks }) as Collection;
  if (fits(line, entries, remarks, place, style)) {
    if (Array.isArray(value)) line.comment = noteOn(value, style.comments);
    return line;
  }
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    const column = indent + 2;
    list.items = entries.map((entry, index) => newItemNode(entry, [...path, index], column, style));
    if (remarks.length > 0) {
      const lines = remarks.flatMap((remark) => remarkLines(remark, [...path, 0], column, style));
      list.comment = lines.map((text) => text.slice(1)).join("\n");
    }
    return list;
  }
  const map = new YAMLMap();
  map.items = entries.map((entry) => newPair(entry, path, indent + 2, style));
  return map;
}

/** Returns a new key with its value, at a column. */
export function newPair(
  { key, target, comment }: TargetEntry,
  path: Path,
  indent: number,
  style: NewStyle,
): Pair {
  const name = inlineScalar(key ?? "");
  if (comment !== undefined) setHead(name, ` ${commentText(comment)}`);
  const inner = [...path, key ?? ""];
  const column = indent + inlineWidth(name, "") + 2;
  return new Pair(name, newNode(target, { path: inner, indent, column }, style));
}

/** Returns the node of a new item, whose dash has a column. */
export function newItemNode(
  { target, comment }: TargetEntry,
  path: Path,
  indent: number,
  style: NewStyle,
): Node {
  const node = newNode(target, { path, indent, column: indent + 2 }, style);
  const name = typeof target.value === "string" ? style.comments.get(target.value) : undefined;
  if (name !== undefined) node.comment = ` ${commentText(name)}`;
  if (comment !== undefined) setHead(node, ` ${commentText(comment)}`);
  return node;
}

/** Prints a commented-out item of a list: `# - email: …`; its first line says what it is about. */
export function remarkLines(
  { value, comment }: Remark,
  path: Path,
  indent: number,
  style: NewStyle,
): readonly string[] {
  const place = { text: "", indent: indent + 2 };
  const item = { key: null, from: null, target: targetFor(value, undefined, path) };
  const hasBlock = (item.target.entries ?? []).some(({ target }) => blockText(target.value) !== null);
  const node = hasBlock ? quotedItem(item.target) : newItemNode(item, path, indent + 2, style);
  const [first = "", ...rest] = printEntry(node, place);
  const end = comment === undefined || first.includes(" # ") ? "" : ` # ${commentText(comment)}`;
  return [`# ${first}${end}`, ...rest.map((line) => `# ${line}`)];
}

/** Returns an item each of whose values is on one line. */
function quotedItem({ entries }: Target): Node {
  const map = new YAMLMap();
  map.items = (entries ?? []).map(({ key, target }) => new Pair(inlineScalar(key ?? ""), inlineNode(target)));
  return map;
}

/** Returns a text as a comment on one line can hold it: visible, and without anything like an API key. */
export function commentText(text: string): string {
  return maskKeys(
    oneLine(text)
      .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
      .trim(),
  );
}

/** Returns the comment behind a list in brackets, with the names of its items; null if there is none. */
export function noteOn(items: readonly unknown[], names: ReadonlyMap<string, string>): string | null {
  const named = items.flatMap((item) => {
    const name = typeof item === "string" ? names.get(item) : undefined;
    return name === undefined ? [] : [[String(item), commentText(name)] as const];
  });
  const [only] = named;
  if (only === undefined) return null;
  if (items.length === 1) return ` ${only[1]}`;
  return ` ${named.map(([item, name]) => `${commentText(item)}: ${name}`).join(", ")}`;
}

type Collection = YAMLMap | YAMLSeq;

/** Returns the node of a new value on one line. */
export function inlineNode({ value, entries }: Target): Node {
  if (entries === null) return inlineScalar(value);
  const node = Array.isArray(value) ? new YAMLSeq() : new YAMLMap();
  node.flow = true;
  node.items = entries.map(({ key, target }) => {
    const inner = inlineNode(target);
    return key === null ? inner : new Pair(inlineScalar(key), inner);
  }) as never;
  return node;
}

/** Returns whether a list or mapping stands on its key's line: a short one of scalars, unless its neighbours do not. */
function fits(
  line: Collection,
  entries: readonly TargetEntry[],
  remarks: readonly Remark[],
  { path, column }: Place,
  style: NewStyle,
): boolean {
  const isCollection = ({ target }: TargetEntry): boolean => target.entries !== null;
  if (entries.length === 0) return true;
  if (remarks.length > 0 || entries.some(({ comment }) => comment !== undefined)) return false;
  const key = path.at(-1);
  const neighbours = style.isInline(typeof key === "number" ? "-" : String(key));
  const isList = line instanceof YAMLSeq;
  const isShort = column + inlineWidth(line, "") <= MAX_COLUMNS;
  if (typeof key === "number") return isShort && (isList || neighbours === true);
  const isInline = neighbours ?? (path.length > 1 || key === "sync" || isList);
  return isInline && isShort && (neighbours === true || !entries.some(isCollection));
}

/** Returns the node of a text, a number, a boolean or null, so that it is read as the same again, also in brackets. */
export function inlineScalar(value: JsonValue): Scalar {
  return new Scalar(new Written(printScalar(value)));
}

/** Returns the node of a text in the quotes of another; in double ones if single ones cannot hold it. */
export function quotedScalar(value: string, { type }: Scalar): Scalar | null {
  if (type !== Scalar.QUOTE_DOUBLE && type !== Scalar.QUOTE_SINGLE) return null;
  const isSingle = type === Scalar.QUOTE_SINGLE && !UNPRINTABLE.test(value);
  return new Scalar(new Written(isSingle ? `'${value.replaceAll("'", "''")}'` : doubleQuoted(value)));
}

/**
 * Returns a text of several lines as a literal block; null if it has only one line, or if a block would not keep every
 * character.
 */
function blockText(value: JsonValue): Written | null {
  if (typeof value !== "string" || !/\S\n+\S/.test(value) || UNPRINTABLE.test(value)) return null;
  const lines = value.split("\n");
  const isEnded = lines.at(-1) === "";
  if (isEnded) lines.pop();
  if (/^\s/.test(value) || lines.at(-1) === "" || lines.some((line) => /\s$|\t/.test(line))) return null;
  return new Written(isEnded ? "|" : "|-", lines);
}

function printScalar(value: JsonValue): string {
  if (typeof value !== "string") return Object.is(value, -0) ? "-0" : String(value);
  return isPlain(value) ? value : doubleQuoted(value);
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
