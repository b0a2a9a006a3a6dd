/** A role with its name and the one it had, as far as the files say them. */
interface NamedRole {
  readonly name: string | null;
  readonly previously?: string | null | undefined;
}

/** Returns the names of roles by the other words for them: the names that they had, and the ids that they are pinned to. */
export function rolesByOtherNames(
  roles: readonly (NamedRole & { readonly id: string | null })[],
): ReadonlyMap<string, string> {
  const pinned = roles.flatMap(({ id, name }) => (id === null || name === null ? [] : [[id, name] as const]));
  return new Map([...renamedRoles(roles), ...pinned]);
}

/** Returns the current names of roles by the names that they had; a name that a declared role has now means that role. */
export function renamedRoles(roles: readonly NamedRole[]): ReadonlyMap<string, string> {
  const names = new Set(roles.map(({ name }) => name));
  return new Map(
    roles.flatMap(({ name, previously }) =>
      name === null || !previously || names.has(previously) ? [] : [[previously, name] as const],
    ),
  );
}
