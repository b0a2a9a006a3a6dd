import type { SyncMode } from "../../model/desired.ts";
import type { Kind, Path } from "../problems/problem.ts";
import { nearValue } from "../schema/synonyms.ts";
import { daysInMonth, untilMistake } from "../values/dates.ts";
import { PERIOD } from "../values/text-schemas.ts";
import { BEGINNING } from "./yaml-messages.ts";

/** A hint on the syntax of `separate`. */
export const SETS = "Write each set as a list: separate: [[Approver, Payer]].";

/** Hints for invalid paths of includes. */
export const INCLUDE_HINTS = {
  absolute: "Write a path relative to this file, such as ../shared/retail.yaml.",
  backslash: 'Separate folders with "/".',
  pattern: "List each file by its path: patterns are not supported.",
  ending: "Only YAML files can be included; their names end in .yaml or .yml.",
};

/** Hints for texts that are not globs, by mistake. */
export const GLOB_HINTS = {
  absolute: "Write it relative to the project's root, such as access/franchise/**.",
  backslash: 'Separate folders with "/".',
  empty: "For example: access/franchise/**",
  long: "Match folders with ** instead of listing their contents.",
  negated: "A glob selects files; it cannot exclude any.",
  parent: 'Write the path from the project\'s root, without ".", ".." or empty parts.',
};

const FIRST_KEYS: Readonly<Record<string, string>> = {
  roles: "name: ",
  members: "email: ",
  leavers: "email: ",
  checks: "can: ",
};

/** Returns the length of a list, as text. */
export function sizeOf(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : "too many";
}

/** Returns a hint for an unknown key that resembles no known one. */
export function nothingNear(key: string, knownKeys: readonly string[]): string {
  return key === "<<"
    ? "Merge keys are not supported: write the keys out."
    : `Known keys: ${knownKeys.join(", ")}.`;
}

/** Returns a hint for a key without a value. */
export function waysOut(path: Path, [kind]: readonly Kind[]): string {
  const [section, , field] = path;
  const key = path.at(-1);
  if (typeof key === "number") {
    return "Add a value, or remove the entry.";
  }
  if (path.length === 1 && (key === "roles" || key === "members")) {
    return `Write [] for none; remove the key to leave ${key} unmanaged.`;
  }
  if (key === "suspended") {
    return "Write { until: 2027-03-01 }, or true for an indefinite suspension; remove the key for none.";
  }
  const bare = kind === "list" ? "[]" : kind === "mapping" ? "{}" : null;
  const live = path.length === 3 && (section === "roles" || section === "members") && field !== "managed";
  if (live && bare !== null) {
    return `Write ${bare} for none; remove the key to keep the live value.`;
  }
  return key === "description"
    ? 'Write "" to clear it; remove the key to keep the live value.'
    : "Add a value, or remove the key.";
}

/** Returns a hint on converting a value to the wanted kind, `null` if there is none. */
export function conversion(path: Path, kinds: readonly Kind[], value: unknown): string | null {
  if (path.length === 0) {
    return BEGINNING;
  }
  if (path.length === 3 && path[1] === "separate") {
    return SETS;
  }
  if (kinds.includes("boolean") && typeof value === "string") {
    if (PERIOD.test(value)) {
      return `For a period, write { for: ${value} }.`;
    }
    return booleanHint(value);
  }
  if (kinds.includes("text") && (typeof value === "number" || typeof value === "boolean")) {
    return scalarHint(path, value);
  }
  if (kinds.includes("number") && typeof value === "string" && /^\s*\d+\s*$/.test(value)) {
    return `Write it without quotes: ${value.trim()}.`;
  }
  if (kinds.includes("list")) return listHint(path, value);
  return settingHint(path, value) ?? entryHint(path, value);
}

const SYNC_MODES: readonly SyncMode[] = ["authoritative", "additive"];

