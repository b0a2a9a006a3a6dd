import { type UpdateChange, updateParts, withSomeParts } from "../../kernel/diff/change-parts.ts";
import { hash, withFingerprint } from "../../kernel/diff/fingerprint.ts";
import { declaredOver } from "../../kernel/diff/role-changes.ts";
import { wholeScope } from "../../kernel/diff/scope.ts";
import { declaredValues, memberImage, newMemberValues } from "../../kernel/fields/member.ts";
import { fixedValues, roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import { toExistingViolation } from "../../kernel/findings/refusals.ts";
import { dueSince } from "../../kernel/plan/due-since.ts";
import { accessAfter, accessBefore, liveRoleFinder, splitByResource } from "../../kernel/rules/access.ts";
import { besidesEnforced, enforcedSets, refusalOfEnforced } from "../../kernel/rules/base-rules.ts";
import { impactOf } from "../../kernel/rules/impact.ts";
import { judgeLive } from "../../kernel/rules/judge-rules.ts";
import type { Judged } from "../../kernel/rules/judged.ts";
import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type {
  Change,
  FieldDiff,
  Finding,
  Impact,
  MemberChange,
  Plan,
  Refusal,
  RoleChange,
} from "../../model/plan.ts";
import type { Drift, DriftCause, DriftEvent, DriftedChange, DriftViolation } from "../../model/reports.ts";

/**
 * The times at which the declaration of a role or member, and the live one, last changed, in ms since the epoch;
 * `null` if unknown, `-Infinity` if it was never declared.
 */
export interface DriftTimes {
  readonly file: (change: Change) => number | null;
  readonly live: (change: Change) => number | null;
}

/** The part of a plan's input that drift depends on. */
export interface DriftInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
}

/**
 * Turns a plan into drift: the side of each change that changed last, the access that was gained, the broken rules. An
 * update whose parts changed on different sides becomes one change for each side. `across` are rules across merchants
 * that its people break.
 */
export function driftOf(
  input: DriftInput,
  planned: Plan,
  times: DriftTimes,
  across: readonly Refusal[] = [],
): Drift {
  const plan = differencesOf(planned, input.desired, input.live);
  const divided = plan.changes.map((change) => dividedByCause(change, input, plan, times));
  const changes = divided.flatMap(({ parts }) => parts);
  const judged = judgedLive(
    input,
    plan,
    divided.flatMap(({ reverted }) => reverted ?? []),
    across,
  );
  return {
    plan: {
      ...plan,
      changes: changes.map(({ change }) => change),
      findings: findingsOf(plan, judged.violations),
    },
    changes: changes.map(({ drifted }) => drifted),
    ...judged,
  };
}

/** A change, or the parts of one that have one cause. */
interface CausedChange {
  readonly change: Change;
  readonly drifted: DriftedChange;
}

/** Divides a change by the causes of its parts; `reverted` is the part that certainly happened, `null` if none. */
function dividedByCause(
  change: Change,
  { desired }: DriftInput,
  { reviewed }: Plan,
  times: DriftTimes,
): { readonly parts: readonly CausedChange[]; readonly reverted: Change | null } {
  const causedBy = (part: Change): CausedChange => {
    const [fileChangedAt, liveChangedAt] = [times.file(part), times.live(part)];
    const isDue = dueSince(part, desired, reviewed.at) !== null;
    const cause = isDue ? "due" : causeOf(part, fileChangedAt, liveChangedAt);
    const event = eventOf(part, cause);
    const isKnown = fileChangedAt !== null && Number.isFinite(fileChangedAt);
    const { fingerprint } = part;
    const drifted = {
      fingerprint,
      cause,
      event,
      fileChangedAt: isKnown ? fileChangedAt : null,
      liveChangedAt,
    };
    return { change: part, drifted };
  };
  if (change.kind !== "update") {
    const part = causedBy(change);
    return { parts: [part], reverted: isMade(part.drifted.event) ? change : null };
  }
  const caused = updateParts(change).map((part) => ({
    part,
    ...causedBy(withSomeParts(change, new Set([part]))).drifted,
  }));
  const some = (those: readonly { readonly part: string }[]): UpdateChange =>
    those.length === caused.length ? change : withSomeParts(change, new Set(those.map(({ part }) => part)));
  const made = caused.filter(({ event }) => isMade(event));
  return {
    parts: groupByKey(caused, ({ cause }) => cause).map((group) => {
      const part = some(group);
      const fileTimes = group.flatMap(({ fileChangedAt }) => fileChangedAt ?? []);
      const fileChangedAt = fileTimes.length === 0 ? null : Math.max(...fileTimes);
      const { cause, event, liveChangedAt } = group[0];
      const { fingerprint } = part;
      return { change: part, drifted: { fingerprint, cause, event, fileChangedAt, liveChangedAt } };
    }),
    reverted: made.length === 0 ? null : some(made),
  };
}

