import type { Check, DesiredRole, DesiredState } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";

/** The rules of a base branch, with the roles that they name. */
export type BaseRules = Pick<DesiredState, "guards" | "policies" | "checks" | "roles">;

/** Returns a desired state with the rules of its base branch, in which renamed roles have their current names. */
export function withRulesOf(base: BaseRules, head: DesiredState): DesiredState {
  const nameOf = currentNameIn(head, base);
  const namesOf = (roles: readonly string[]): readonly string[] => [...new Set(roles.map(nameOf))];
  const { guards, policies, checks } = base;
  const { protect, minHolders } = guards;
  return {
    ...head,
    guards: {
      ...guards,
      // What a rename touches, it matches by the previous name.
      protect: { ...protect, roles: [...new Set([...protect.roles, ...namesOf(protect.roles)])] },
      ...(minHolders && { minHolders: byName(minHolders, nameOf, Math.max) }),
    },
    policies: {
      ...policies,
      separate: policies.separate.map(namesOf),
      maxHolders: byName(policies.maxHolders, nameOf, Math.min),
      requireUntil: namesOf(policies.requireUntil),
      requireMfa: namesOf(policies.requireMfa),
    },
    checks: checks.map((check) => withCurrentNames(check, nameOf)),
  };
}

/** Returns a lookup of the name that a role of the base branch has in the head branch. */
export function currentNameIn(
  head: Pick<DesiredState, "roles">,
  base: Pick<DesiredState, "roles">,
): (role: string) => string {
  const current = currentNames(base.roles ?? [], head.roles ?? []);
  return (role) => current.get(role) ?? role;
}

function currentNames(
  base: readonly DesiredRole[],
  head: readonly DesiredRole[],
): ReadonlyMap<string, string> {
  const kept = new Set(head.map(({ name }) => name));
  const pinned = new Map(head.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])));
  const renamed = new Map(
    head.flatMap(({ name, previously = [] }) => previously.map((former) => [former, name] as const)),
  );
  const names = base.flatMap(({ id, name }) => {
    const now = pinned.get(id ?? "") ?? (kept.has(name) ? undefined : renamed.get(name));
    return now === undefined || now === name ? [] : [[name, now] as const];
  });
  return new Map([...[...renamed].filter(([name]) => !kept.has(name)), ...names]);
}

function byName(
  numbers: Readonly<Record<string, number>>,
  nameOf: (role: string) => string,
  stricter: (a: number, b: number) => number,
): Readonly<Record<string, number>> {
  const named = new Map<string, number>();
  for (const [role, number] of Object.entries(numbers)) {
    const name = nameOf(role);
    named.set(name, stricter(number, named.get(name) ?? number));
  }
  return Object.fromEntries(named);
}

function withCurrentNames(check: Check, nameOf: (role: string) => string): Check {
  if (check.kind !== "only") return check;
  const holders = check.only.map((holder) =>
    holder.startsWith("role:") ? `role:${nameOf(holder.slice("role:".length))}` : holder,
  );
  return { ...check, only: [...new Set(holders)] };
}

/** Returns the refusals that only the base branch's rules have, with what to do about them. */
export function refusalsOfBase(byBase: readonly Refusal[], own: readonly Refusal[]): readonly Refusal[] {
  const known = new Set(own.map(keyOf));
  return byBase.filter((refusal) => !known.has(keyOf(refusal))).map(refusalOfBase);
}

/** Equal refusals of two branches may state different limits; then they have the same override. */
function keyOf({ rule, code, resource, name, override, message }: Refusal): string {
  return JSON.stringify([rule, code, resource, name, override ?? message]);
}

function refusalOfBase(refusal: Refusal): Refusal {
  const override = refusal.override === null ? "" : ", or override it for this plan";
  return {
    ...refusal,
    message: `${refusal.message} That is the rule of the base branch, which this pull request loosens.`,
    hint: `Merge what loosens the rule first, in a pull request of its own${override}; the input "rules: head" judges by the rules of this pull request only.`,
    by: "base",
  };
}
