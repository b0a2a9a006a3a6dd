import { by } from "../../lib/text.ts";
import type { Refusal } from "../../model/plan.ts";
import { list } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import type { PersonAccess } from "./access.ts";
import { countWork, holdersBy, STEPS_OF_VIOLATION, subjectOf } from "./checks.ts";
import { breachOf, type Policy, policyRefusal } from "./rule.ts";
import { separateSetting } from "./settings/separate-setting.ts";

/** Sets of roles; nobody may hold two of a set. */
export const separate = {
  ...separateSetting,
  diagnostics: {
    "policy-separate": refusalRule("Nobody holds two roles that are kept separate (`separate`)."),
  },
  codes: ["separate"],
  list: (sets) =>
    sets.map((roles) => ({
      text: `separate: ${roles.join(", ")}`,
      keys: [],
      entry: roles,
      violated: keyOf(roles),
      item: { kind: "separate", roles } as const,
    })),
  /** Returns the pairs of a set that no other set has, in one line if none is left. */
  looser: (was, is) =>
    was.flatMap((roles) => {
      const pairs = roles.flatMap((one, index) =>
        roles.slice(index + 1).map((other) => [one, other] as const),
      );
      const free = pairs.filter(([a, b]) => !is.some((set) => set.includes(a) && set.includes(b)));
      const together = (names: readonly string[]): string =>
        `${names.map((name) => `"${name}"`).join(" and ")} may be held together`;
      return free.length === pairs.length
        ? pairs.length === 0
          ? []
          : [together(roles)]
        : free.map(together);
    }),
  isOff: (sets) => sets.length === 0,
  judge(sets, context) {
    const { index, find } = context;
    return sets.flatMap((roles) => {
      const names = new Map(roles.map((role) => [find(role), role] as const));
      const once = new Set<PersonAccess>();
      const twice = new Set<PersonAccess>();
      for (const role of names.values()) {
        for (const person of holdersBy(role, index, context)) (once.has(person) ? twice : once).add(person);
      }
      countWork(context, twice.size * STEPS_OF_VIOLATION);
      return [...twice].sort(by(({ name }) => name)).map((person) => {
        const { name, roles: held } = person;
        const together = held.flatMap((key) => names.get(key) ?? []).sort();
        return {
          rule: keyOf(roles),
          subject: subjectOf(person),
          extent: together,
          check: null,
          refusal: (tense) => refusalOf(name, together, tense === "plan"),
          breaches() {
            const [first = "", ...others] = held.filter((key) => names.has(key));
            return others.map((role) => {
              const both = [first, role].map((key) => names.get(key) ?? key).sort();
              const subject = { kind: "grant", email: name, role, beside: first } as const;
              return breachOf("policy-separate", "separate", subject, refusalOf(name, both, true));
            });
          },
        };
      });
    });
  },
} as const satisfies Policy<readonly (readonly string[])[]>;

function keyOf(roles: readonly string[]): string {
  return `separate ${JSON.stringify(roles)}`;
}

function refusalOf(name: string, roles: readonly string[], isPlan: boolean): Refusal {
  const together = list(
    roles.map((role) => `"${role}"`),
    " and ",
  );
  return policyRefusal(
    "separate",
    "member",
    name,
    `${name} ${isPlan ? "would hold" : "holds"} ${together} together.`,
    "policies.separate allows only one of them: remove the others.",
  );
}
