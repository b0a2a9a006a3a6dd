import * as z from "zod/mini";
import { DOMAIN, matching, optional } from "../../values/text-schemas.ts";
import { allowList, type PolicySetting } from "./setting-kinds.ts";

export const emailDomainsSetting = {
  section: "policies",
  key: "email_domains",
  schema: optional(z.array(matching(DOMAIN, "bad-domain")), {
    title: "Domains of addresses",
    description:
      'The allowed domains of members\' addresses; "*.example.com", quoted, stands for every subdomain of example.com. If absent, any domain is allowed.',
    examples: [["example.com", "*.example.com"]],
  }),
  kind: allowList,
} as const satisfies PolicySetting<readonly string[] | undefined>;
