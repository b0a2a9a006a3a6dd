import { counted } from "../../lib/text.ts";
import type { PersonAccess } from "./access.ts";
import { holdersBy, subjectOf } from "./judged.ts";
import { missingFrom, type Policy, type PolicyContext, policyRefusal } from "./rule.ts";
import { requireMfaSetting } from "./settings/require-mfa-setting.ts";

/** Lists roles whose holders must have MFA on login; for pending members this is unknown. */
export const requireMfa = {
  ...requireMfaSetting,
  codes: ["require-mfa"],
  list: (roles) =>
    roles.map((role) => ({
      text: `require_mfa: ${role}`,
      keys: [],
      entry: role,
      violated: keyOf(role),
      alone: [role],
    })),
  looser: (before, after) =>
    missingFrom(before, after, (role) => `"${role}" no longer requires MFA on login`),
  isOff: (roles) => roles.length === 0,
  judge: (roles, context) =>
    holdersOf(roles, context)
      .filter(({ person }) => person.mfa === false)
      .map(({ role, person }) => ({
        rule: keyOf(role),
        subject: subjectOf(person),
        extent: [],
        check: null,
        refusal: (tense) =>
          policyRefusal(
            "require-mfa",
            "member",
            person.name,
            `${person.name} ${tense === "plan" ? "would hold" : "holds"} "${role}" without MFA on login.`,
            "Ask them to turn on MFA, or remove the role.",
          ),
        // Files do not say who has MFA.
        breaches: () => [],
      })),
  unknown: (roles, context) =>
    holdersOf(roles, context)
      .filter(({ person }) => person.mfa === null)
      .map(({ role, person: { name, status } }) => ({
        finding: { code: "member-mfa-unknown", name, role, invited: UNACCEPTED.has(status) },
        rule: keyOf(role),
        live: `MFA of ${name} is not known.`,
        inFiles: (times) => `Not known from the files: MFA of ${counted(times, "holder")} of "${role}".`,
      })),
} as const satisfies Policy<readonly string[]>;

const UNACCEPTED: ReadonlySet<PersonAccess["status"]> = new Set(["invited", "pending", "expired"]);

function keyOf(role: string): string {
  return `require-mfa ${role}`;
}

/** Returns the holders of roles that require MFA, except service accounts, which nobody logs in as. */
function holdersOf(roles: readonly string[], context: PolicyContext) {
  return roles.flatMap((role) =>
    holdersBy(role, context.index, context)
      .filter(({ serviceAccount }) => !serviceAccount)
      .map((person) => ({ role, person })),
  );
}
