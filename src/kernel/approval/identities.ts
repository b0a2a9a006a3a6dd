import type { LiveMember, LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import type { ReviewedResource } from "../../model/reviewed.ts";
import { addressOf } from "../diff/scope.ts";
import { isTemporaryName } from "../fields/temporary-name.ts";
import { nameOfNewRole } from "../plan/reviewed-state.ts";
import type { Seal } from "./seal.ts";

/** Determines which roles and memberships a review now refers to. */
export interface Identities {
  /** Returns the text that now identifies a role: a role that was to be created may exist by now. */
  role(element: string): string;
  /** Returns the key of a membership: the name of the person, unless another membership has that key. */
  member(row: Pick<ReviewedResource, "id" | "name" | "after">): string;
}

/** The live memberships by their keys, and the ids of expired invitations; all sealed. */
export interface Memberships {
  readonly byKey: ReadonlyMap<string, LiveMember>;
  readonly expired: ReadonlySet<string>;
}

/** Finds the live memberships. */
export function membershipsOf({ members }: Pick<LiveState, "members">, seal: Seal): Memberships {
  const byKey = new Map<string, LiveMember>();
  const expired = new Set<string>();
  // Expired invitations come last, so that an accepted membership gets the name.
  for (const member of [...members].sort((a, b) => rankOf(a) - rankOf(b))) {
    const [id, name] = [seal(member.id), seal((addressOf(member) ?? member.id).toLowerCase())];
    if (member.status === "expired") expired.add(id);
    if (!byKey.has(name)) byKey.set(name, member);
    else if (member.status !== "expired") byKey.set(otherKey(name, id), member);
  }
  return { byKey, expired };
}

function rankOf({ status }: LiveMember): number {
  return status === "expired" ? 1 : 0;
}

function otherKey(name: string, id: string): string {
  return `${name} ${id}`;
}

/** Returns whether a key belongs to another membership of the person than the one whose key is the name. */
export function isOtherKey(key: string, name: string): boolean {
  return key.startsWith(otherKey(name, ""));
}

/**
 * Returns a function that identifies the roles and memberships of a review that knows the roles with some ids. A live
 * role that the plan renames, replaces or removes gives up its name if another one takes it.
 */
export function identitiesIn(
  { roles }: LiveState,
  { changes }: Plan,
  { byKey }: Memberships,
  seal: Seal,
): (knownRoles: ReadonlySet<string>) => Identities {
  const leaving = new Set(
    changes.flatMap(({ resource, kind, id, fields }) =>
      resource === "role" && (kind !== "update" || fields.some(({ field }) => field === "name"))
        ? (id ?? [])
        : [],
    ),
  );
  const taken = new Set(
    changes.flatMap((change) =>
      change.resource === "role" && change.after !== null ? change.after.name : [],
    ),
  );
  const present = roles.filter(
    ({ id, name, predefined }) =>
      !predefined && !(leaving.has(id) && taken.has(name)) && !isTemporaryName(name, id),
  );
  const ids = new Map(present.map(({ id, name }) => [name, id]));
  const keys = new Map([...byKey].map(([key, { id }]) => [seal(id), key]));
  return (knownRoles) => ({
    role: (element) => {
      const id = ids.get(nameOfNewRole(element) ?? "");
      return id === undefined || knownRoles.has(id) ? element : id;
    },
    member: ({ id, name, after }) => {
      const live = id === null ? undefined : keys.get(id);
      if (live !== undefined || id === null) return live ?? name;
      // The person to remove is gone, and the address now belongs to somebody else.
      return after === null && byKey.has(name) ? otherKey(name, id) : name;
    },
  });
}
