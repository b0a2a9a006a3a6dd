import type { JsonValue } from "../../model/json.ts";
import { canonicalKeys } from "../format/sort-document.ts";
import { commentText, DEFAULT_STYLE, printCommentedItem, printItem, printPair } from "./print-value.ts";

/** An entry of a new file's roles or members; with `remark`, one that is commented out. */
export interface NewEntry {
  readonly value: JsonValue;
  /** Stands above the entry, or behind the first line of one that is commented out. */
  readonly comment?: string;
  readonly remark?: boolean;
}

/** The content of a new file. */
export interface NewMerchantFile {
  /** The path or address of the schema, which the first line tells editors. */
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
