import { isSameJson } from "../../lib/json-text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import {
  type Change,
  changeId,
  type JudgeSelection,
  type LeftOut,
  type MemberChange,
  type Plan,
  type RoleChange,
} from "../../model/plan.ts";
import { runFingerprint } from "../diff/fingerprint.ts";
import type { FindingData } from "../findings/findings.ts";
import type { AccessChanges } from "../rules/access.ts";
import { judgeRun } from "../rules/overrides.ts";

/** A change that depends on another one. */
interface Dependency {
  /** Fingerprint of the change that depends on the other. */
  readonly dependent: string;
  /** The reason, worded to follow "left out too: ". */
  readonly why: string;
}

/** The dependencies on a change, by its fingerprint. */
export type Dependencies = ReadonlyMap<string, readonly Dependency[]>;

/** Returns the dependencies between the changes of a plan. */
export function dependenciesOf(changes: readonly Change[]): Dependencies {
  const roles = changes.filter((change) => change.resource === "role");
  const members = changes.filter((change) => change.resource === "member");
  const dependencies = new Map<string, Dependency[]>();
  for (const [needed, dependent, why] of [
    ...grantsOfCreatedRoles(roles, members),
    ...removalsOfHeldRoles(roles, members),
    ...namesInUse(roles),
    ...invitationsInTheWay(members),
  ]) {
    const dependents = dependencies.get(needed.fingerprint) ?? [];
    dependents.push({ dependent: dependent.fingerprint, why });
    dependencies.set(needed.fingerprint, dependents);
  }
  return dependencies;
}

/** Returns the chosen changes and all that depend on them. */
export function leftOutWith(dependencies: Dependencies, chosen: Iterable<string>): LeftOut {
  const out = new Map<string, string | null>();
  const queue: string[] = [];
  for (const fingerprint of chosen) {
    out.set(fingerprint, null);
    queue.push(fingerprint);
  }
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const { dependent, why } of dependencies.get(next) ?? []) {
      if (out.has(dependent)) continue;
      out.set(dependent, why);
      queue.push(dependent);
    }
  }
  return out;
}

/** Returns the changes without the chosen ones and all that depend on them. */
export function withoutLeftOut(changes: AccessChanges, chosen: ReadonlySet<string>): AccessChanges {
  if (chosen.size === 0) return changes;
  const out = leftOutWith(dependenciesOf([...changes.roles, ...changes.members]), chosen);
  return {
    roles: changes.roles.filter(({ fingerprint }) => !out.has(fingerprint)),
    members: changes.members.filter(({ fingerprint }) => !out.has(fingerprint)),
  };
}

type DependentPair = readonly [needed: Change, dependent: Change, why: string];

/** Finds members' changes that grant a role which a change creates. */
function* grantsOfCreatedRoles(
  roles: readonly RoleChange[],
  members: readonly MemberChange[],
): Generator<DependentPair> {
  const created = new Map(
    roles.flatMap((change) =>
      change.kind === "create" || (change.kind === "replace" && change.resumed === null)
        ? [[change.name, change]]
        : [],
    ),
  );
  for (const member of members) {
    for (const { id, name } of member.after?.roles ?? []) {
      const role = id === null ? created.get(name) : undefined;
      if (role) yield [role, member, `it needs the role ${name}`];
    }
  }
}

/** Finds removals of roles that members' changes take away: a role that is held cannot be removed. */
function* removalsOfHeldRoles(
  roles: readonly RoleChange[],
  members: readonly MemberChange[],
): Generator<DependentPair> {
  const leaving = new Map(
    roles.flatMap((change) =>
      change.kind === "delete" || change.kind === "replace" ? [[change.id, change]] : [],
    ),
  );
  if (leaving.size === 0) return;
  for (const member of members) {
    const kept = new Set(member.after?.roles.map(({ id }) => id));
    for (const { id } of member.before?.roles ?? []) {
      const role = id === null || kept.has(id) ? undefined : leaving.get(id);
      if (role) yield [member, role, `${member.name} still holds it`];
    }
  }
}

/** Finds changes that give a role the former name of another role: the service requires unique names. */
function* namesInUse(roles: readonly RoleChange[]): Generator<DependentPair> {
  const holders = new Map(roles.flatMap((change) => (change.before ? [[change.before.name, change]] : [])));
  for (const role of roles) {
    const name = role.after?.name;
    const holder = name === undefined ? undefined : holders.get(name);
    if (name !== undefined && holder && holder !== role && role.before?.name !== name) {
      yield [holder, role, `the name ${name} is still taken`];
    }
  }
}

/** Finds invitations to an address whose membership or expired invitation has to be removed first. */
export function* invitationsInTheWay(members: readonly MemberChange[]): Generator<DependentPair> {
  const invited = new Map(
    members.flatMap((change) =>
      change.kind === "create" || change.kind === "replace" ? [[change.name.toLowerCase(), change]] : [],
    ),
  );
  for (const member of members) {
    const invitation = member.kind === "delete" ? invited.get(member.name.toLowerCase()) : undefined;
    if (!invitation) continue;
    const isExpired = member.reason === "invitation-expired";
    yield [
      member,
      invitation,
      `${isExpired ? "an expired invitation" : "a membership"} has the same address`,
    ];
  }
}

