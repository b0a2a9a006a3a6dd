import type { Code, FormatCode, Kind, Path, ProblemData } from "../diagnostics/problem.ts";
import { maskKeys } from "../diagnostics/secrets.ts";

/** What a problem is called, and what to do about it. */
export interface MessageText {
  readonly message: string;
  readonly hint?: string;
}

/** The words for some codes; `first` says where the same thing stands already. */
export type MessageTable<C extends Code> = {
  readonly [K in C]: (problem: Extract<ProblemData, { code: K }>, first: string) => MessageText;
};

/** The words for a check of the schema's own. */
export function formatMessages(
  words: (problem: { readonly path: Path; readonly value: unknown }) => MessageText,
): (problem: { readonly code: FormatCode; readonly path: Path; readonly value: unknown }) => MessageText {
  return words;
}

/** The kinds of value as sentences name them. */
export const KINDS: Readonly<Record<Kind, string>> = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  null: "nothing",
  list: 'a list ("- …")',
  mapping: 'a mapping ("key: …")',
};

/** What could stand at a key. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  version: "1",
  merchant: "MC4F7K2P",
  name: "Shift Lead",
  role: "Shift Lead",
  email: "ada@example.com",
  key_env: "RETAIL_API_KEY",
  password_env: "TILL_7_PASSWORD",
  can: "refunds_create",
  only: "[ada@example.com]",
  at_most: "2",
  member: "bob@example.com",
  cannot: "[refunds_create]",
};

const MAX_QUOTED = 80;

/** A value in quotes, cut where it is long. */
export function quote(value: unknown): string {
  // Half of a key would not be known for one.
  const text = maskKeys(String(value));
  return `"${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}"`;
}

/** As one would type it: text that reads like another kind of value in quotes, everything else bare. */
export function asWritten(value: unknown): string {
  return typeof value === "string" && !/^[a-z]+$/.test(value) ? quote(value) : String(value);
}

/** The question that offers what was probably meant. */
export function didYouMean(near: string): string {
  const hint = `Did you mean ${quote(near)}?`;
  return near.endsWith("_env")
    ? `${hint} It names an environment variable; the secret itself stays out of the file.`
    : hint;
}

/** A hint, where there is one. */
export function optionalHint(hint: string | null): { readonly hint?: string } {
  return hint === null ? {} : { hint };
}

/** Words joined as a sentence does. */
export function listed(words: readonly string[], last: "and" | "or"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

const ENTRIES: Readonly<Record<string, string>> = { roles: "a role", members: "a member", checks: "a check" };

/** What a path leads to, as the owner of keys. */
export function owner(path: Path): string {
  const key = path.at(-1);
  if (key === undefined) {
    return "the file";
  }
  if (typeof key === "string") {
    return quote(key);
  }
  return path.length === 2 ? (ENTRIES[String(path[0])] ?? "an entry") : `an entry of ${quote(path.at(-2))}`;
}

/** With its first letter in upper case. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a path leads to, as the subject of a sentence. */
export function subject(path: Path): string {
  const key = path.at(-1);
  if (key === undefined) {
    return "The file";
  }
  const list = path.at(-2);
  if (typeof key === "string") {
    return list === "min_holders" || list === "max_holders"
      ? `${quote(key)} under ${quote(list)}`
      : quote(key);
  }
  return typeof list === "number" ? `An entry of ${quote(path.at(-3))}` : `An entry of ${quote(list)}`;
}
