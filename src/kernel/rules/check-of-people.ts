import { counted } from "../../lib/text.ts";
import type { Check } from "../../model/desired.ts";
import type { Breach, BreachSubject, RuleCode } from "../../model/diagnostic.ts";
import type { ReachStep, Refusal } from "../../model/plan.ts";
import { list, type Tense } from "../findings/refusals.ts";
import type { PersonAccess } from "./access.ts";
import { type CheckContext, type CheckViolation, checkRefusal } from "./check.ts";
import { countWork, STEPS_OF_VIOLATION, subjectOf, type WayOfPerson } from "./judged.ts";

/** The wording of a check that judges each person. */
interface PersonCheck {
  readonly code: RuleCode;
  readonly sentence: string;
  /** True if the violations of several people are reported as one problem. */
  readonly isShared?: true;
  subject(permission: string): BreachSubject;
}

/** Returns a violation for each person and permission that the person has, or with `reach` can reach. */
export function violationsOfPeople(
  { reach: isReach }: Pick<Check, "reach">,
  people: readonly PersonAccess[],
  permissions: readonly string[],
  words: PersonCheck,
  context: CheckContext,
): readonly CheckViolation[] {
  const { granted, reach, enforcedBy } = context;
  return people.flatMap((person) => {
    const reachable = isReach ? reach(person) : null;
    const held = granted(person).permissions;
    const has = permissions.filter((permission) =>
      reachable === null ? held.has(permission) : reachable.includes(permission),
    );
    countWork(context, has.length * (STEPS_OF_VIOLATION + person.roles.length));
    return has.map((permission): CheckViolation => {
      const through = rolesGranting(permission, person, context);
      const steps = reachable?.stepsTo(permission) ?? [];
      const way = { name: person.name, permission, through, ...(steps.length > 0 && { steps }) };
      return {
        subject: subjectOf(person),
        extent: [permission],
        ...(words.isShared && {
          shared: { way, breach: (all: WayOfPerson) => breachOfWay(all, words, enforcedBy) },
        }),
        refusal: (tense) => refusalOfWay(way, words, tense, enforcedBy),
        breaches: () => [breachOfWay(way, words, enforcedBy)],
      };
    });
  });
}

/** Returns a person's violation as a problem in the files. */
function breachOfWay(way: WayOfPerson, words: PersonCheck, enforcedBy: string | undefined): Breach {
  const { message, hint } = refusalOfWay(way, words, "plan", enforcedBy);
  return { code: words.code, subject: words.subject(way.permission), message, hint };
}

function refusalOfWay(
  way: WayOfPerson,
  { code, sentence }: PersonCheck,
  tense: Tense,
  enforcedBy: string | undefined,
): Refusal {
  return checkRefusal(code, way.name, `${way.name} ${wayText(way, tense)}; ${sentence}.`, enforcedBy);
}

/** "would have refunds_create, through Refunder", or the steps to it. */
function wayText({ permission, through, steps }: WayOfPerson, tense: Tense): string {
  const isPlan = tense === "plan";
  if (steps === undefined) return `${isPlan ? "would have" : "has"} ${permission}, through ${list(through)}`;
  const way = `in ${counted(steps.length, "step")} (${steps.map(stepText).join(", ")})`;
  return `${isPlan ? "could" : "can"} reach ${permission} ${way}`;
}

/** "members_update: gets Refunder". */
function stepText({ does, by, role }: ReachStep): string {
  switch (does) {
    case "assign":
      return `${by}: gets ${role ?? "the new role"}`;
    case "edit":
      return `${by}: changes ${role ?? "the new role"}`;
    case "create":
      return `${by}: creates a role`;
    default:
      return does satisfies never;
  }
}

/** Returns the names of a member's roles that grant a permission. */
function rolesGranting(
  permission: string,
  person: PersonAccess,
  { access: { roles }, index }: CheckContext,
): readonly string[] {
  const granting = index.granting.get(permission);
  return person.roles.flatMap((key) => (granting?.has(key) ? (roles.get(key)?.name ?? []) : [])).sort();
}
