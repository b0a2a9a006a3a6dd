import type { RolecallError } from "../model/errors.ts";
import type { HoldBack, Recheck } from "../model/ports.ts";
import type { Operation } from "./operations.ts";
import type { RetryPolicy } from "./retry.ts";
import type { TransportRequest } from "./transport.ts";

/** One call of the service; `read` turns the body into what the caller wants, and throws where it cannot. */
export interface Call<T> {
  readonly operation: Operation;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly body?: object;
  /** What the body holds that no message may repeat, neither of this call nor of a later one. */
  readonly secrets?: readonly string[];
  readonly read: (body: string) => T;
  /** Makes another policy of the client's own. */
  readonly retry?: (policy: RetryPolicy) => RetryPolicy;
  /**
   * For a call that must not be done twice and may have been: finds out what it has made, null where there is nothing.
   * Throws RolecallError where that cannot be known, or something else is there.
   * Without it such a call ends with its outcome unknown.
   */
  readonly recover?: (failure: RolecallError) => Promise<T | null>;
  /**
   * For a call that somebody has looked before: looks again where it had to wait since. It is not sent any more where
   * that says `done` (`read` is then given nothing), or throws.
   */
  readonly recheck?: Recheck | undefined;
  /** Called before a write is first sent, once its turn has come; where it throws, nothing is sent. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
  /** The address that is invited: a refusal (429) may concern that one alone. */
  readonly address?: string;
  /** How an invitation waits while its address is refused; absent: like any other request. */
  readonly holdBack?: HoldBack | undefined;
  /** Longest that each attempt is waited for, in milliseconds, where that is less than usual. */
  readonly withinMs?: number;
  /** When it is aborted the call ends and rejects with the signal's reason; a write in the air is let finish. */
  readonly signal?: AbortSignal | undefined;
}
