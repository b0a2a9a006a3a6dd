import { texts } from "../../values/text-schemas.ts";
import { type PolicySetting, textList } from "./setting-kinds.ts";

export const forbidPermissionsSetting = {
  section: "policies",
  key: "forbid_permissions",
  schema: texts("Forbidden permissions", "Permissions that no custom role may grant.", [["payouts_edit"]]),
  kind: textList("permission"),
} as const satisfies PolicySetting<readonly string[]>;
