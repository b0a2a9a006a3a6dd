import { createHash, createHmac } from "node:crypto";
import { normalizeServiceUrl, sortedSet } from "../../lib/text.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, MemberChange, Plan, RoleChange } from "../../model/plan.ts";
import { changeFingerprint, planFingerprint, withFingerprint } from "../diff/fingerprint.ts";

/** The result of comparing a fresh plan with an approved one. */
export type Approval =
  | { readonly status: "approved" }
  /** The approved plan is for another merchant, environment or service. */
  | {
      readonly status: "elsewhere";
      readonly field: "merchant" | "environment" | "service";
      readonly approved: string;
      readonly fresh: string;
    }
  /** The approved plan's fingerprints do not match its content. */
  | { readonly status: "tampered" }
  /** The fresh plan has changes that were not approved. */
  | { readonly status: "new-changes"; readonly changes: readonly Change[] }
  /** Approved changes of roles are neither in the fresh plan nor done; the others were approved along with them. */
  | { readonly status: "dropped"; readonly changes: readonly ChangeName[] };

/** The kind of a change and the name of its target. */
export type ChangeName = Pick<Change, "kind" | "resource" | "name">;

/**
 * Checks if an approval holds for a fresh plan, made from `live`, from the record of the approved plan and its key. Its
 * changes must be approved ones, with the same values before, and approved changes that it lacks must be done.
 */
export function approveByRecord(
  fresh: Plan,
  record: ApprovalRecord,
  live?: Pick<LiveState, "roles">,
  key: string = NO_KEY,
): Approval {
  const elsewhere = findMismatch(fresh, record);
  if (elsewhere) return elsewhere;
  return isRecordTampered(record) ? { status: "tampered" } : judge(fresh, record, live, key);
}

/** Returns whether a fresh plan is for the recorded merchant, environment and service, and has the recorded changes. */
export function isRecordedPlan(fresh: Plan, record: ApprovalRecord, key: string = NO_KEY): boolean {
  const due = (fingerprints: readonly string[]): string => sortedSet(fingerprints).join("\n");
  return (
    findMismatch(fresh, record) === null &&
    !isRecordTampered(record) &&
    due(fresh.changes.map(({ fingerprint }) => keyedHash(fingerprint, key))) === due(record.due)
  );
}

function findMismatch(fresh: Plan, approved: ApprovalRecord): Approval | null {
  for (const field of ["merchant", "environment", "service"] as const) {
    if (!isSameTarget[field](approved[field] ?? "", fresh[field] ?? "")) {
      return { status: "elsewhere", field, approved: String(approved[field]), fresh: String(fresh[field]) };
    }
  }
  return null;
}

const isSameTarget = {
  merchant: (a: string, b: string) => a === b,
  // Empty if neither the file nor the API key's prefix names it.
  environment: (a: string, b: string) => a === b || a === "" || b === "",
  service: (a: string, b: string) => normalizeServiceUrl(a) === normalizeServiceUrl(b),
};

function judge(
  fresh: Plan,
  approved: ApprovalRecord,
  live: Pick<LiveState, "roles"> | undefined,
  key = NO_KEY,
): Approval {
  // Deferred changes were shown with the approved plan, and may be due by now.
  const known = new Set([...approved.due, ...approved.seen]);
  const gainingMore = membersGainingMore(fresh, approved, key);
  const changes = fresh.changes.filter((change) => {
    const hash = keyedHash(change.fingerprint, key);
    return (
      !known.has(hash) ||
      !givesApprovedRoles(change, approved.held[hash] ?? []) ||
      gainingMore.has(change.name)
    );
  });
  if (changes.length > 0) return { status: "new-changes", changes };
  const due = new Set(fresh.changes.map(({ fingerprint }) => keyedHash(fingerprint, key)));
  const dropped = approved.roles.filter((role) => !due.has(role.fingerprint) && !isDone(role, live));
  if (dropped.length === 0) return { status: "approved" };
  return { status: "dropped", changes: dropped.map(({ kind, name }) => ({ kind, resource: "role", name })) };
}

/** Returns whether a change gives the approved roles: fingerprints hold their names only, so known ids are compared. */
function givesApprovedRoles(fresh: Change, ids: readonly (string | null)[]): boolean {
  if (fresh.resource !== "member") return true;
  return (fresh.after?.roles ?? []).every(({ id }, index) => {
    const approved = ids[index];
    return approved === null || id === null || approved === id;
  });
}

/** Returns whether a live role has the permissions of an approved change; `true` without a live state. */
function isDone(
  { id, name, permissions }: RecordedRole,
  live: Pick<LiveState, "roles"> | undefined,
): boolean {
  if (live === undefined) return true;
  const role = live.roles.find((one) => (id === null ? one.name === name : one.id === id));
  return sortedSet(role?.permissions ?? []).join("\n") === permissions.join("\n");
}

/**
 * Returns the members who would gain more than was approved by the same change, because a role grants more by now. Empty
 * if the approved plan changes roles: a part of it being done looks the same, and `isDone` checks those roles.
 */
function membersGainingMore(fresh: Plan, approved: ApprovalRecord, key: string): ReadonlySet<string> {
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
        const member = textHash(name, key);
        return !waiting.has(member) && gained.some((one) => !allowed.get(member)?.has(one));
      })
      .map(({ name }) => name),
  );
}

