import { createHash } from "node:crypto";
import type { Change, MemberChange, Plan, RoleChange } from "../model/plan.ts";
import { planFingerprint, withFingerprint } from "./fingerprint.ts";

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
export function isRecordTampered(record: ApprovalRecord): boolean {
  const { merchant, service, fingerprint } = record;
  const environment = record.environment as Plan["environment"];
  const due = record.due.map((one) => ({ fingerprint: one }));
  return planFingerprint({ merchant, environment, service }, due) !== fingerprint;
}

/** A member's address as a record holds it. */
export function nameHash(name: string): string {
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
