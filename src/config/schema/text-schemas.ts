import * as z from "zod/mini";
import type { FormatCode } from "../diagnostics/problem.ts";
import { MAX_METADATA } from "./limits.ts";
import { EMAIL, NOT_BLANK, ONE_LINE, VARIABLE } from "./patterns.ts";

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
