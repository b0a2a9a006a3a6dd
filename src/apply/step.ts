import type { PasswordChange, Phase } from "../model/apply.ts";
import type { Change } from "../model/plan.ts";

/** One stretch of a change; a change takes one, or several in different phases. */
export interface Step {
  readonly phase: Phase;
  readonly change: Change | PasswordChange;
  /**
   * `set-aside` takes its name from a role that has to go; `create` and `remove` are the ends of a replacement;
   * `restore` gives a member back what the service has emptied.
   */
  readonly part: "whole" | "set-aside" | "create" | "remove" | "restore";
}

/** Whether a change is a new password and nothing else. */
export function isPasswordChange(change: Change | PasswordChange): change is PasswordChange {
  return "passwordEnv" in change;
}
