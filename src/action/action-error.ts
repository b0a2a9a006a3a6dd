/** Why a step failed, as the output `failure-reason` tells it. */
export type FailureReason =
  /** An input is wrong. */
  | "usage"
  | "invalid-files"
  /** A guard, a policy or a check refuses. */
  | "refused"
  /** The plan has changes that nobody approved, or no plan was approved at all. */
  | "not-approved"
  | "key-missing"
  /** A merchant could not be read: credentials, network, the service. */
  | "service"
  /** An apply stopped part-way, or something was left. */
  | "partial"
  /** The commit is no longer the tip of its branch. */
  | "stale-commit"
  | "wrong-branch"
  /** The event would give somebody else's files the keys of this repository. */
  | "unsafe-event"
  /** A pull request would send a key elsewhere. */
  | "unsafe-access"
  /** The API of GitHub said no where it is needed. */
  | "github"
  /** There are changes, or there is drift, and `fail-on` says that this fails. */
  | "differences"
  | "bug";

/** A failure of the step that is nobody's bug: told in one sentence, with what to do next. */
export class ActionError extends Error {
  readonly reason: FailureReason;
  readonly hint: string | null;

  constructor(reason: FailureReason, message: string, hint: string | null = null) {
    super(message);
    this.name = "ActionError";
    this.reason = reason;
    this.hint = hint;
  }
}
