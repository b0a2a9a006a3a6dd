import { memoized } from "../../lib/memoized.ts";
import { by, sortedSet } from "../../lib/text.ts";
import { DEFAULT_ESCALATION, type Escalation } from "../../model/desired.ts";
import type { ReachStep } from "../../model/plan.ts";
import type { Access, PersonAccess, RoleAccess } from "./access.ts";

/** Permissions that a member can give itself, besides those that it holds. */
export interface Reach {
  /** Returns whether a permission is held or can be reached. */
  includes(permission: string): boolean;
  /** Returns the steps to a permission: none if it is held; `null` if it cannot be reached. */
  stepsTo(permission: string): readonly ReachStep[] | null;
  /**
   * The permissions of existing roles that are held or can be reached, sorted; all who can assign roles share one
   * list.
   */
  readonly permissions: readonly string[];
  /** The steps to any permission at all; `null` if only those of existing roles can be reached. */
  readonly anything: readonly ReachStep[] | null;
}

/**
 * Creates a function that finds what a member can reach; members with the same roles share one answer. Follows only
 * permissions that lead to others; what these lead to is looked up on demand.
 */
export function reaching(
  access: Access,
  escalation: Partial<Escalation> = {},
): (person: Pick<PersonAccess, "roles">) => Reach {
  const ways = { ...DEFAULT_ESCALATION, ...escalation };
  // Builds the index on first use.
  const worldOf = memoized((_: null) => openWorld(access, ways));
  const waysFrom = memoized((start: Start) => followWays(start, worldOf(null)), JSON.stringify);
  const reachOfRoles = memoized(
    (roles: readonly string[]) => reachOf(heldRoles(roles, access), worldOf(null), waysFrom),
    JSON.stringify,
  );
  return ({ roles }) => reachOfRoles(roles);
}

/** The roles that can be assigned, and which of their permissions lead to others. */
interface World {
  readonly escalation: Escalation;
  readonly custom: readonly RoleAccess[];
  /** Permission that leads to others → names of the roles that grant it. */
  readonly leading: ReadonlyMap<string, ReadonlySet<string>>;
  /** The permissions that roles grant, sorted. */
  readonly permissions: readonly string[];
  /** Returns the names of the roles that grant a permission. */
  granting(permission: string): ReadonlySet<string>;
}

function openWorld({ roles, removed }: Access, escalation: Escalation): World {
  const allRoles = sorted([...roles].flatMap(([key, role]) => (removed.has(key) ? [] : [role])));
  const names = new Map<string, Set<string>>();
  for (const { name, permissions } of allRoles) {
    for (const permission of permissions ?? []) {
      const cached = names.get(permission);
      if (cached === undefined) names.set(permission, new Set([name]));
      else cached.add(name);
    }
  }
  const leads = new Set([...escalation.assign, ...escalation.edit, ...escalation.create]);
  return {
    escalation,
    custom: allRoles.filter((role) => role.custom),
    leading: new Map([...leads].map((permission) => [permission, names.get(permission) ?? NONE])),
    permissions: sortedSet(names.keys()),
    granting: (permission) => names.get(permission) ?? NONE,
  };
}

const NONE: ReadonlySet<string> = new Set();

function heldRoles(keys: readonly string[], { roles, removed }: Access): readonly RoleAccess[] {
  return sorted(keys.flatMap((key) => (removed.has(key) ? [] : (roles.get(key) ?? []))));
}

/** Returns roles in an order that does not depend on the service's. */
function sorted(roles: readonly RoleAccess[]): readonly RoleAccess[] {
  return roles
    .map((role) => [JSON.stringify([role.name, role.id]), role] as const)
    .sort(by(([key]) => key))
    .map(([, role]) => role);
}

type Steps = readonly ReachStep[];

/** Stands for every possible permission. */
const ANYTHING = Symbol("anything");

