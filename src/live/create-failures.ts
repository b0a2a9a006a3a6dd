import { RolecallError } from "../model/errors.ts";
import { MAY_BE_DONE, reworded } from "./reworded.ts";

/** The failure of a create that was looked up afterwards, and is not there. */
export function notDone(error: RolecallError): RolecallError {
  const { uncertain: _, ...request } = error.request ?? { method: "", path: "", attempts: 0 };
  return reworded(error, { hint: "It was looked up, and was not done. Try again later.", request });
}

/** The failure of a create that the service says it has done, but which is not to be seen. */
export function notListed(path: string, what: string): RolecallError {
  return new RolecallError(
    "bad-answer",
    `The service said that it created the ${what}, but does not list it as it was to be.`,
    { hint: MAY_BE_DONE, request: { method: "POST", path, attempts: 1, uncertain: true } },
  );
}

/**
 * The failure of a create that was looked up afterwards, where something else was found in its place. Whether it was
 * done, and changed by somebody since, nobody can tell.
 */
export function notOurs(error: RolecallError, what: string): RolecallError {
  const message = `The ${what} is there, but not as it was to be created: somebody else has created or changed it.`;
  return new RolecallError("conflict", message, {
    hint: 'Run "rolecall plan" to see how it differs.',
    request: { ...(error.request ?? { method: "POST", path: "", attempts: 0 }), uncertain: true },
    cause: error,
  });
}
