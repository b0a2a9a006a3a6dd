/** Explains the name to anyone who sees it at the service; the id distinguishes roles that give up the same name. */
function suffixOf(id: string): string {
  return ` (${id}, set aside by rolecall)`;
}

/** Returns the temporary name of a role, which frees its name for another: the service requires unique names. */
export function temporaryName(name: string, id: string): string {
  return `${name}${suffixOf(id)}`;
}

/** Returns whether the role of an id has a temporary name, which an interrupted run may have left. */
export function isTemporaryName(name: string, id: string): boolean {
  return name.endsWith(suffixOf(id));
}

/** Returns the name that the role of an id has without the suffix. */
export function permanentName(name: string, id: string): string {
  return isTemporaryName(name, id) ? name.slice(0, -suffixOf(id).length) : name;
}
