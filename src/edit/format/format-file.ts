import { CST, Lexer } from "yaml";
import { toDiagnostics } from "../../kernel/messages/to-diagnostics.ts";
import { YAML_MESSAGES } from "../../kernel/messages/yaml-messages.ts";
import { inFile } from "../../kernel/problems/in-file.ts";
import { isError } from "../../kernel/problems/rule-table.ts";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { parseLayout, printDocument } from "./print-document.ts";
import { type EntryOrder, sortDocument } from "./sort-document.ts";

/** A formatted file, or the reason why it was left unchanged: its size, or YAML that cannot be read. */
export type FormattedFile =
  | { readonly text: string; readonly changed: boolean }
  /** The maximum length, in UTF-16 units, which the file exceeds. */
  | { readonly longest: number }
  | { readonly diagnostics: readonly Diagnostic[] };

/** Maximum length, in UTF-16 units; parsing takes about 500 bytes of memory and 5 µs for each. */
const LONGEST = 700_000;

const BOM = "\uFEFF";

// Each round may make another change possible; no known file needs more than two.
const MAX_ROUNDS = 4;

/** Puts a file in canonical order and style; keeps its meaning, comments, line ends and byte order mark. */
export function formatFile(file: string, text: string, entries: EntryOrder = "kept"): FormattedFile {
  if (text.length > LONGEST) return { longest: LONGEST };
  const { problems } = parse(text);
  if (problems.some(isError)) {
    const located = problems.map((problem) => inFile(file, problem));
    return { diagnostics: toDiagnostics(new Map([[file, text]]), located, YAML_MESSAGES) };
  }
  const mark = text.startsWith(BOM) ? BOM : "";
  const body = text.slice(mark.length);
  const lines = body.replaceAll("\r\n", "\n");
  // If the result would change the meaning, leave the file untouched.
  const formatted = settled(lines, entries) ?? inItsOrder(lines, entries) ?? lines;
  const result = formatted === lines ? text : mark + withLineEnds(formatted, body);
  return { text: result, changed: result !== text };
}

/** Restores the line endings of lines; new lines get the first one of the file. */
function withLineEnds(formatted: string, before: string): string {
  const ends = before.match(/\r?\n/g) ?? [];
  const [first = "\n"] = ends;
  if (ends.every((end) => end === first)) return formatted.replaceAll("\n", first);
  const endsByLine = new Map<string, string[]>();
  // In reverse order, so that `pop` returns the first.
  for (const [, line = "", end = first] of [...before.matchAll(/(.*?)(\r?\n)/g)].reverse()) {
    const same = endsByLine.get(line.trim());
    if (same === undefined) endsByLine.set(line.trim(), [end]);
    else same.push(end);
  }
  return formatted.replaceAll(
    /(.*)\n/g,
    (_, line: string) => line + (endsByLine.get(line.trim())?.pop() ?? first),
  );
}

/** Formats the style of a file that cannot be sorted, then tries once more to sort it. */
function inItsOrder(text: string, entries: EntryOrder): string | null {
  const plain = settled(text, null);
  return plain === null ? null : (settled(plain, entries) ?? plain);
}

/** Formats until nothing changes; null if the meaning would change. `order` null: style only. */
function settled(text: string, order: EntryOrder | null): string | null {
  const before = { text, value: parse(text).value };
  let current: Reading = before;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = format(current, order);
    if (next === current.text) {
      return next;
    }
    const { readable, value } = parse(next ?? "");
    if (next === null || !readable || !sameMeaning(before, { text: next, value })) {
      return null;
    }
    current = { text: next, value };
  }
  return null;
}

function format({ text, value }: Reading, order: EntryOrder | null): string | null {
  const document = parseLayout(text);
  if (document === null) {
    return null;
  }
  if (order !== null) {
    sortDocument(document, value, order);
  }
  return printDocument(document, text);
}

/** A text and its plain value. */
interface Reading {
  readonly text: string;
  readonly value: unknown;
}

/** Compares the meaning and the comments of two texts, ignoring order. */
function sameMeaning(before: Reading, after: Reading): boolean {
  return (
    canonical(before.value) === canonical(after.value) &&
    commentsOf(before.text).join("\n") === commentsOf(after.text).join("\n")
  );
}

function canonical(value: unknown): string {
  const file = fieldsOf(value);
  const entries = (section: string, list: string) =>
    Array.isArray(file[section])
      ? { [section]: sortedBySelf(listOf(file[section]).map((entry) => withSorted(entry, list))) }
      : {};
  return stable({ ...file, ...entries("roles", "permissions"), ...entries("members", "roles") });
}

function withSorted(entry: unknown, key: string): unknown {
  const fields = fieldsOf(entry);
  if (Array.isArray(fields[key])) return { ...fields, [key]: sortedBySelf(listOf(fields[key])) };
  const lists = Object.entries(fieldsOf(fields["adjust"])).filter(([, list]) => Array.isArray(list));
  const sorted = lists.map(([name, list]) => [name, sortedBySelf(listOf(list))]);
  return lists.length === 0
    ? entry
    : { ...fields, adjust: { ...fieldsOf(fields["adjust"]), ...Object.fromEntries(sorted) } };
}

function sortedBySelf(list: readonly unknown[]): readonly unknown[] {
  return list
    .map((item) => ({ item, text: stable(item) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ item }) => item);
}

/** Serializes to JSON with sorted keys. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns the comments of a text, sorted. */
function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let previous = "";
  for (const lexeme of new Lexer().lex(text)) {
    // After that token it is text.
    if (lexeme.startsWith("#") && previous !== CST.SCALAR) {
      comments.push(lexeme.trimEnd());
    }
    previous = lexeme;
  }
  return comments.toSorted();
}
