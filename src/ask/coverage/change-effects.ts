import type { CoverageWorld } from "./coverage-world.ts";

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
