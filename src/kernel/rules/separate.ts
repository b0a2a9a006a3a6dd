import { by } from "../../lib/text.ts";
import type { Refusal } from "../../model/plan.ts";
import { list, type Tense } from "../findings/refusals.ts";
import { refusalRule } from "../problems/rule-table.ts";
import type { PersonAccess } from "./access.ts";
import { countWork, holdersBy, STEPS_OF_VIOLATION, subjectOf } from "./judged.ts";
import { breachOf, type Policy, policyRefusal } from "./rule.ts";
import { separateSetting } from "./settings/separate-setting.ts";

/** Lists sets of roles; nobody may hold two roles of a set. */
export const separate = {
  ...separateSetting,
  diagnostics: {
    "policy-separate": refusalRule("Nobody may hold two roles that must be separate (`separate`)."),
  },
  codes: ["separate"],
  list: (sets) =>
    distinct(sets).map((roles) => ({
      text: `separate: ${roles.join(", ")}`,
      keys: [],
      entry: roles,
      violated: keyOf(roles),
      alone: [roles],
    })),
  /** Describes the pairs that no set contains any more; on one line if no set is left. */
  looser: (before, after) =>
    before.flatMap((roles) => {
      const pairs = roles.flatMap((first, index) =>
        roles.slice(index + 1).map((other) => [first, other] as const),
      );
      const free = pairs.filter(([a, b]) => !after.some((set) => set.includes(a) && set.includes(b)));
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
    return distinct(sets).flatMap((roles) => {
      const rule = keyOf(roles);
      // In the order of the names, so that each person's roles are in that order.
      const names = new Map(roles.map((role) => [find(role), role] as const).sort(by(([, role]) => role)));
      const held = new Map<PersonAccess, string[]>();
      for (const name of names.values()) {
        for (const person of holdersBy(name, index, context)) {
          const rolesOfPerson = held.get(person);
          if (rolesOfPerson === undefined) held.set(person, [name]);
          else rolesOfPerson.push(name);
        }
      }
      const broken = [...held].filter(([, together]) => together.length > 1);
      countWork(context, broken.length * STEPS_OF_VIOLATION);
      return broken.sort(by(([{ name }]) => name)).map(([person, together]) => {
        const refusal = (tense: Tense): Refusal => refusalOf(person.name, together, tense === "plan");
        return {
          rule,
          subject: subjectOf(person),
          extent: together,
          check: null,
          refusal,
          breaches() {
            const [first = "", role = ""] = person.roles.filter((key) => names.has(key));
            const subject = { kind: "grant", email: person.name, role, beside: first } as const;
            return [breachOf("policy-separate", "separate", subject, refusal("plan"))];
          },
        };
      });
    });
  },
} as const satisfies Policy<readonly (readonly string[])[]>;

/** Leaves out duplicate sets, which are one rule. */
function distinct(sets: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(sets.map((roles) => [keyOf(roles), roles])).values()];
}

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
    "policies.separate allows only one of these roles: remove the others.",
  );
}
