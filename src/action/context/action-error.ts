export type FailureReason =
  | "usage"
  | "invalid-files"
  /** A guard, a policy or a check refused the plan. */
  | "refused"
  | "not-approved"
  | "key-missing"
  /** A merchant could not be read: credentials, network, the service. */
  | "service"
  | "partial"
  /** The commit is no longer on its branch. */
  | "stale-commit"
  | "wrong-branch"
  /** The event would plan somebody else's files with the keys of this repository. */
  | "unsafe-event"
  /** A pull request would send a key to another URL. */
  | "unsafe-access"
  /** A required request to GitHub's API failed. */
  | "github"
  | "bug";

/** Thrown for an expected failure of the step, with a hint if there is one. */
export class ActionError extends Error {
  readonly reason: FailureReason;
  readonly hint: string | null;

  constructor(reason: FailureReason, message: string, hint: string | null = null) {
    super(message);
    this.name = "ActionError";
    this.reason = reason;
    this.hint = hint;
  }

  /** Returns the message, and the hint if there is one. */
  lines(): readonly string[] {
    return [this.message, ...(this.hint === null ? [] : [this.hint])];
  }
}

/** Returns an error as an expected failure, or as a bug. */
export function actionErrorOf(error: unknown): ActionError {
  return error instanceof ActionError ? error : new ActionError("bug", "rolecall failed because of a bug.");
}
