import type { RolecallError } from "../model/errors.ts";

/** The process's exit codes; scripts rely on them, so a number never changes its meaning. */
export const ExitCode = {
  /** Done; for `plan` also when there are changes. */
  ok: 0,
  /** It could not be done: a bad file, no credentials, an API error, the network. */
  failed: 1,
  /** There are differences (`plan --detailed-exitcode`). */
  differences: 2,
  /** Refused: a guard, a policy, a check, a change that was not approved. */
  refused: 3,
  /** `apply` stopped part-way. */
  partial: 4,
  /** A bug in rolecall. */
  bug: 70,
} as const;

/** Returns the exit code of an error that ends a command. */
export function exitCodeFor({ code }: RolecallError): ExitCode {
  return code === "override-stray" ? ExitCode.refused : ExitCode.failed;
}

/** One of the exit codes. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
