import type { Answer } from "../answer.ts";
import type { InvitationLimiter } from "../rate-limit.ts";
import type { Account, Store } from "../state/store.ts";

/** Ways to handle a second invitation after an expired one, other than keeping both. */
export const EXPIRED_ANSWERS = ["conflict", "replace", "renew"] as const;

/** An authenticated request to an operation, with a parsed body. */
export interface OperationCall {
  readonly store: Store;
  /** Id of the role or member in the path; empty if there is none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Absent: an expired invitation is kept beside the new one. */
  readonly expired?: (typeof EXPIRED_ANSWERS)[number] | undefined;
  /** Limits on invitations. */
  readonly invitations?: readonly InvitationLimiter[];
  /** Makes an update replace the whole resource, emptying fields that are absent from its body. */
  readonly replacing?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Common {
  /** Name in the request log and in fault rules. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  /** Permissions of which one is required. */
  readonly permissions: readonly string[];
}

/** An operation on a merchant. */
export interface MerchantOperation extends Common {
  readonly scope: "merchant";
  handle(call: OperationCall, merchant: Account): Answer;
}

/** An operation on the key's user. */
export interface UserOperation extends Common {
  readonly scope: "user";
  handle(call: OperationCall, owner: string): Answer;
}

/** An operation of the contract. */
export type ContractOperation = MerchantOperation | UserOperation;
