import type { LiveState } from "../model/live.ts";
import type { Change, MemberChange, Plan } from "../model/plan.ts";
import { changeFingerprint, planFingerprint, seal } from "./fingerprint.ts";
import { sortedSet } from "./order.ts";

/** What an approved plan says to a fresh one. */
export type Approval =
  | { readonly status: "approved" }
  /** It is about another merchant, environment or service. */
  | {
      readonly status: "elsewhere";
      readonly field: "merchant" | "environment" | "service";
      readonly approved: string;
      readonly fresh: string;
    }
  /** Its fingerprints do not match its content. */
  | { readonly status: "tampered" }
  /** The fresh plan has changes that nobody has approved. */
  | { readonly status: "new-changes"; readonly changes: readonly Change[] }
  /** Approved changes of roles that are neither planned any more nor done: others were judged beside them. */
  | { readonly status: "dropped"; readonly changes: readonly Change[] };

/**
 * Whether a fresh plan may be applied on an approval that was given before: its changes have to be among the approved
 * ones, with the same before-values, and what has dropped out has to be done. A half-done apply can so be repeated.
 * `live` is what the fresh plan was made from.
 */
export function approve(fresh: Plan, approved: Plan, live?: Pick<LiveState, "roles">): Approval {
  for (const field of ["merchant", "environment", "service"] as const) {
    if (approved[field] !== fresh[field]) {
      return { status: "elsewhere", field, approved: String(approved[field]), fresh: String(fresh[field]) };
    }
  }
  if (isTampered(approved)) return { status: "tampered" };
  // What was deferred in the approved plan has been seen and wanted, and may be due by now.
  const seen = [...approved.changes, ...approved.deferred.map(({ change }) => change)];
  const known = new Map([...seen, ...seen.flatMap(secondHalf)].map((change) => [change.fingerprint, change]));
  const wider = widened(fresh, approved);
  const changes = fresh.changes.filter((change) => {
    const same = known.get(change.fingerprint);
    return same === undefined || !meansTheSameRoles(change, same) || wider.has(change.name);
  });
  if (changes.length > 0) return { status: "new-changes", changes };
  const due = new Set(fresh.changes.map(({ fingerprint }) => fingerprint));
  const dropped = approved.changes.filter((change) => !due.has(change.fingerprint) && !isDone(change, live));
  return dropped.length === 0 ? { status: "approved" } : { status: "dropped", changes: dropped };
}

/** What is left of a new invitation when the expired one is gone already. */
function secondHalf(change: Change): readonly Change[] {
  if (change.resource !== "member" || change.kind !== "replace") return [];
  const { resumed: _, fingerprint: __, ...rest } = change;
  return [seal<MemberChange>({ ...rest, kind: "create", id: null, before: null, fields: [] })];
}

/** Roles of one name are one in a fingerprint; that they are one is told by their ids, where both are known. */
function meansTheSameRoles(fresh: Change, approved: Change): boolean {
  if (fresh.resource !== "member" || approved.resource !== "member") return true;
  const ids = approved.after?.roles.map(({ id }) => id) ?? [];
  return (fresh.after?.roles ?? []).every(
    ({ id }, index) => ids[index] === null || id === null || ids[index] === id,
  );
}

/** Whether a change of a role's permissions that is not planned any more has been made, as far as can be seen. */
function isDone(change: Change, live: Pick<LiveState, "roles"> | undefined): boolean {
  if (live === undefined || change.resource !== "role" || change.after === null || change.kind === "replace")
    return true;
  const { name, permissions } = change.after;
  const role = live.roles.find((one) => (change.id === null ? one.name === name : one.id === change.id));
  return sortedSet(role?.permissions ?? []).join("\n") === permissions.join("\n");
}

/**
 * Who would gain more than was approved, though their change is the same: a role has come to grant more meanwhile. Where
 * the approved plan changes roles itself, half of it being done can look like that, and `isDone` is what tells.
 */
function widened(fresh: Plan, approved: Plan): ReadonlySet<string> {
  if (approved.changes.some(({ resource }) => resource === "role")) return new Set();
  const allowed = new Map(approved.impact.members.map(({ name, gained }) => [name, new Set(gained)]));
  const deferred = new Set(approved.deferred.map(({ change }) => change.name));
  return new Set(
    fresh.impact.members
      .filter(({ name, gained }) => !deferred.has(name) && gained.some((one) => !allowed.get(name)?.has(one)))
      .map(({ name }) => name),
  );
}

/** Whether a plan's fingerprints do not match its content: it was edited after it was made. */
function isTampered(plan: Plan): boolean {
  const deferred = plan.deferred.map(({ change }) => change);
  return (
    [...plan.changes, ...deferred].some((change) => changeFingerprint(change) !== change.fingerprint) ||
    planFingerprint(plan, plan.changes) !== plan.fingerprint
  );
}
