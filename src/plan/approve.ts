import { createHash } from "node:crypto";
import { sortedSet } from "../lib/order.ts";
import { normalizeServiceUrl } from "../lib/text.ts";
import type { LiveState } from "../model/live.ts";
import type { Change, MemberChange, Plan, RoleChange } from "../model/plan.ts";
import { changeFingerprint, planFingerprint, withFingerprint } from "./fingerprint.ts";

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
  | { readonly status: "dropped"; readonly changes: readonly ChangeName[] };

/** What a change does to what. */
export type ChangeName = Pick<Change, "kind" | "resource" | "name">;

/**
 * Whether a fresh plan may be applied on an approval that was given before: its changes have to be among the approved
 * ones, with the same before-values, and what has dropped out has to be done. A half-done apply can so be repeated.
 * `live` is what the fresh plan was made from.
 */
export function approve(fresh: Plan, approved: Plan, live?: Pick<LiveState, "roles">): Approval {
  const record = approvalRecord(approved);
  const elsewhere = otherPlace(fresh, record);
  if (elsewhere) return elsewhere;
  return isTampered(approved) ? { status: "tampered" } : judge(fresh, record, live);
}

/** The same for an approved plan of which only a record was kept. */
export function approveByRecord(
  fresh: Plan,
  record: ApprovalRecord,
  live?: Pick<LiveState, "roles">,
): Approval {
  const elsewhere = otherPlace(fresh, record);
  if (elsewhere) return elsewhere;
  return isRecordTampered(record) ? { status: "tampered" } : judge(fresh, record, live);
}

/** Whether a fresh plan is the one that was recorded: for the same place, and with the same changes. */
export function isRecordedPlan(fresh: Plan, record: ApprovalRecord): boolean {
  const due = (fingerprints: readonly string[]): string => sortedSet(fingerprints).join("\n");
  return (
    otherPlace(fresh, record) === null &&
    !isRecordTampered(record) &&
    due(fresh.changes.map(({ fingerprint }) => fingerprint)) === due(record.due)
  );
}

function otherPlace(fresh: Plan, approved: ApprovalRecord): Approval | null {
  for (const field of ["merchant", "environment", "service"] as const) {
    if (!isSamePlace[field](approved[field] ?? "", fresh[field] ?? "")) {
      return { status: "elsewhere", field, approved: String(approved[field]), fresh: String(fresh[field]) };
    }
  }
  return null;
}

const isSamePlace = {
  merchant: (a: string, b: string) => a === b,
  // Unknown where neither the file nor the prefix of the key that planned says it.
  environment: (a: string, b: string) => a === b || a === "" || b === "",
  service: (a: string, b: string) => normalizeServiceUrl(a) === normalizeServiceUrl(b),
};

function judge(fresh: Plan, approved: ApprovalRecord, live?: Pick<LiveState, "roles">): Approval {
  // What was deferred in the approved plan has been seen and wanted, and may be due by now.
  const known = new Set([...approved.due, ...approved.seen]);
  const wider = widened(fresh, approved);
  const changes = fresh.changes.filter(
    (change) =>
      !known.has(change.fingerprint) ||
      !meansTheSameRoles(change, approved.held[change.fingerprint] ?? []) ||
      wider.has(change.name),
  );
  if (changes.length > 0) return { status: "new-changes", changes };
  const due = new Set(fresh.changes.map(({ fingerprint }) => fingerprint));
  const dropped = approved.roles.filter((role) => !due.has(role.fingerprint) && !isDone(role, live));
  if (dropped.length === 0) return { status: "approved" };
  return { status: "dropped", changes: dropped.map(({ kind, name }) => ({ kind, resource: "role", name })) };
}

/** Roles of one name are one in a fingerprint; that they are one is told by their ids, where both are known. */
function meansTheSameRoles(fresh: Change, ids: readonly (string | null)[]): boolean {
  if (fresh.resource !== "member") return true;
  return (fresh.after?.roles ?? []).every(({ id }, index) => {
    const approved = ids[index];
    return approved === null || id === null || approved === id;
  });
}

/** Whether a change of a role's permissions that is not planned any more has been made, as far as can be seen. */
function isDone(
  { id, name, permissions }: RecordedRole,
  live: Pick<LiveState, "roles"> | undefined,
): boolean {
  if (live === undefined) return true;
  const role = live.roles.find((one) => (id === null ? one.name === name : one.id === id));
  return sortedSet(role?.permissions ?? []).join("\n") === permissions.join("\n");
}

/**
 * Who would gain more than was approved, though their change is the same: a role has come to grant more meanwhile. Where
 * the approved plan changes roles itself, half of it being done can look like that, and `isDone` is what tells.
 */