/** Returns a hint for a setting that was written as one word. */
function settingHint(path: Path, value: unknown): string | null {
  const key = path.at(-1);
  if (key === "sync" && path.length === 1 && !Array.isArray(value)) {
    const mode = (typeof value === "string" ? nearValue(value, SYNC_MODES) : null) ?? "authoritative";
    return `Write { roles: ${mode}, members: ${mode} }, or only one of them.`;
  }
  if (key === "managed" && path.length === 3) {
    const nickname = typeof value === "string" && /^\w[\w .-]*$/.test(value) ? value : "Till 7";
    return value === false
      ? "Remove the key: only a managed user has it."
      : `Write { nickname: ${nickname}, password_env: TILL_7_PASSWORD }: a name, and the variable that holds the password.`;
  }
  return null;
}

function listHint(path: Path, value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") {
    return null;
  }
  if (typeof value === "string" && !value.includes("\n")) {
    return `For a list of one, write [${value}].`;
  }
  return `Begin each entry with "- ${path.length === 1 ? (FIRST_KEYS[String(path[0])] ?? "") : ""}".`;
}

function entryHint([section, index, ...rest]: Path, value: unknown): string | null {
  const firstKey = typeof index === "number" && rest.length === 0 ? FIRST_KEYS[String(section)] : undefined;
  if (firstKey === undefined || typeof value !== "string") return null;
  const key = firstKey.trimEnd();
  return value.startsWith(key)
    ? `Put a space after the colon: "${firstKey}${value.slice(key.length).trimStart()}".`
    : `Write "${firstKey}${value}".`;
}

function booleanHint(value: string): string | null {
  const word = /^(?:(yes|y|on|true)|no|n|off|false)$/i.exec(value);
  return word === null
    ? null
    : `Write ${word[1] === undefined ? "false" : "true"}: in YAML 1.2, ${value} is text.`;
}

function scalarHint(path: Path, value: number | boolean): string {
  const key = String(path.at(-1));
  // The value is probably the secret itself.
  if (key.endsWith("_env")) {
    return "Name an environment variable; never write the secret itself.";
  }
  if (key === "until" || key === "from") {
    return "Write a full date, such as 2027-01-31.";
  }
  if (path.at(-2) === "require_until" && typeof value === "number") {
    return `Write a period, such as ${Math.abs(Math.trunc(value)) || 30}d.`;
  }
  return typeof value === "number"
    ? "YAML reads this as a number. Put it in quotes to make it text."
    : "Put it in quotes to make it text.";
}

/** Returns a hint on the form of an address, or the address inside the value. */
export function addressIn(value: unknown): string {
  if (String(value).includes("*")) return "Patterns are not supported here: write each address.";
  const inside = /<([^<>]+)>/.exec(String(value))?.[1];
  return inside === undefined
    ? "It must have one @ and a domain, such as ada@example.com."
    : `Write only the address: ${inside}`;
}

/** Returns the role that a value probably means. */
export function roleIn(value: unknown): string {
  return (
    String(value)
      .replace(/^role:?\s*/, "")
      .trim() || "Shift Lead"
  );
}

/** Returns a hint on the form of a limit: a count, or a share. */
export function limitHint(value: unknown): string {
  if (typeof value === "number" && value > 0 && value < 1) {
    return `For a percentage, write ${Math.round(value * 100)}%.`;
  }
  return typeof value === "string" && /^\d+$/.test(value)
    ? `Write ${value}% for a percentage, or ${value} without quotes for a count.`
    : "Write a percentage as a whole number from 0 to 100 with a % sign, or a count without one.";
}

/** Returns a hint on the form of `until`. */
export function untilHint(text: string): string {
  switch (untilMistake(text)) {
    case "zone":
      return `A timestamp needs a time zone: ${text}Z for UTC, or ${text}+01:00.`;
    case "day": {
      const [year = 0, month = 0] = text.split("-").map(Number);
      const days = daysInMonth(year, month);
      return days === 0
        ? "The month must be from 01 to 12: write year, month and day, such as 2027-01-31."
        : `This day does not exist: the month has ${days} days.`;
    }
    default:
      return "Write a date such as 2027-01-31, or a timestamp with a time zone, such as 2027-01-31T18:00:00Z.";
  }
}
