import type { RolecallError } from "../model/errors.ts";
import { MAY_BE_DONE, reworded } from "./reworded.ts";

/** The failure of a write that could not be looked up afterwards: what became of it stays unknown. */
export function notKnown(error: RolecallError, lookUp: RolecallError): RolecallError {
  return reworded(error, {
    message: `${ended(error.message)} Whether it was done cannot be looked up: ${lookUp.message}`,
    hint: MAY_BE_DONE,
    request: { ...(error.request ?? { method: "", path: "", attempts: 0 }), uncertain: true },
  });
}

/**
 * The failure of an update or delete that was looked up afterwards, and is neither as it was nor as it was to be.
 * Whether it was done, and changed by somebody since, nobody can tell.
 */
export function overtaken(error: RolecallError, stale: RolecallError): RolecallError {
  return reworded(error, {
    message: `${ended(error.message)} Whether it was done cannot be told any more: ${stale.message}`,
    hint: MAY_BE_DONE,
  });
}

function ended(sentence: string): string {
  return sentence.replace(/\.?$/, ".");
}
