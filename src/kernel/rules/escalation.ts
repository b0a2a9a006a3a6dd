import * as z from "zod/mini";
import { DEFAULT_ESCALATION, type Escalation } from "../../model/desired.ts";
import { optional, text } from "../values/text-schemas.ts";
import { fieldsOf, omitUndefined } from "../values/values.ts";
import { missingFrom, type Policy } from "./rule.ts";
import { type SettingKind, textList } from "./settings.ts";

type Ways = Partial<Escalation>;

const WAYS = [
  ["assign", "assign roles"],
  ["edit", "change roles"],
  ["create", "create roles"],
] as const satisfies readonly (readonly [keyof Escalation, string])[];

const permissions = textList("permission");

function perWay(list: (key: keyof Escalation) => readonly string[] | undefined): Ways {
  return omitUndefined({ assign: list("assign"), edit: list("edit"), create: list("create") });
}

const ways: SettingKind<Ways | undefined> = {
  combine: (written) =>
    written.length === 0
      ? undefined
      : perWay((key) => {
          const given = written.flatMap((one) =>
            Array.isArray(fieldsOf(one)[key]) ? [fieldsOf(one)[key]] : [],
          );
          return given.length === 0 ? undefined : permissions.combine(given);
        }),
  renamed: (value) => value,
  meaning: (value) => value && WAYS.map(([key]) => value[key] && permissions.meaning(value[key] ?? [])),
  readable: (written) =>
    perWay((key) =>
      Array.isArray(fieldsOf(written)[key]) ? permissions.combine([fieldsOf(written)[key]]) : undefined,
    ),
  names: (written) =>
    Object.entries(fieldsOf(written)).flatMap(([key, list]) =>
      permissions.names(list).map((name) => ({ ...name, path: [key, ...name.path] })),
    ),
  lists: () => [],
  keys: () => [],
  limits: () => [],
};

const way = (title: string, description: string, common: readonly string[]) =>
  optional(z.array(text()), { title, description, default: [...common], examples: [common.slice(0, 1)] });

/** The permissions that lead to others, for checks of what members can reach. */
export const escalation = {
  section: "policies",
  key: "escalation",
  schema: optional(
    z.strictObject({
      assign: way("Assign roles", "Permissions to give a role to a member.", DEFAULT_ESCALATION.assign),
      edit: way("Edit roles", "Permissions to change what a custom role grants.", DEFAULT_ESCALATION.edit),
      create: way("Create roles", "Permissions to create a role.", DEFAULT_ESCALATION.create),
    }),
    {
      title: "Ways to more access",
      description:
        "The permissions with which members can give themselves more, for checks with reach: true.",
      examples: [{ assign: ["members_update"], edit: ["roles_update"], create: [] }],
    },
  ),
  codes: [],
  kind: ways,
  list: () => [],
  looser: (was, is) =>
    WAYS.flatMap(([key, does]) =>
      missingFrom(
        was?.[key] ?? DEFAULT_ESCALATION[key],
        is?.[key] ?? DEFAULT_ESCALATION[key],
        (permission) => `checks no longer count that ${permission} lets somebody ${does}`,
      ),
    ),
  isOff: () => true,
  judge: () => [],
} as const satisfies Policy<Ways | undefined>;
