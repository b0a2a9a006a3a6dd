/** The name of a project's file, at its root. */
export const PROJECT_FILE = "rolecall.yaml";

/** Returns whether a path from a project's root is its file, or differs from that in case or ending. */
export function isProjectFile(path: string): boolean {
  return /^rolecall\.ya?ml$/i.test(path);
}
