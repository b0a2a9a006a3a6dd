import { quoted } from "../../lib/text.ts";
import { list, ruleAdvice } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import { listOf, textOf } from "../values/values.ts";
import { subjectOf } from "./judged.ts";
import { breachOf, type Policy, policyRefusal } from "./rule.ts";
import { emailDomainsSetting } from "./settings/email-domains-setting.ts";

const KEY = "email-domains";

/** Domains that members' addresses may have. */
export const emailDomains = {
  ...emailDomainsSetting,
  diagnostics: {
    "policy-email-domain": refusalRule(
      "Members' addresses must be in the allowed domains (`email_domains`).",
    ),
  },
  codes: ["email-domains"],
  list: (domains) =>
    domains === undefined
      ? []
      : [
          {
            text: `email_domains: ${domains.join(", ") || "none"}`,
            keys: [],
            entry: null,
            violated: KEY,
            alone: domains,
          } as const,
        ],
  looser(before, after) {
    if (before === undefined) return [];
    if (after === undefined) return ["addresses may be in any domain"];
    const isAllowed = domainTest(before);
    const lowerDomains = new Set(before.map((domain) => domain.toLowerCase()));
    return after
      .filter((domain) => {
        const lower = domain.toLowerCase();
        // If "*.example.com" was allowed, "*.it.example.com" allows nothing new.
        return !lowerDomains.has(lower) && !isAllowed(`@${lower.replace(/^\*\./, "any.")}`);
      })
      .map((domain) => `addresses may be in ${domain}`);
  },
  lint(written, { addresses, isLive }) {
    if (addresses === null) return [];
    const used = addresses.map((address) => address.toLowerCase().replace(/^.*@/s, ""));
    return listOf(written).flatMap((entry, index) => {
      const allowed = textOf(entry);
      if (allowed === null) return [];
      const domain = allowed.toLowerCase();
      const isUsed = used.some((memberDomain) =>
        domain.startsWith("*.") ? memberDomain.endsWith(domain.slice(1)) : memberDomain === domain,
      );
      if (isUsed) return [];
      return [
        {
          code: "unused-domain",
          path: [index],
          message: `No member${isLive ? "" : " of the files"} has an address of ${quoted(allowed)}, which is allowed.`,
          hint: "Remove it from the list, so that nobody is invited there by mistake.",
        },
      ];
    });
  },
  isOff: (domains) => domains === undefined,
  judge(domains, { index, enforcedBy }) {
    if (domains === undefined) return [];
    const isAllowed = domainTest(domains);
    return index.people
      .filter(({ email }) => email !== null && !isAllowed(email))
      .map((person) => {
        const { name } = person;
        const refusal = policyRefusal(
          KEY,
          "member",
          name,
          `The address ${name} is in none of the allowed domains: ${list(domains) || "there are none"}.`,
          `Use another address, or ${ruleAdvice("add the domain to policies.email_domains", enforcedBy)}.`,
        );
        return {
          rule: KEY,
          subject: subjectOf(person),
          extent: [],
          check: null,
          refusal: () => refusal,
          breaches: () => [
            breachOf("policy-email-domain", "email_domains", { kind: "member", email: name }, refusal),
          ],
        };
      });
  },
} as const satisfies Policy<readonly string[] | undefined>;

/** Returns a function that tests an address against the allowed domains. */
function domainTest(domains: readonly string[]): (email: string) => boolean {
  const lower = domains.map((domain) => domain.toLowerCase());
  const whole = new Set(lower.filter((domain) => !domain.startsWith("*.")));
  const parents = new Set(lower.filter((domain) => domain.startsWith("*.")).map((domain) => domain.slice(2)));
  return (email) => {
    const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
    const labels = domain.slice(0, MAX_DOMAIN).split(".");
    return (
      whole.has(domain) || labels.some((_, index) => index > 0 && parents.has(labels.slice(index).join(".")))
    );
  };
}

// Longest domain name.
const MAX_DOMAIN = 253;