/** A merchant's plan, from which parts can be selected. */
export interface SelectablePlan {
  readonly plan: Plan;
  /** Plans the same states without the changes with these fingerprints. */
  readonly planWithout: (leaveOut: ReadonlySet<string>) => Plan;
  readonly files: DesiredState;
  readonly live: LiveState;
}

/**
 * Returns a function that judges selections: impact, risks and refusals are those of what is kept. Only merchants whose
 * selection differs from the last one are judged again. `declared` are all merchants of the project.
 */
export function selectionJudge(
  selectable: readonly SelectablePlan[],
  declared: readonly DesiredState[] = [],
): JudgeSelection {
  const wholePlans = selectable.map(({ plan }) => plan);
  const wholeRun = runFingerprint(wholePlans);
  const dependencies = dependenciesBetween(wholePlans);
  const merchants = selectable.map((each) => {
    const { merchant, changes } = each.plan;
    return { ...each, ids: changes.map((change) => changeId(merchant, change)), partOf: partPlanner(each) };
  });
  return (chosen) => {
    const out = leftOutWith(dependencies, chosen);
    const leaveOut = merchants.map(({ plan, ids }) =>
      withDeferred(plan, (index) => out.has(ids[index] ?? "")),
    );
    if (out.size === 0) return { plans: wholePlans, out, leaveOut, run: wholeRun };
    const parts = merchants.map(({ partOf, files, live }, index) => ({
      plan: partOf(leaveOut[index] ?? NONE),
      files,
      live,
    }));
    const plans = judgeRun(parts, declared);
    return { plans, out, leaveOut, run: runFingerprint(plans) };
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the dependencies between the changes of all merchants, by the ids of the changes. */
export function dependenciesBetween(plans: readonly Plan[]): Dependencies {
  return new Map(
    plans.flatMap(({ merchant, changes }) =>
      [...dependenciesOf(changes)].map(([fingerprint, dependencies]) => [
        changeId(merchant, { fingerprint }),
        dependencies.map(({ dependent, why }) => ({
          dependent: changeId(merchant, { fingerprint: dependent }),
          why,
        })),
      ]),
    ),
  );
}

/**
 * Returns the changes to leave out. If there are any, deferred changes are left out as well: leaving out another
 * change must not make them due.
 */
function withDeferred({ changes, deferred }: Plan, isOut: (at: number) => boolean): ReadonlySet<string> {
  const kept = changes.filter((_, index) => isOut(index));
  if (kept.length === 0) return NONE;
  return new Set([...kept, ...deferred.map(({ change }) => change)].map(({ fingerprint }) => fingerprint));
}

/** Returns a function that plans a part of a plan, and caches the last result. */
function partPlanner({ plan, planWithout, files }: SelectablePlan): SelectablePlan["planWithout"] {
  let last: { readonly leaveOut: ReadonlySet<string>; readonly part: Plan } | null = null;
  // The overrides of a whole run are not part of a plan, and a selection is a different run.
  const { guards, enforced = [] } = files;
  if (
    [guards, ...enforced.map((rules) => rules.guards)].every(({ overrides = [] }) => overrides.length === 0)
  )
    last = { leaveOut: new Set(), part: plan };
  return (leaveOut) => {
    if (last === null || !isSame(last.leaveOut, leaveOut)) last = { leaveOut, part: planWithout(leaveOut) };
    return last.part;
  };
}

function isSame(set: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return set.size === other.size && [...set].every((item) => other.has(item));
}

/** A change that would write a rounded number, and its finding. */
export interface Rounding {
  readonly change: Change;
  readonly finding: FindingData;
}

/** Finds the changes that would write metadata with a number that was rounded on reading. */
export function roundingChanges(
  changes: readonly Change[],
  { roles, members }: LiveState,
): readonly Rounding[] {
  const resources: readonly (LiveRole | LiveMember)[] = [...roles, ...members];
  const rounded = new Set(resources.flatMap(({ id, rounded: properties }) => (properties ? id : [])));
  return changes.flatMap((change): readonly Rounding[] => {
    const { id, after, kind, resource, name } = change;
    if (after === null || !sendsMetadata(change)) return [];
    if (!rounded.has(id ?? "") && !hasUnsafeNumber(after.metadata)) return [];
    const live = resources.find((resource) => resource.id === id);
    const properties = Object.entries(after.metadata).flatMap(([key, value]) =>
      isRounded(key, value, live) ? key : [],
    );
    const finding = { code: "metadata-rounded", name, resource, kind, properties } as const;
    return properties.length === 0 ? [] : [{ change, finding }];
  });
}

function sendsMetadata({ kind, fields }: Change): boolean {
  return kind === "update" ? fields.some(({ field }) => field === "metadata") : kind !== "delete";
}

/**
 * Returns whether a value was rounded. This is recorded for a live value; a journal's value counts as rounded if it is
 * too large to be exact.
 */
function isRounded(key: string, value: JsonValue, live: LiveRole | LiveMember | undefined): boolean {
  const current = live?.metadata[key];
  if (current !== undefined && isSameJson(current, value)) return live?.rounded?.includes(key) ?? false;
  return hasUnsafeNumber(value);
}

function hasUnsafeNumber(value: JsonValue): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeNumber);
}
