import { sortedSet } from "../../lib/text.ts";
import type { AccessReport, SoleAccess } from "../../model/reports.ts";

/** Returns what only these people have, by their addresses in lower case; pending and disabled members count as others. */
export function soleAccess(
  { merchant, roles, members }: AccessReport,
  addresses: ReadonlySet<string>,
): SoleAccess {
  const byKey = new Map(roles.map((role) => [role.key, role]));
  const held = (isOne: boolean): ReadonlySet<string> =>
    new Set(
      members
        .filter(({ name }) => addresses.has(name.toLowerCase()) === isOne)
        .flatMap(({ before }) => before?.roles ?? []),
    );
  const permissionsOf = (keys: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...keys].flatMap((key) => byKey.get(key)?.before?.permissions ?? []));
  const [own, others] = [held(true), held(false)];
  const otherPermissions = permissionsOf(others);
  return {
    merchant,
    permissions: sortedSet([...permissionsOf(own)].filter((one) => !otherPermissions.has(one))),
    roles: sortedSet([...own].filter((key) => !others.has(key)).map((key) => byKey.get(key)?.name ?? key)),
  };
}