/** Returns whether a plan was edited after it was made: its fingerprints do not match its content. */
export function isTampered(plan: Plan): boolean {
  const deferred = plan.deferred.map(({ change }) => change);
  return (
    [...plan.changes, ...deferred].some((change) => changeFingerprint(change) !== change.fingerprint) ||
    planFingerprint(plan, plan.changes) !== plan.fingerprint
  );
}

/**
 * The part of an approved plan that an approval is checked with; people are hashes, so it can be public. With a key, every
 * hash and fingerprint in it is keyed, so that nobody can check a guess.
 */
export interface ApprovalRecord {
  readonly merchant: string;
  readonly environment: string | null;
  readonly service: string;
  /** Fingerprint of the plan. */
  readonly fingerprint: string;
  /** Fingerprints of the plan's changes. */
  readonly due: readonly string[];
  /** Fingerprints of the deferred changes, and of the remainders of changes that are half done. */
  readonly seen: readonly string[];
  /** Ids of the roles that a member is to hold, by the change's fingerprint; `null` for a role without an id yet. */
  readonly held: Readonly<Record<string, readonly (string | null)[]>>;
  readonly changesRoles: boolean;
  /** Roles that the plan creates or updates. */
  readonly roles: readonly RecordedRole[];
  /** The members who gain permissions, as hashes. */
  readonly gains: readonly { readonly permissions: readonly string[]; readonly members: readonly string[] }[];
  /** Hashes of the members whose change is deferred. */
  readonly waiting: readonly string[];
}

/** A role that an approved plan creates or updates. */
export interface RecordedRole {
  readonly fingerprint: string;
  readonly kind: "create" | "update";
  readonly id: string | null;
  readonly name: string;
  readonly permissions: readonly string[];
}

/** Records a plan, so that a later apply can be compared with it; the same key is needed for that. */
export function approvalRecord(plan: Plan, key: string = NO_KEY): ApprovalRecord {
  const { merchant, environment, service, changes, impact } = plan;
  const hashOf = ({ fingerprint }: Change): string => keyedHash(fingerprint, key);
  const deferred = plan.deferred.map(({ change }) => change);
  const later = [...deferred, ...[...changes, ...deferred].flatMap(halvesOfRenewal)];
  const groups = new Map<string, { permissions: readonly string[]; members: string[] }>();
  for (const { name, gained } of impact.members) {
    const group = groups.get(gained.join("\n")) ?? { permissions: gained, members: [] };
    group.members.push(textHash(name, key));
    groups.set(gained.join("\n"), group);
  }
  const due = changes.map(hashOf);
  return {
    merchant,
    environment,
    service,
    fingerprint: fingerprintOfDue({ merchant, environment, service, due }),
    due,
    seen: later.map(hashOf),
    held: Object.fromEntries(
      [...changes, ...later].flatMap((change) => {
        const ids = heldRoleIds(change);
        return ids.length === 0 ? [] : [[hashOf(change), ids]];
      }),
    ),
    changesRoles: changes.some(({ resource }) => resource === "role"),
    roles: changes.flatMap((change) =>
      change.resource === "role" ? recordedRole(change, hashOf(change)) : [],
    ),
    gains: [...groups.values()],
    waiting: deferred.map(({ name }) => textHash(name, key)),
  };
}

/** Returns whether a record was edited: its changes' fingerprints do not give its plan's. */
function isRecordTampered(record: ApprovalRecord): boolean {
  return fingerprintOfDue(record) !== record.fingerprint;
}

function fingerprintOfDue({
  merchant,
  environment,
  service,
  due,
}: Pick<ApprovalRecord, "merchant" | "environment" | "service" | "due">): string {
  const target = { merchant, environment: environment as Plan["environment"], service };
  return planFingerprint(
    target,
    due.map((fingerprint) => ({ fingerprint })),
  );
}

/** Without a key, hashes are plain. */
const NO_KEY = "";
const HASH_LENGTH = 32;

/** Hashes a text such as a member's address, ignoring case. */
export function textHash(text: string, key: string): string {
  const lower = text.toLowerCase();
  return key === NO_KEY
    ? createHash("sha256").update(lower).digest("hex").slice(0, HASH_LENGTH)
    : keyedHash(lower, key);
}

/** Returns a fingerprint as records contain it: as it is, or keyed. */
function keyedHash(fingerprint: string, key: string): string {
  return key === NO_KEY
    ? fingerprint
    : createHmac("sha256", key).update(fingerprint).digest("hex").slice(0, HASH_LENGTH);
}

/** Returns the changes of which one remains when the renewal of an expired invitation is half done. */
function halvesOfRenewal(change: Change): readonly Change[] {
  if (change.resource !== "member" || change.kind !== "replace") return [];
  const { resumed: _, fingerprint: __, ...rest } = change;
  return [
    withFingerprint<MemberChange>({ ...rest, kind: "create", id: null, before: null, fields: [] }),
    withFingerprint<MemberChange>({ ...rest, kind: "delete", after: null, fields: [] }),
  ];
}

function heldRoleIds(change: Change): readonly (string | null)[] {
  return change.resource === "member" ? (change.after?.roles ?? []).map(({ id }) => id) : [];
}

function recordedRole({ kind, id, after }: RoleChange, fingerprint: string): readonly RecordedRole[] {
  if (after === null || kind === "replace") return [];
  return [{ fingerprint, kind, id, name: after.name, permissions: after.permissions }];
}
