import * as z from "zod/mini";
import type { Check } from "../../../model/desired.ts";
import type { Path } from "../../problems/problem.ts";
import { described, optional, text } from "../../values/text-schemas.ts";
import { fieldsOf, listOf, textOf } from "../../values/values.ts";
import type { NameOf, SettingName } from "./setting-kinds.ts";

/** A form of checks as files set it, without its judge. `written` comes from a file, or is a check of the form. */
export interface CheckSetting<Form extends Check> {
  /** The keys that a check of the form has. */
  readonly keys: readonly [subject: string, verdict: string];
  readonly schema: z.ZodMiniType;
  /** Parses what the schema has accepted. */
  parse(written: Readonly<Record<string, unknown>>): CheckValues<Form>;
  /** Returns the check with the current names of roles. */
  renamed(check: Form, nameOf: NameOf): Form;
  /** Returns a text that is equal for checks on the same permission or person. */
  subject(check: Form): string;
  names(written: unknown): readonly SettingName[];
  /** The paths of lists that must not have duplicate entries. */
  readonly lists: readonly Path[];
}

/** A check without the fields that all forms have. */
export type CheckValues<Form extends Check> = Omit<Form, "reach" | "origin">;

/** The schema of the permission that a check is about. */
export function canSchema(): z.ZodMiniString {
  return described(text(), {
    title: "Permission",
    description: "The permission to check.",
    examples: ["refunds_create"],
  });
}

/** The schema of the key that makes a check count what people can reach. */
export function reachSchema() {
  return optional(z.boolean(), {
    title: "Reach",
    description:
      "Whether to count permissions that people can give themselves by changing members and roles (policies.escalation). This assumes that the service lets members extend their own access.",
    default: false,
    examples: [true],
  });
}

/** Returns a name at a key of a check. */
export function nameAt(written: unknown, key: string, what: SettingName["what"]): readonly SettingName[] {
  const name = textOf(fieldsOf(written)[key]);
  return name === null ? [] : [{ what, text: name, path: [key], at: "value" }];
}

/** Returns the names in a list at a key of a check. */
export function namesAt(
  written: unknown,
  key: string,
  read: (item: string) => Pick<SettingName, "what" | "text">,
): readonly SettingName[] {
  return listOf(fieldsOf(written)[key]).flatMap((item, index) =>
    textOf(item) === null ? [] : [{ ...read(String(item)), path: [key, index], at: "value" as const }],
  );
}
