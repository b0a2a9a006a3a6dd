import { z } from "zod";
import type { FormatCode } from "../diagnostics/problem.ts";
import { MAX_METADATA } from "./limits.ts";
import { NOT_BLANK, ONE_LINE, VARIABLE } from "./patterns.ts";

/** Text of a form; a check's message is the code of its problem, and the wording is in messages/. */
export const matching = (pattern: RegExp, code: FormatCode) => z.string().regex(pattern, code);

/** Text on one line that is not blank. */
export const text = () => matching(NOT_BLANK, "blank-text").regex(ONE_LINE, "control-character");

/** The name of an environment variable. */
export const environmentVariable = () => matching(VARIABLE, "bad-env-name");

/** A whole number from 0 up. */
export const count = (code: FormatCode = "bad-count") =>
  z
    .number()
    .refine((value) => Number.isSafeInteger(value) && value >= 0, code)
    .meta({ type: "integer", minimum: 0 });

/** User-defined properties, which go to the service as they are. */
export const metadata = () =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).length <= MAX_METADATA, "too-many-metadata" satisfies FormatCode)
    .meta({ maxProperties: MAX_METADATA });

// No space, no invisible character, one @, a dot in the domain; in quotes, what the address may hold in front of the @
// is free. The service has the last word.
const PART = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}\p{Cs}`;
const QUOTED = String.raw`"(?:[^"\\\p{Cc}\p{Cf}\p{Cs}]|\\[^\p{Cc}\p{Cf}\p{Cs}])+"`;

/** An e-mail address. */
export const EMAIL = new RegExp(`^(?:${PART}]+|${QUOTED})@(?:${PART}.]+\\.)+${PART}.]{2,}$`, "u");
