import type { Diagnostic } from "../../model/diagnostic.ts";

/** Returns whether a diagnostic makes its file unusable; a refusal does not. */
export function isFileError({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && !refusal;
}

/** Returns whether a diagnostic reports that a file breaks its own policies or checks. */
export function isRefusal({ severity, refusal }: Diagnostic): boolean {
  return severity === "error" && refusal === true;
}
