import * as z from "zod/mini";
import type { FormatCode } from "../diagnostics/problem.ts";
import { MAX_METADATA } from "./limits.ts";

/** Returns a copy of a schema with what JSON Schema says beyond its form: the title and description that editors show. */
export function described<T extends z.ZodMiniType>(schema: T, meta: z.core.GlobalMeta): T {
  const copy = schema.clone();
  z.globalRegistry.add(copy, meta);
  return copy;
}

/** Describes a key that may be left out. */
export const optional = <T extends z.ZodMiniType>(schema: T, meta: z.core.GlobalMeta) =>
  described(z.optional(schema), meta);

/** Text of a form; a check's message is the code of its problem, and the wording is in messages/. */
export const matching = (pattern: RegExp, code: FormatCode) => z.string().check(z.regex(pattern, code));

/** Text on one line that is not blank. */
export const text = () => matching(NOT_BLANK, "blank-text").check(z.regex(ONE_LINE, "control-character"));

/** An e-mail address. */
export const emailAddress = () => matching(EMAIL, "bad-email");

/** The name of an environment variable. */
export const environmentVariable = () => matching(VARIABLE, "bad-env-name");

/** A list that is empty where it is left out. */
export const texts = (title: string, description: string, examples: readonly string[][]) =>
  optional(z.array(text()), { title, description, default: [], examples });

/** A whole number from 0 up. */
export const count = (code: FormatCode = "bad-count") =>
  described(z.number().check(z.refine((value) => Number.isSafeInteger(value) && value >= 0, code)), {
    type: "integer",
    minimum: 0,
  });

/** User-defined properties, which go to the service as they are. */
export const metadata = () =>
  described(
    z
      .record(z.string(), z.unknown())
      .check(
        z.refine(
          (value) => Object.keys(value).length <= MAX_METADATA,
          "too-many-metadata" satisfies FormatCode,
        ),
      ),
    { maxProperties: MAX_METADATA },
  );

/** Anything but space. */
const NOT_BLANK = /\S/;

/** Without controls, halves of characters, line breaks, and what turns the direction of the text after it. */
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]*$/u;

/** The name of an environment variable. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A merchant's code. */
export const MERCHANT = /^[A-Za-z0-9_-]{1,64}$/;

/** A role's id. */
export const ROLE_ID = /^role_[A-Za-z0-9_-]+$/;

/** A member's id. */
export const MEMBER_ID = /^mem_[A-Za-z0-9_-]+$/;

/** A share of what is live. */
export const SHARE = /^(?:100|[1-9]?[0-9])%$/;

/** A period in weeks, days or hours. */
export const PERIOD = /^[1-9][0-9]{0,4}[wdh]$/;

/** A role as a check names it. */
export const ROLE_ENTRY = /^role:\s*\S/;

/** The domain of an address: labels of letters and digits in any script; "*." before it stands for every subdomain. */
export const DOMAIN =
  /^(?=.{3,255}$)(?:\*\.)?(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

// No space, no invisible character, one @, a dot in the domain; in quotes, what the address may hold in front of the @
// is free. The service has the last word.
const PART = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}\p{Cs}`;
const QUOTED = String.raw`"(?:[^"\\\p{Cc}\p{Cf}\p{Cs}]|\\[^\p{Cc}\p{Cf}\p{Cs}])+"`;

/** An e-mail address. */
export const EMAIL = new RegExp(`^(?:${PART}]+|${QUOTED})@(?:${PART}.]+\\.)+${PART}.]{2,}$`, "u");

/** What is wrong with the path of an included file, before anybody has looked for it; null where nothing is. */
export function includeMistake(path: string): "absolute" | "backslash" | "pattern" | "ending" | null {
  if (/^(?:[/~]|[A-Za-z][A-Za-z0-9+.-]*:)/.test(path)) {
    return "absolute";
  }
  if (path.includes("\\")) {
    return "backslash";
  }
  if (/[*?:\p{Cc}]/u.test(path)) {
    return "pattern";
  }
  // A file of another kind, such as one with secrets, must not end up in a frame.
  return isYamlName(path) ? null : "ending";
}

/** Whether a file's name is one of YAML. */
export function isYamlName(path: string): boolean {
  return /[^/]\.ya?ml$/i.test(path);
}
