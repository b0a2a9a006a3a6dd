import { DEFAULT_ESCALATION, type Escalation } from "../model/desired.ts";
import type { ReachStep } from "../model/plan.ts";
import type { Access, PersonAccess, RoleAccess } from "./access.ts";

/** What a member can give itself, beside what it holds. */
export interface Reach {
  /** Returns the steps to a permission: none if it is held; `null` if it cannot be reached. */
  stepsTo(permission: string): readonly ReachStep[] | null;
  /** The steps to any permission at all; `null` if only those of existing roles can be reached. */
  readonly anything: readonly ReachStep[] | null;
}

/** Creates a function that finds what a member can reach; members with the same roles share one answer. */
export function reaching(
  access: Access,
  escalation: Partial<Escalation> = {},
): (person: Pick<PersonAccess, "roles">) => Reach {
  const all = [...access.roles].flatMap(([key, role]) => (access.removed.has(key) ? [] : [role]));
  const ways = { ...DEFAULT_ESCALATION, ...escalation };
  const known = new Map<string, Reach>();
  return ({ roles }) => {
    const key = JSON.stringify(roles);
    const found = known.get(key) ?? reachOf(heldRoles(roles, access), all, ways);
    known.set(key, found);
    return found;
  };
}

function heldRoles(keys: readonly string[], { roles, removed }: Access): readonly RoleAccess[] {
  return keys.flatMap((key) => (removed.has(key) ? [] : (roles.get(key) ?? [])));
}

type Steps = readonly ReachStep[];

/** Stands for every permission there is. */
const ANYTHING = Symbol("anything");

/** The shortest known steps by permission. */
type Ways = Map<string | typeof ANYTHING, Steps>;

/** Follows the permissions that lead to others, until no step adds one or shortens a way. */
function reachOf(held: readonly RoleAccess[], all: readonly RoleAccess[], escalation: Escalation): Reach {
  const ways: Ways = new Map(
    held.flatMap(({ permissions }) => permissions ?? []).map((permission) => [permission, []]),
  );
  let found = true;
  while (found) {
    found = false;
    for (const [permission, steps] of furtherWays(ways, held, all, escalation)) {
      const best = ways.get(permission);
      if (best !== undefined && best.length <= steps.length) continue;
      ways.set(permission, steps);
      found = true;
    }
  }
  const anything = ways.get(ANYTHING) ?? null;
  return {
    anything,
    stepsTo: (permission) => {
      const way = ways.get(permission) ?? null;
      return way === null || (anything !== null && anything.length < way.length) ? anything : way;
    },
  };
}

/** Yields where the permissions that can be reached lead, one step further. */
function* furtherWays(
  ways: Ways,
  held: readonly RoleAccess[],
  all: readonly RoleAccess[],
  { assign, edit, create }: Escalation,
): Generator<readonly [permission: string | typeof ANYTHING, steps: Steps]> {
  const [assigning, editing, creating] = [assign, edit, create].map((some) => shortestWay(some, ways));
  const own = held.find(({ custom }) => custom);
  if (editing && own) yield [ANYTHING, withStep(editing.steps, step("edit", editing, own.name))];
  if (!assigning) return;
  for (const { name, permissions } of all) {
    const steps = withStep(assigning.steps, step("assign", assigning, name));
    for (const permission of permissions ?? []) yield [permission, steps];
  }
  const custom = all.filter((role) => role.custom);
  const given = custom.find(({ name }) => editing?.steps.some(({ role }) => role === name)) ?? custom[0];
  if (editing && given) {
    const both = joined(editing.steps, assigning.steps);
    const assigned = withStep(both, step("assign", assigning, given.name));
    yield [ANYTHING, withStep(assigned, step("edit", editing, given.name))];
  }
  if (creating) {
    const made = withStep(joined(creating.steps, assigning.steps), step("create", creating, null));
    yield [ANYTHING, withStep(made, step("assign", assigning, null))];
  }
}

function step(does: ReachStep["does"], { permission }: Way, role: string | null): ReachStep {
  return { does, by: permission, role };
}

/** The way to one of several permissions. */
interface Way {
  readonly permission: string;
  readonly steps: Steps;
}

function shortestWay(permissions: readonly string[], ways: Ways): Way | null {
  let best: Way | null = null;
  for (const permission of permissions) {
    const steps = ways.get(permission);
    if (steps !== undefined && (best === null || steps.length < best.steps.length))
      best = { permission, steps };
  }
  return best;
}

function withStep(steps: Steps, step: ReachStep): Steps {
  return joined(steps, [step]);
}

/** Joins steps; one that both have is taken once. */
function joined(one: Steps, other: Steps): Steps {
  const isSame = (a: ReachStep, b: ReachStep): boolean => a.does === b.does && a.role === b.role;
  return [...one, ...other.filter((step) => !one.some((known) => isSame(known, step)))];
}