function widened(fresh: Plan, approved: ApprovalRecord): ReadonlySet<string> {
  if (approved.changesRoles) return new Set();
  const allowed = new Map(
    approved.gains.flatMap(({ permissions, members }) => {
      const gained = new Set(permissions);
      return members.map((member) => [member, gained] as const);
    }),
  );
  const waiting = new Set(approved.waiting);
  return new Set(
    fresh.impact.members
      .filter(({ name, gained }) => {
        const member = nameHash(name);
        return !waiting.has(member) && gained.some((one) => !allowed.get(member)?.has(one));
      })
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

/** What an approval needs to know of the plan that was approved: hashes in place of people, so that it can be kept in the open. */
export interface ApprovalRecord {
  readonly merchant: string;
  readonly environment: string | null;
  readonly service: string;
  /** Of the plan. */
  readonly fingerprint: string;
  /** Fingerprints of what was to be done. */
  readonly due: readonly string[];
  /** What else was seen: removals that waited, and what is left of a change when half of it is done. */
  readonly seen: readonly string[];
  /** By fingerprint, the ids of the roles that a member was to hold; null where it was not known yet. */
  readonly held: Readonly<Record<string, readonly (string | null)[]>>;
  /** Whether roles were to be changed. */
  readonly changesRoles: boolean;
  /** Roles that were to be there with these permissions. */
  readonly roles: readonly RecordedRole[];
  /** Who was to gain what; people as hashes. */
  readonly gains: readonly { readonly permissions: readonly string[]; readonly members: readonly string[] }[];
  /** Hashes of those whose change was seen, and waited. */
  readonly waiting: readonly string[];
}

/** A role that an approved plan was to create or update. */
export interface RecordedRole {
  readonly fingerprint: string;
  readonly kind: "create" | "update";
  readonly id: string | null;
  readonly name: string;
  readonly permissions: readonly string[];
}

/** Records a plan that was shown, so that an apply can later be held against it. */
export function approvalRecord(plan: Plan): ApprovalRecord {
  const { merchant, environment, service, fingerprint, changes, impact } = plan;
  const deferred = plan.deferred.map(({ change }) => change);
  const later = [...deferred, ...[...changes, ...deferred].flatMap(secondHalf)];
  const groups = new Map<string, { permissions: readonly string[]; members: string[] }>();
  for (const { name, gained } of impact.members) {
    const group = groups.get(gained.join("\n")) ?? { permissions: gained, members: [] };
    group.members.push(nameHash(name));
    groups.set(gained.join("\n"), group);
  }
  return {
    merchant,
    environment,
    service,
    fingerprint,
    due: changes.map((change) => change.fingerprint),
    seen: later.map((change) => change.fingerprint),
    held: Object.fromEntries([...changes, ...later].flatMap(heldBy)),
    changesRoles: changes.some(({ resource }) => resource === "role"),
    roles: changes.flatMap((change) => (change.resource === "role" ? recordedRole(change) : [])),
    gains: [...groups.values()],
    waiting: deferred.map(({ name }) => nameHash(name)),
  };
}

/** Whether a record's fingerprints do not add up to its plan's. */
function isRecordTampered(record: ApprovalRecord): boolean {
  const { merchant, service, fingerprint } = record;
  const environment = record.environment as Plan["environment"];
  const due = record.due.map((one) => ({ fingerprint: one }));
  return planFingerprint({ merchant, environment, service }, due) !== fingerprint;
}

/** A member's address as a record holds it. */
function nameHash(name: string): string {
  return createHash("sha256").update(name.toLowerCase()).digest("hex").slice(0, 32);
}

/** Returns the remaining half of a renewal whose expired invitation is gone already, or still beside the new one. */
function secondHalf(change: Change): readonly Change[] {
  if (change.resource !== "member" || change.kind !== "replace") return [];
  const { resumed: _, fingerprint: __, ...rest } = change;
  return [
    withFingerprint<MemberChange>({ ...rest, kind: "create", id: null, before: null, fields: [] }),
    withFingerprint<MemberChange>({ ...rest, kind: "delete", after: null, fields: [] }),
  ];
}

function heldBy(change: Change): readonly (readonly [string, readonly (string | null)[]])[] {
  if (change.resource !== "member" || change.after === null || change.after.roles.length === 0) return [];
  return [[change.fingerprint, change.after.roles.map(({ id }) => id)]];
}

function recordedRole({ kind, id, after, fingerprint }: RoleChange): readonly RecordedRole[] {
  if (after === null || kind === "replace") return [];
  return [{ fingerprint, kind, id, name: after.name, permissions: after.permissions }];
}
