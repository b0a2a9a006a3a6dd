import { type ErrorDetails, RolecallError } from "../model/errors.ts";

/** The same failure, with something said in another way. */
export function reworded(
  error: RolecallError,
  { message = error.message, ...details }: ErrorDetails & { readonly message?: string },
): RolecallError {
  const { code, hint, request } = error;
  return new RolecallError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(request && { request }),
    cause: error,
    ...details,
  });
}

/** What to do about a write of which nobody knows whether it was done. */
export const MAY_BE_DONE = 'The service may have done it. Run "rolecall plan" to see whether it has.';
