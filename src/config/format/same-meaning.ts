import { CST, Lexer } from "yaml";
import { fieldsOf, listOf } from "../values.ts";

/** A text and what it says as plain values. */
export interface Reading {
  readonly text: string;
  readonly value: unknown;
}

/** Whether two texts say the same, whatever the order, and have the same comments. */
export function sameMeaning(before: Reading, after: Reading): boolean {
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
  return Array.isArray(fields[key]) ? { ...fields, [key]: sortedBySelf(listOf(fields[key])) } : entry;
}

function sortedBySelf(list: readonly unknown[]): readonly unknown[] {
  return list
    .map((item) => ({ item, text: stable(item) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ item }) => item);
}

/** JSON with the keys in one order. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Every comment of a text, in the order of their words. */
function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let previous = "";
  for (const lexeme of new Lexer().lex(text)) {
    // Behind that mark it is text.
    if (lexeme.startsWith("#") && previous !== CST.SCALAR) {
      comments.push(lexeme.trimEnd());
    }
    previous = lexeme;
  }
  return comments.toSorted();
}
