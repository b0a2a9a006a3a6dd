import { RolecallError } from "../../model/errors.ts";
import type { Io } from "../io/io.ts";

/** The variable with the key of all signatures, the same as the action's input approval-secret. */
const SIGNING_KEY = "ROLECALL_APPROVAL_SECRET";

/** Shorter ones could be found by trying. */
const SHORTEST_KEY = 32;

/** Returns the key that signs records; empty for none. */
export function signingKey(env: Io["env"]): string {
  const key = env[SIGNING_KEY]?.trim() ?? "";
  if (key === "" || key.length >= SHORTEST_KEY) return key;
  throw new RolecallError("usage", `${SIGNING_KEY} has fewer than ${SHORTEST_KEY} characters.`, {
    hint: 'Use the value of the action\'s input approval-secret, or create one with "openssl rand -hex 32".',
  });
}

/** Returns whether a variable holds the key that signs records; on Windows, the case of its name does not matter. */
export function isSigningKey(name: string, env: Io["env"]): boolean {
  const value = env[name]?.trim();
  return name.toUpperCase() === SIGNING_KEY || (!!value && value === env[SIGNING_KEY]?.trim());
}
