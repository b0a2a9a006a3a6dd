import type { RuleCode } from "../../model/diagnostic.ts";
import type { Code, FormatCode, Kind, Path, ProblemData } from "../problems/problem.ts";
import { maskKeys } from "../problems/secrets.ts";

/** A message, and a hint on what to do. */
export interface MessageText {
  readonly message: string;
  readonly hint?: string;
}

/** Messages by code; `first` is the location of the first occurrence. */
export type MessageTable<C extends Code> = {
  readonly [K in Exclude<C, RuleCode>]: (
    problem: Extract<ProblemData, { code: K }>,
    first: string,
  ) => MessageText;
};

/** Returns the message of a violation, as worded by the planner. */
export function judgedMessage(
  { message, hint }: { readonly message: string; readonly hint: string },
  first: string,
): { readonly message: string; readonly hint: string } {
  return { message, hint: first === "" ? hint : `${hint} The other role: ${first}.` };
}

/** Types the message of a format code. */
export function formatMessages(
  words: (problem: { readonly path: Path; readonly value: unknown }) => MessageText,
): (problem: { readonly code: FormatCode; readonly path: Path; readonly value: unknown }) => MessageText {
  return words;
}

/** The kinds of values in a sentence. */
export const KINDS: Readonly<Record<Kind, string>> = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  null: "nothing",
  list: 'a list ("- …")',
  mapping: 'a mapping ("key: …")',
};

/** Example values by key. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  version: "1",
  merchant: "MC4F7K2P",
  name: "Shift Lead",
  role: "Shift Lead",
  email: "ada@example.com",
  key_env: "RETAIL_API_KEY",
  password_env: "TILL_7_PASSWORD",
  from: "2027-01-15",
  can: "refunds_create",
  files: "[access/franchise/**]",
  only: "[ada@example.com]",
  at_most: "2",
  member: "bob@example.com",
  cannot: "[refunds_create]",
};

const MAX_QUOTED = 80;

/** Quotes a value, shortened if it is long. */
export function quote(value: unknown): string {
  // Part of a key would not be recognized as one.
  const text = maskKeys(String(value));
  return `"${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}"`;
}

/** Formats a value as typed in YAML: quoted unless it is a plain word, a number or a boolean. */
export function asWritten(value: unknown): string {
  return typeof value === "string" && !/^[a-z]+$/.test(value) ? quote(value) : String(value);
}

/** Returns a hint that suggests a similar name. */
export function didYouMean(near: string): string {
  const hint = `Did you mean ${quote(near)}?`;
  return near.endsWith("_env")
    ? `${hint} It names an environment variable; the secret itself stays out of the file.`
    : hint;
}

/** Wraps a hint; an empty record if it is `null`. */
export function optionalHint(hint: string | null): { readonly hint?: string } {
  return hint === null ? {} : { hint };
}

const ENTRIES: Readonly<Record<string, string>> = {
  roles: "a role",
  members: "a member",
  leavers: "a leaver",
  checks: "a check",
};

/** Names the mapping at a path. */
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

/** Capitalizes the first letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Names the value at a path, as the subject of a sentence. */
export function subject(path: Path): string {
  const key = path.at(-1);
  if (key === undefined) {
    return "The file";
  }
  const list = path.at(-2);
  if (typeof key === "string") {
    const isChosen = path.length === 3 && (path[0] === "guards" || path[0] === "policies");
    return isChosen ? `${quote(key)} under ${quote(list)}` : quote(key);
  }
  return typeof list === "number" ? `An entry of ${quote(path.at(-3))}` : `An entry of ${quote(list)}`;
}
