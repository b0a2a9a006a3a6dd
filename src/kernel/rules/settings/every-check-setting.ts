import * as z from "zod/mini";
import type { Check, Origin } from "../../../model/desired.ts";
import type { Path } from "../../problems/problem.ts";
import { described } from "../../values/text-schemas.ts";
import { fieldsOf, listOf } from "../../values/values.ts";
import { atMostSetting } from "./at-most-setting.ts";
import { cannotSetting } from "./cannot-setting.ts";
import type { CheckSetting } from "./check-setting.ts";
import { onlySetting } from "./only-setting.ts";
import type { NameOf, SettingName } from "./setting-kinds.ts";

/**
 * The forms of checks as files set them, by the kinds of checks: everything that reads and writes files loops over
 * these.
 */
const SETTINGS = { only: onlySetting, "at-most": atMostSetting, cannot: cannotSetting } as const satisfies {
  readonly [Kind in Check["kind"]]: CheckSetting<Extract<Check, { readonly kind: Kind }>>;
};

// The table types each form by its checks; the form of a check gets this check and no other.
const LIST = Object.values(SETTINGS) as unknown as readonly CheckSetting<Check>[];

function settingOf({ kind }: Check): CheckSetting<Check> {
  return SETTINGS[kind] as unknown as CheckSetting<Check>;
}

/** The schema of a check: one of the forms. */
export const anyCheckSchema = described(z.union(LIST.map(({ schema }) => schema)), {
  title: "Check",
  description: "A test of the access after a plan.",
});

/** The keys of each form, in the order of the schema. */
export const CHECK_KEYS: readonly (readonly [string, string])[] = LIST.map(({ keys }) => keys);

/** Parses a check that the schema has accepted. */
export function parseCheck(written: unknown, origin: Origin): Check {
  const fields = fieldsOf(written);
  const setting = LIST.find(({ keys: [, verdict] }) => Object.hasOwn(fields, verdict)) as CheckSetting<Check>;
  return {
    ...setting.parse(fields),
    ...(fields["reach"] === true && { reach: true as const }),
    origin,
  } as Check;
}

/** Returns a check with the current names of roles. */
export function renamedCheck(check: Check, nameOf: NameOf): Check {
  return settingOf(check).renamed(check, nameOf);
}

/** Returns a text that is equal for checks of one form on the same permission or person. */
export function subjectOfCheck(check: Check): string {
  return settingOf(check).subject(check);
}

/** Returns the names in a check of a state, or of a file, where it may have the keys of several forms. */
export function namesInCheck(written: unknown): readonly SettingName[] {
  const names = LIST.flatMap((setting) => setting.names(written));
  return [...new Map(names.map((name) => [JSON.stringify(name.path), name])).values()];
}

/** Returns the permissions that a check is about. */
export function permissionsInCheck(check: Check): readonly string[] {
  return settingOf(check)
    .names(check)
    .flatMap(({ what, text }) => (what === "permission" ? text : []));
}

/** Returns the address of the member that a check of a file or state is about; `null` if it is about a permission. */
export function memberOfCheck(written: unknown): string | null {
  const member = namesInCheck(written).find(({ what, path }) => what === "member" && path.length === 1);
  return member?.text ?? null;
}

/** Returns the names in the checks of a file. */
export function namesInChecks(file: Readonly<Record<string, unknown>>): readonly SettingName[] {
  return listOf(file["checks"]).flatMap((check, index) =>
    namesInCheck(check).map((name) => ({ ...name, path: ["checks", index, ...name.path] })),
  );
}

/** Returns the paths of lists in the checks of a file that must not have duplicate entries. */
export function listsInChecks(file: Readonly<Record<string, unknown>>): readonly Path[] {
  return listOf(file["checks"]).flatMap((_, index) =>
    LIST.flatMap(({ lists }) => lists.map((path) => ["checks", index, ...path])),
  );
}