/** Returns whether an event certainly happened: nobody has lost anything through changes that were never applied. */
function isMade(event: DriftEvent | null): boolean {
  return event === "added" || event === "changed";
}

/** Removes findings that repeat a violation or concern only the revert. */
function findingsOf({ findings }: Plan, violations: readonly Refusal[]): readonly Finding[] {
  const keyOf = ({ code, resource, name }: Finding): string => JSON.stringify([code, resource, name]);
  const reported = new Set(violations.map((violation) => keyOf(toExistingViolation(violation))));
  return findings.filter(
    (finding) => !finding.code.endsWith("-likely-renamed") && !reported.has(keyOf(finding)),
  );
}

/** Precision of a commit's time in ms: the live side has to be later by at least that. */
export const COMMIT_PRECISION = 1000;

/** Reasons of changes that follow although nobody has changed either side. */
const NOBODY_CHANGED: ReadonlySet<Change["reason"]> = new Set([
  "access-ended",
  "left",
  "invitation-expired",
  "address-changed",
]);

function causeOf({ kind, reason }: Change, file: number | null, live: number | null): DriftCause {
  // Only time has passed, or an invitation was accepted.
  if (NOBODY_CHANGED.has(reason)) return "not-applied";
  if (file === null || live === null || kind === "create") return "unknown";
  return live >= file + COMMIT_PRECISION ? "outside-git" : "not-applied";
}

function eventOf({ kind, resource, reason }: Change, cause: DriftCause): DriftEvent | null {
  if (cause === "not-applied" || cause === "due" || (resource === "member" && reason === "immutable-field"))
    return null;
  switch (kind) {
    case "create":
      return "missing";
    case "delete":
      return "added";
    case "update":
    case "replace":
      return "changed";
    default:
      return kind satisfies never;
  }
}

function judgedLive(
  { desired, live }: DriftInput,
  plan: Plan,
  reverted: readonly Change[],
  across: readonly Refusal[],
): Pick<Drift, "impact" | "violations"> {
  // Rules and access include ignored roles and members.
  const scope = wholeScope(live);
  const planned = splitByResource(plan.changes);
  const some = splitByResource(reverted);
  // Changes of members may grant roles that the plan creates.
  const created = planned.roles.filter(({ kind }) => kind === "create");
  const base = { roles: [...new Set([...created, ...some.roles])], members: some.members };
  const apart = accessBefore(scope, base, { mergeReplacedRoles: false });
  const access = accessBefore(scope, planned, { mergeReplacedRoles: true });
  // As in a plan, deferred changes count as done for numbers of holders.
  const waiting = splitByResource(plan.deferred.map(({ change }) => change));
  const settled = accessAfter(access, waiting, { mergeReplacedRoles: true });
  const find = liveRoleFinder(access, accessAfter(access, planned, { mergeReplacedRoles: true }), desired);
  return {
    impact: inverted(impactOf(apart, accessAfter(apart, base, { mergeReplacedRoles: false }), desired)),
    violations: [...brokenRules(desired, { access, settled, find }), ...across].map(toDriftViolation),
  };
}

/** Returns the violations of the file's own rules, and of enforced ones. */
function brokenRules(desired: DesiredState, judged: Judged): readonly Refusal[] {
  const enforced = enforcedSets(desired, undefined).map(({ origin, rules }) => ({
    origin,
    violations: judgeLive(rules, judged),
  }));
  return [
    ...besidesEnforced(
      judgeLive(desired, judged),
      enforced.flatMap(({ violations }) => violations),
    ),
    ...enforced.flatMap(({ origin, violations }) =>
      violations.map((violation) => refusalOfEnforced(origin, violation)),
    ),
  ];
}

/** Inverts the impact of a revert into that of the reverted changes. */
function inverted({ members, permissions, roles, sensitive }: Impact): Impact {
  return {
    members: members.map(({ name, gained, lost, unknownGained, unknownLost, ...rest }) => {
      rest satisfies Record<string, never>;
      return { name, gained: lost, lost: gained, unknownGained: unknownLost, unknownLost: unknownGained };
    }),
    permissions: permissions.map(({ permission, gained, lost }) => ({
      permission,
      gained: lost,
      lost: gained,
    })),
    roles: roles.map(({ name, before, after }) => ({ name, before: after, after: before })),
    ...(sensitive && { sensitive }),
  };
}

