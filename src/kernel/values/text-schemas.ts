import * as z from "zod/mini";
import type { Metadata } from "../../model/json.ts";
import type { FormatCode } from "../problems/problem.ts";
import { MAX_GLOB, MAX_METADATA } from "./limits.ts";

/** Returns a copy of a schema with what JSON Schema says beyond its form: the title and description that editors show. */
export function described<T extends z.ZodMiniType>(schema: T, meta: z.core.GlobalMeta): T {
  const copy = schema.clone();
  z.globalRegistry.add(copy, meta);
  return copy;
}

/** Describes a key that may be left out. */
export const optional = <T extends z.ZodMiniType>(schema: T, meta: z.core.GlobalMeta) =>
  described(z.optional(schema), meta);

/** Text that matches a pattern; `code` is the problem's code, whose wording is in messages/. */
export const matching = (pattern: RegExp, code: FormatCode) => z.string().check(z.regex(pattern, code));

/** Text on one line, or none. */
export const lineOfText = () => matching(ONE_LINE, "control-character");

/** Text on one line that is not blank. */
export const text = () => matching(NOT_BLANK, "blank-text").check(z.regex(ONE_LINE, "control-character"));

/** An e-mail address. */
export const emailAddress = () => matching(EMAIL, "bad-email");

/** An e-mail address, where a pattern with `*` would go unnoticed. */
export const oneEmailAddress = () => matching(ONE_EMAIL, "bad-email");

/** The name of an environment variable. */
export const environmentVariable = () => matching(VARIABLE, "bad-env-name");

/** A list of texts, empty by default. */
export const texts = (title: string, description: string, examples: readonly string[][]) =>
  optional(z.array(text()), { title, description, default: [], examples });

/** A whole number, 0 or more. */
export const count = (code: FormatCode = "bad-count") =>
  described(z.number().check(z.refine((value) => Number.isSafeInteger(value) && value >= 0, code)), {
    type: "integer",
    minimum: 0,
  });

/** User-defined properties, sent to the service unchanged. YAML's core types are JSON's, and rules refuse other numbers. */
export const metadata = (): z.ZodMiniType<Metadata> =>
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
  ) as z.ZodMiniType as z.ZodMiniType<Metadata>;

const NOT_BLANK = /\S/;

/** Excludes control characters, lone surrogates, line breaks and bidirectional overrides. */
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]*$/u;

/** The name of an environment variable. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A merchant's code. */
export const MERCHANT = /^[A-Za-z0-9_-]{1,64}$/;

/** A role's id. */
export const ROLE_ID = /^role_[A-Za-z0-9_-]+$/;

/** A member's id. */
export const MEMBER_ID = /^mem_[A-Za-z0-9_-]+$/;

/** A percentage. */
export const SHARE = /^(?:100|[1-9]?[0-9])%$/;

/** A period in weeks, days or hours. */
export const PERIOD = /^[1-9][0-9]{0,4}[wdh]$/;

/** A role in a check, such as `role:Shift Lead`. */
export const ROLE_ENTRY = /^role:\s*\S/;

/** The domain of an address: labels of letters and digits in any script; "*." before it stands for every subdomain. */
export const DOMAIN =
  /^(?=.{3,255}$)(?:\*\.)?(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

// No space, no invisible character, one @, a dot in the domain; a quoted part in front of the @ may contain anything.
// The service makes the final decision.
const PART = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}\p{Cs}`;
const QUOTED = String.raw`"(?:[^"\\\p{Cc}\p{Cf}\p{Cs}]|\\[^\p{Cc}\p{Cf}\p{Cs}])+"`;

const ADDRESS = String.raw`(?:${PART}]+|${QUOTED})@(?:${PART}.]+\.)+${PART}.]{2,}$`;

/** An e-mail address. */
export const EMAIL = new RegExp(`^${ADDRESS}`, "u");

/** An e-mail address that nobody could take for a pattern of addresses. */
const ONE_EMAIL = new RegExp(String.raw`^(?![^"]*\*)${ADDRESS}`, "u");

/** Returns why a path cannot be included, without looking for the file; null if it can. */
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

/** Returns why a text is not a glob over the project's files; null if it is one. */
export function globMistake(
  glob: string,
): "empty" | "absolute" | "backslash" | "parent" | "negated" | "long" | null {
  if (glob.trim() === "") return "empty";
  if (glob.length > MAX_GLOB) return "long";
  if (glob.startsWith("!")) return "negated";
  if (/^(?:[/~]|[A-Za-z][A-Za-z0-9+.-]*:)/.test(glob)) return "absolute";
  if (glob.includes("\\")) return "backslash";
  return glob.split("/").some((part) => part === ".." || part === "." || part === "") ? "parent" : null;
}

/** Returns true if a path ends in .yaml or .yml. */
export function isYamlName(path: string): boolean {
  return /[^/]\.ya?ml$/i.test(path);
}
