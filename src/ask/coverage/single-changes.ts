import type { CoverageWorld } from "./coverage-world.ts";

const NOTICED = 1;
/** Marks a change that mends a part of a broken rule: it is wanted, not unnoticed. */
const MENDS = 2;

/** The changes that some rule notices, or that mend one, by the indexes of member and role, and of role and permission. */
export interface Marks {
  /** A role given to a member, or taken from one that holds it. */
  readonly grants: Uint8Array;
  /** A permission given to a role, or taken from one that grants it. */
  readonly edits: Uint8Array;
  readonly roles: number;
  readonly permissions: number;
}

/** Creates marks of nothing. */
export function noMarks(people: number, roles: number, permissions: number): Marks {
  return {
    grants: new Uint8Array(people * roles),
    edits: new Uint8Array(roles * permissions),
    roles,
    permissions,
  };
}

/** Marks that a rule notices a role given to a member, or taken. */
export function markGrant({ grants, roles }: Marks, person: number, role: number): void {
  grants[person * roles + role] = NOTICED;
}

/** Marks that a rule notices a permission given to a role, or taken. */
export function markEdit({ edits, permissions }: Marks, role: number, permission: number): void {
  edits[role * permissions + permission] = NOTICED;
}

/** Marks that the loss of a role mends a broken rule, unless another rule notices it. */
export function markMendingGrant({ grants, roles }: Marks, person: number, role: number): void {
  const cell = person * roles + role;
  if (grants[cell] === 0) grants[cell] = MENDS;
}

/** Marks that the loss of a permission mends a broken rule, unless another rule notices it. */
export function markMendingEdit({ edits, permissions }: Marks, role: number, permission: number): void {
  const cell = role * permissions + permission;
  if (edits[cell] === 0) edits[cell] = MENDS;
}

/** Returns whether a role given to a member, or taken, goes unnoticed; `null` if that mends a broken rule. */
export function isGrantUnnoticed({ grants, roles }: Marks, person: number, role: number): boolean | null {
  return isUnnoticed(grants[person * roles + role]);
}

/** Returns whether a permission given to a role, or taken, goes unnoticed; `null` if that mends a broken rule. */
export function isEditUnnoticed(
  { edits, permissions }: Marks,
  role: number,
  permission: number,
): boolean | null {
  return isUnnoticed(edits[role * permissions + permission]);
}

function isUnnoticed(mark: number | undefined): boolean | null {
  return mark === MENDS ? null : mark !== NOTICED;
}

/** Tells which changes of an access change what anybody can do; what a role of unknown permissions grants counts. */
export interface ChangeEffects {
  /** A role given to a member who does not hold it, or taken from one who does. */
  readonly grant: (person: number, role: number) => boolean;
  /** A permission given to a role that does not grant it, or taken from one that does. */
  readonly edit: (role: number, permission: number) => boolean;
}

/** Counts by how many roles each member has each permission. */
export function changeEffects({ people, roles, permissions }: CoverageWorld): ChangeEffects {
  const width = permissions.length;
  const ways = new Uint16Array(people.length * width);
  people.forEach(({ held }, person) => {
    for (const role of held) {
      for (const permission of roles[role]?.grants ?? []) {
        ways[person * width + permission] = (ways[person * width + permission] ?? 0) + 1;
      }
    }
  });
  return {
    grant: (person, roleIndex) => {
      const role = roles[roleIndex];
      if (!role?.known) return true;
      const decisive = people[person]?.held.has(roleIndex) ? 1 : 0;
      for (const permission of role.grants) if (ways[person * width + permission] === decisive) return true;
      return false;
    },
    edit: (roleIndex, permission) => {
      const role = roles[roleIndex];
      const decisive = role?.grants.has(permission) ? 1 : 0;
      return role?.holders.some((person) => ways[person * width + permission] === decisive) ?? false;
    },
  };
}