function toDriftViolation(refusal: Refusal): DriftViolation {
  const { rule, code, resource, name, check, message, rules } = refusal;
  // Without the holders; otherwise, each new holder would make it a different violation.
  const what = name === null && check === null ? message : null;
  return {
    ...refusal,
    fingerprint: hash({ rule, code, resource, name, check, what, ...(rules && { rules }) }),
  };
}

/** Codes of refusals to change what the service cannot update in place, for which the plan has no change. */
const FIXED_REFUSALS: ReadonlySet<string> = new Set([
  "role-metadata-fixed",
  "role-replace-named",
  "role-replace-pinned",
]);

/**
 * Returns a plan as a list of differences: with the values of roles that the plan refuses to change and the members that it
 * cannot create, and without the moves of members to the successors of replaced roles.
 */
export function differencesOf(plan: Plan, desired: DesiredState, live: LiveState): Plan {
  const refused = plan.refusals.flatMap(({ code, name }) => (FIXED_REFUSALS.has(code) ? (name ?? []) : []));
  const replaced = new Map(
    plan.changes.flatMap(({ resource, kind, id, name }) =>
      resource === "role" && kind === "replace" ? [[id, name] as const] : [],
    ),
  );
  const uncreated = plan.findings.flatMap(({ code, name }) =>
    code === "member-needs-roles" ? missingMember(name, desired) : [],
  );
  if (refused.length + replaced.size + uncreated.length === 0) return plan;
  const fixed = new Map(
    refused.flatMap((name) => {
      const change = fixedChange(name, plan.changes, desired, live);
      return change === null ? [] : [[name, change] as const];
    }),
  );
  const otherChanges = plan.changes.filter(({ resource, name }) => resource !== "role" || !fixed.has(name));
  return {
    ...plan,
    changes: [
      ...fixed.values(),
      ...otherChanges.map((change) =>
        change.resource === "member" ? withoutMoves(change, replaced) : change,
      ),
      ...uncreated,
    ],
  };
}

function fixedChange(
  name: string,
  changes: readonly Change[],
  { roles = [] }: DesiredState,
  { roles: live }: LiveState,
): RoleChange | null {
  const declared = roles.find((role) => role.name === name);
  const planned = changes.find((change) => change.resource === "role" && change.name === name);
  const keys = [planned?.id, declared?.id, name, ...(declared?.previously ?? [])];
  const role = keys.flatMap(
    (key) => live.find((candidate) => key && (candidate.id === key || candidate.name === key)) ?? [],
  )[0];
  if (declared === undefined || role === undefined) return null;
  if (planned !== undefined && (planned.resource !== "role" || planned.kind !== "update")) return null;
  const before = roleImage(role);
  const fixed = fixedValues(declaredOver(before, declared));
  const after = { ...(planned?.after ?? before), ...fixed };
  return withFingerprint<RoleChange>({
    resource: "role",
    kind: "update",
    id: role.id,
    name,
    before,
    after,
    fields: roleDiffs(before, after),
    reason: "declared",
  });
}

/** Returns the creation of a declared member whose roles are not in the file. */
function missingMember(name: string, { members = [] }: DesiredState): readonly MemberChange[] {
  const declared = members.find(({ email }) => email === name);
  if (declared === undefined) return [];
  const identity = { email: declared.email, status: null, passwordEnv: declared.managed?.passwordEnv };
  const after = memberImage(identity, newMemberValues(declaredValues(declared)));
  const change = { resource: "member", kind: "create", id: null, name, before: null, after } as const;
  return [withFingerprint<MemberChange>({ ...change, fields: [], reason: "declared" })];
}

/** Removes the moves to the successors of replaced roles from a member's change. */
function withoutMoves(change: MemberChange, replaced: ReadonlyMap<string | null, string>): MemberChange {
  if (change.kind !== "update" || change.reason === "immutable-field") return change;
  const fields = change.fields.flatMap((diff): readonly FieldDiff[] => {
    if (diff.field !== "roles") return [diff];
    const replacedNames = new Set(diff.removed.flatMap(({ id }) => replaced.get(id) ?? []));
    const moved = new Set(diff.added.flatMap(({ name }) => (replacedNames.has(name) ? name : [])));
    const added = diff.added.filter(({ name }) => !moved.has(name));
    const removed = diff.removed.filter(({ id }) => !moved.has(replaced.get(id) ?? ""));
    return added.length + removed.length === 0 ? [] : [{ ...diff, added, removed }];
  });
  return fields.length === 0 ? { ...change, reason: "immutable-field" } : { ...change, fields };
}
