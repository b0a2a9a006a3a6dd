/** Explains itself to anyone who sees it at the service. */
const SUFFIX = " (set aside by rolecall)";

/** Returns the temporary name of a role, which frees its name for another: the service requires unique names. */
export function temporaryName(name: string): string {
  return `${name}${SUFFIX}`;
}

/** Returns whether a role has a temporary name, which an interrupted run may have left. */
export function isTemporaryName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** Returns the name that a role has without the suffix. */
export function permanentName(name: string): string {
  return isTemporaryName(name) ? name.slice(0, -SUFFIX.length) : name;
}
