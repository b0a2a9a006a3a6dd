import { texts } from "../../values/text-schemas.ts";
import { type PolicySetting, textList } from "./setting-kinds.ts";

export const requireMfaSetting = {
  section: "policies",
  key: "require_mfa",
  schema: texts(
    "MFA required",
    "Roles whose holders must have MFA on login. For a member who has not accepted yet, it is unknown.",
    [["role_admin"]],
  ),
  kind: textList("role"),
} as const satisfies PolicySetting<readonly string[]>;
