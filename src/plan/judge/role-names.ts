import type { Access } from "./access.ts";

/** Finds the key of a role by the name or id that a file uses for it; undefined where there is no such role. */
export function roleFinder({ roles }: Access): (nameOrId: string) => string | undefined {
  const keys = new Map<string, string>();
  // A custom role's name goes before a predefined one's, and an id before both: nobody can take it for a name.
  for (const [key, { name, custom }] of roles) if (!custom) keys.set(name, key);
  for (const [key, { name, custom }] of roles) if (custom) keys.set(name, key);
  for (const [key, { id }] of roles) if (id !== null) keys.set(id, key);
  return (nameOrId) => keys.get(nameOrId);
}
