import type { Check } from "../model/desired.ts";
import type { Refusal } from "../model/plan.ts";
import { type Access, type Granted, granting, isActive, type PersonAccess, rolesGranting } from "./access.ts";
import { checkText } from "./check-text.ts";
import { by } from "./order.ts";
import type { Judgement } from "./policies.ts";
import { refuse } from "./refusals.ts";
import { roleFinder } from "./role-names.ts";

/** Runs the file's tests of access on what a plan leaves behind. */
export function judgeChecks(checks: readonly Check[], after: Access): Judgement {
  if (checks.length === 0) return { refusals: [], discoveries: [] };
  const granted = granting(after);
  const people = after.people
    .filter((person) => isActive(person) && !person.ignored)
    .sort(by(({ name }) => name));
  const results = checks.map((check) => ({ check, ...judgeCheck(check, { after, granted, people }) }));
  return {
    refusals: results.flatMap(({ check, refusals }) =>
      refusals.map((refusal) => ({ ...refusal, check: checkText(check) })),
    ),
    discoveries: results.flatMap(({ discoveries }) => discoveries),
  };
}

interface Context {
  readonly after: Access;
  readonly granted: (person: PersonAccess) => Granted;
  readonly people: readonly PersonAccess[];
}

function judgeCheck(check: Check, context: Context): Judgement {
  switch (check.kind) {
    case "only":
      return judgeOnly(check, context);
    case "at-most":
      return judgeAtMost(check, context);
    case "cannot":
      return judgeCannot(check, context);
    default:
      return check satisfies never;
  }
}

function judgeOnly({ can, only }: Check & { kind: "only" }, { after, granted, people }: Context): Judgement {
  const find = roleFinder(after);
  const allowedRoles = new Set(
    only.flatMap((entry) => (entry.startsWith("role:") ? (find(entry.slice(5)) ?? []) : [])),
  );
  const allowed = new Set(only.map((entry) => entry.toLowerCase()));
  const others = people.filter(
    ({ email, roles }) =>
      !allowed.has(email?.toLowerCase() ?? "") && !roles.some((role) => allowedRoles.has(role)),
  );
  return {
    refusals: others
      .filter((person) => granted(person).permissions.has(can))
      .map((person) => checkOnly(person, can, after)),
    discoveries: unknown(others, can, granted),
  };
}

function checkOnly(person: PersonAccess, permission: string, after: Access): Refusal {
  return refuse({
    code: "check-only",
    name: person.name,
    permission,
    through: rolesGranting(after, person, permission),
  });
}

function judgeAtMost({ can, atMost }: Check & { kind: "at-most" }, { granted, people }: Context): Judgement {
  const holders = people.filter((person) => granted(person).permissions.has(can)).map(({ name }) => name);
  const refusals =
    holders.length > atMost
      ? [refuse({ code: "check-at-most", permission: can, most: atMost, holders })]
      : [];
  return { refusals, discoveries: unknown(people, can, granted) };
}

function judgeCannot(
  { member, cannot }: Check & { kind: "cannot" },
  { after, granted, people }: Context,
): Judgement {
  const meant = people.filter(({ email }) => email?.toLowerCase() === member.toLowerCase());
  return {
    refusals: meant.flatMap((person) =>
      cannot
        .filter((permission) => granted(person).permissions.has(permission))
        .map((permission) =>
          refuse({
            code: "check-cannot",
            name: person.name,
            permission,
            through: rolesGranting(after, person, permission),
          }),
        ),
    ),
    discoveries: cannot.flatMap((permission) => unknown(meant, permission, granted)),
  };
}

/** Where a role does not tell what it grants, a check cannot be sure: said once for each role. */
function unknown(
  people: readonly PersonAccess[],
  permission: string,
  granted: (person: PersonAccess) => Granted,
): Judgement["discoveries"] {
  const roles = new Set(
    people.flatMap((person) => (granted(person).permissions.has(permission) ? [] : granted(person).unknown)),
  );
  return [...roles].sort().map((name) => ({ code: "check-unknown", name, permission }));
}