/** The shortest known steps by permission; only permissions that lead to others. */
type Ways = Map<string | typeof ANYTHING, Steps>;

/** The start of a person's ways to more access; thousands of members share a few starts. */
interface Start {
  /** Held permissions that lead to others. */
  readonly leading: readonly string[];
  /** The first custom role that is held. */
  readonly customRole: string | null;
}

/** Reach from one start. */
interface Followed {
  /** The shortest way to assign roles. */
  readonly assigning: Way | null;
  readonly anything: Steps | null;
}

/** Follows the permissions that lead to others, until no step adds one or shortens a way. */
function followWays({ leading, customRole }: Start, world: World): Followed {
  const ways: Ways = new Map(leading.map((permission) => [permission, []]));
  let assigning: Way | null = null;
  let isGrowing = true;
  while (isGrowing) {
    isGrowing = false;
    assigning = shortestWay(world.escalation.assign, ways);
    for (const [permission, steps] of furtherWays(ways, customRole, world)) {
      const best = ways.get(permission);
      if (best !== undefined && best.length <= steps.length) continue;
      ways.set(permission, steps);
      isGrowing = true;
    }
  }
  return { assigning, anything: ways.get(ANYTHING) ?? null };
}

function reachOf(held: readonly RoleAccess[], world: World, waysFrom: (start: Start) => Followed): Reach {
  const heldPermissions = new Set(held.flatMap(({ permissions }) => permissions ?? []));
  const { assigning, anything } = waysFrom({
    leading: [...world.leading.keys()].filter((permission) => heldPermissions.has(permission)),
    customRole: held.find(({ custom }) => custom)?.name ?? null,
  });
  const isAssigned = (permission: string): boolean =>
    assigning !== null && world.granting(permission).size > 0;
  const wayTo = (permission: string): Steps | null => {
    if (heldPermissions.has(permission)) return [];
    const roles = world.granting(permission);
    if (assigning === null || roles.size === 0) return null;
    return shortestAssignment(assigning, roles);
  };
  return {
    anything,
    get permissions() {
      return assigning === null ? sortedSet(heldPermissions) : world.permissions;
    },
    includes: (permission) => heldPermissions.has(permission) || anything !== null || isAssigned(permission),
    stepsTo: (permission) => {
      const way = wayTo(permission);
      return way === null || (anything !== null && anything.length < way.length) ? anything : way;
    },
  };
}

/** Yields where the permissions that can be reached lead, one step further. */
function* furtherWays(
  ways: Ways,
  customRole: string | null,
  { escalation: { assign, edit, create }, custom, leading }: World,
): Generator<readonly [permission: string | typeof ANYTHING, steps: Steps]> {
  const [assigning, editing, creating] = [assign, edit, create].map((some) => shortestWay(some, ways));
  if (editing && customRole !== null)
    yield [ANYTHING, withStep(editing.steps, step("edit", editing, customRole))];
  if (!assigning) return;
  for (const [permission, names] of leading) {
    if (names.size > 0) yield [permission, shortestAssignment(assigning, names)];
  }
  const given =
    editing && (custom.find(({ name }) => editing.steps.some(({ role }) => role === name)) ?? custom[0]);
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

/** Returns the steps that assign one of the named roles: one that the way already assigns, or else the first. */
function shortestAssignment(assigning: Way, names: ReadonlySet<string>): Steps {
  const isDone = assigning.steps.some(({ does, role }) => does === "assign" && names.has(role ?? ""));
  const [first = ""] = names;
  return isDone ? assigning.steps : withStep(assigning.steps, step("assign", assigning, first));
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

/** Joins steps; a step in both occurs only once. */
function joined(steps: Steps, other: Steps): Steps {
  const isSame = (a: ReachStep, b: ReachStep): boolean => a.does === b.does && a.role === b.role;
  return [...steps, ...other.filter((step) => !steps.some((ownStep) => isSame(ownStep, step)))];
}
