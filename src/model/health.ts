/** The result of one check: `unknown` if it could not be told, which is no failure. */
export type CheckStatus = "ok" | "failed" | "unknown";

/** A check of `doctor`. */
export interface HealthCheck {
  readonly name: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do about it; absent if there is nothing to do. */
  readonly next?: string;
}

/** Checks of one thing, in the order in which they build on each other: nothing is checked after a failure of the way. */
export interface HealthGroup {
  readonly about: "machine" | "service" | "key" | "merchant";
  /** The base URL, the variable with the key, or the merchants; empty for the machine. */
  readonly names: readonly string[];
  readonly checks: readonly HealthCheck[];
}

/** The permissions that commands need of one key, the least that is enough. */
export interface NeededPermissions {
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  readonly command: "plan" | "drift" | "apply";
  readonly permissions: readonly string[];
  /** Those of them that the key lacks for certain. */
  readonly missing: readonly string[];
}

/** All that `doctor` has found. */
export interface HealthReport {
  readonly groups: readonly HealthGroup[];
  readonly needed: readonly NeededPermissions[];
  /** What to do, the first thing first; empty if nothing failed. */
  readonly next: readonly string[];
}

/** What a key may do: `permitted`, `denied`, or `unknown` if the service's answers do not tell. */
export interface OperationVerdict<Operation extends string = string> {
  readonly operation: Operation;
  readonly verdict: "permitted" | "denied" | "unknown";
  /** What the service answered. */
  readonly reason: string;
  /** A resource that may have been created or changed unexpectedly; absent: none. */
  readonly alarm?: string;
}
