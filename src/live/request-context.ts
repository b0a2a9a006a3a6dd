import type { Operation } from "./operations.ts";

/** The request that a failure is about. */
export interface RequestContext {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly attempts: number;
  /** Name of the environment variable that the key came from. */
  readonly keySource: string;
  /** It changes something. */
  readonly write: boolean;
  /** An earlier attempt may have been carried out. */
  readonly maybeApplied: boolean;
  /** What no message may repeat, even if the service does. */
  readonly secrets: readonly string[];
}
