import { PREDEFINED_ROLES_BY_ID } from "../state/snapshot.ts";
import type { Account } from "../state/store.ts";

const ONE_MEMBER = ["members.list", "members.retrieve", "members.update", "members.delete"] as const;
const ONE_ROLE = ["roles.list", "roles.retrieve", "roles.update", "roles.delete"] as const;

/** The operations whose target each edit can change. */
const EDITABLE_OPERATIONS = {
  roles: ONE_MEMBER,
  metadata: ONE_MEMBER,
  accept: ONE_MEMBER,
  expire: ONE_MEMBER,
  disable: ONE_MEMBER,
  name: ONE_ROLE,
  description: ONE_ROLE,
  permissions: ONE_ROLE,
  delete: [...ONE_MEMBER, ...ONE_ROLE],
  create: ["members.create", "roles.create"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A concurrent edit of a member or a role. */
export type Edit = keyof typeof EDITABLE_OPERATIONS;
export const EDITS = Object.keys(EDITABLE_OPERATIONS) as readonly Edit[] as readonly [Edit, ...Edit[]];

/** Checks whether an edit can change the target of an operation. */
export function editFits(edit: Edit, operation: string): boolean {
  const operations: readonly string[] = EDITABLE_OPERATIONS[edit];
  return operations.includes(operation);
}

/** A request made as administrator; the path is relative to `/_sandbox`. */
export interface AdminRequest {
  readonly method: "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
}

/** The request that a fault rule hits. */
export interface HitRequest {
  readonly number: number;
  readonly operation: string;
  /** Empty if the operation has none; so is the id. */
  readonly merchant: string;
  readonly id: string;
  readonly query: URLSearchParams;
  /** Body of a creation; undefined for other operations. */
  readonly body: unknown;
}

/** Returns the element of a list that a random number in [0, 1) selects; undefined if the list is empty. */
export function pick<T>(items: readonly T[], chance: number): T | undefined {
  return items[Math.floor(chance * items.length)];
}

/** Checks for an owner; edits never pick one at random, because most tests need it. */
export function isOwner(account: Account, id: string): boolean {
  return account.members.get(id)?.roles.includes("role_owner") ?? false;
}

const STATUS_BEFORE: Partial<Record<Edit, string>> = {
  accept: "pending",
  expire: "pending",
  disable: "accepted",
};

/** Returns the id of the edit's target; for a list request, a random resource that the edit can change. */
function targetOf(edit: Edit, hit: HitRequest, account: Account, chance: number): string | undefined {
  if (hit.id !== "") return hit.id;
  if (hit.operation.startsWith("roles.")) return pick([...account.roles.keys()], chance);
  const status = STATUS_BEFORE[edit];
  const possible = account.memberIds.filter(
    (id) => !isOwner(account, id) && (status === undefined || account.members.get(id)?.status === status),
  );
  return pick(possible, chance);
}

function toggled(items: readonly string[], item: string): readonly string[] {
  return items.includes(item) ? items.filter((other) => other !== item) : [...items, item];
}

function assignable(account: Account): readonly string[] {
  return [...PREDEFINED_ROLES_BY_ID.keys(), ...account.roles.keys()].filter((role) => role !== "role_owner");
}

function memberEdit(
  edit: Edit,
  id: string,
  hit: HitRequest,
  account: Account,
  chance: number,
): AdminRequest | null {
  const path = `/v0.1/merchants/${hit.merchant}/members/${id}`;
  const before = account.members.get(id);
  if (before === undefined) return null;
  switch (edit) {
    case "roles": {
      const role = pick(assignable(account), chance);
      return role === undefined
        ? null
        : { method: "PUT", path, body: { roles: toggled(before.roles, role) } };
    }
    case "metadata": {
      // One property of at most 64 may have to make room.
      const kept = Object.entries(before.metadata ?? {}).slice(0, 63);
      const metadata = { ...Object.fromEntries(kept), edited_in_request: hit.number };
      return { method: "PUT", path, body: { metadata } };
    }
    case "accept":
    case "expire":
    case "disable":
      return { method: "POST", path: `/merchants/${hit.merchant}/members/${id}/${edit}` };
    case "delete":
      return { method: "DELETE", path };
    case "name":
    case "description":
    case "permissions":
    case "create":
      return null;
    default:
      return edit satisfies never;
  }
}

function roleEdit(edit: Edit, id: string, hit: HitRequest, account: Account): AdminRequest | null {
  const path = `/v0.1/merchants/${hit.merchant}/roles/${id}`;
  const before = account.roles.get(id);
  if (before === undefined) return null;
  switch (edit) {
    case "name":
      return { method: "PATCH", path, body: { name: `${before.name} (${hit.number})` } };
    case "description":
      return { method: "PATCH", path, body: { description: `Edited in request ${hit.number}` } };
    case "permissions":
      return {
        method: "PATCH",
        path,
        body: { permissions: toggled(before.permissions, "edited_by_somebody_else") },
      };
    case "delete":
      return { method: "DELETE", path };
    case "roles":
    case "metadata":
    case "accept":
    case "expire":
    case "disable":
    case "create":
      return null;
    default:
      return edit satisfies never;
  }
}

/** Returns the concurrent request to make before the hit one; `null` if there is nothing to edit. */
export function editRequest(
  edit: Edit,
  hit: HitRequest,
  account: Account,
  chance: number,
): AdminRequest | null {
  const isRole = hit.operation.startsWith("roles.");
  if (edit === "create") {
    const path = `/v0.1/merchants/${hit.merchant}/${isRole ? "roles" : "members"}`;
    return { method: "POST", path, body: hit.body };
  }
  const id = targetOf(edit, hit, account, chance);
  if (id === undefined) return null;
  return isRole ? roleEdit(edit, id, hit, account) : memberEdit(edit, id, hit, account, chance);
}
