import * as z from "zod/mini";
import { DEFAULT_ESCALATION, type Escalation } from "../../../model/desired.ts";
import { optional, text } from "../../values/text-schemas.ts";
import { fieldsOf, omitUndefined } from "../../values/values.ts";
import { asSet, type PolicySetting, type SettingKind, textList } from "./setting-kinds.ts";

type Ways = Partial<Escalation>;

const permissions = textList("permission");

function perWay(list: (key: keyof Escalation) => readonly string[] | undefined): Ways {
  return omitUndefined({ assign: list("assign"), edit: list("edit"), create: list("create") });
}

const ways: SettingKind<Ways | undefined> = {
  combine: (written) =>
    written.length === 0
      ? undefined
      : perWay((key) => {
          const given = written.flatMap((value) =>
            Array.isArray(fieldsOf(value)[key]) ? [fieldsOf(value)[key]] : [],
          );
          return given.length === 0 ? undefined : permissions.combine(given);
        }),
  renamed: (value) => value,
  meaning: (value) => value && perWay((key) => value[key] && asSet(value[key])),
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

export const escalationSetting = {
  section: "policies",
  key: "escalation",
  schema: optional(
    z.strictObject({
      assign: way(
        "Assign roles",
        "Permissions that let their holders give roles to members.",
        DEFAULT_ESCALATION.assign,
      ),
      edit: way(
        "Edit roles",
        "Permissions that let their holders change what a custom role grants.",
        DEFAULT_ESCALATION.edit,
      ),
      create: way(
        "Create roles",
        "Permissions that let their holders create roles.",
        DEFAULT_ESCALATION.create,
      ),
    }),
    {
      title: "Escalation permissions",
      description:
        "The permissions with which members can give themselves more access, for checks with reach: true.",
      examples: [{ assign: ["members_update"], edit: ["roles_update"], create: [] }],
    },
  ),
  kind: ways,
} as const satisfies PolicySetting<Ways | undefined>;
