import { suggest } from "../../lib/suggest.ts";

// Words that other tools use for the same thing.
const VALUES: Readonly<Record<string, string>> = {
  production: "live",
  prod: "live",
  sandbox: "test",
  testing: "test",
  staging: "test",
  strict: "authoritative",
  exclusive: "authoritative",
  add: "additive",
};

const KEYS: Readonly<Record<string, string>> = {
  password: "password_env",
  key: "key_env",
  api_key: "key_env",
  url: "base_url",
  "e-mail": "email",
  mail: "email",
  title: "name",
  includes: "include",
  import: "include",
  extends: "include",
  users: "members",
  tests: "checks",
  asserts: "checks",
  expires: "until",
  expires_at: "until",
  end: "until",
  til: "until",
  till: "until",
  name: "role",
  renamed_from: "previously",
  formerly: "previously",
  max: "at_most",
  protected: "protect",
  exclude: "ignore",
};

/** Returns the candidate key that was probably meant, null if none is similar. */
export function nearKey(key: string, candidates: readonly string[]): string | null {
  return synonym(key, KEYS, candidates) ?? suggest(key, candidates);
}

/** Returns the allowed value that was probably meant, null if none is similar. */
export function nearValue(value: string, allowed: readonly (string | number)[]): string | null {
  const words = allowed.filter((each) => typeof each === "string");
  return synonym(value, VALUES, words) ?? suggest(value, words);
}

function synonym(
  word: string,
  synonyms: Readonly<Record<string, string>>,
  candidates: readonly string[],
): string | null {
  const synonym = Object.hasOwn(synonyms, word.toLowerCase()) ? synonyms[word.toLowerCase()] : undefined;
  return synonym !== undefined && candidates.includes(synonym) ? synonym : null;
}
