import type { Answer } from "../answer.ts";
import type { InvitationLimiter } from "../rate-limit.ts";
import type { Account, Store } from "../state/store.ts";

/** Ways to answer who invites an address whose invitation has expired, other than to keep both. */
export const EXPIRED_ANSWERS = ["conflict", "replace", "renew"] as const;

/** A request to one operation, once its key is known and its body is read. */
export interface OperationCall {
  readonly store: Store;
  /** The role's or member's id in the path; empty where the operation has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Absent: an expired invitation stays beside the new one. */
  readonly expired?: (typeof EXPIRED_ANSWERS)[number] | undefined;
  /** Limits on the invitations of one address. */
  readonly invitations?: readonly InvitationLimiter[];
  /** An update replaces the whole resource: fields that its body does not hold are emptied. */
  readonly replacing?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Common {
  /** The name that the request log and the faults know it by. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  /** One of these is needed. */
  readonly permissions: readonly string[];
}

/** An operation on one merchant. */
export interface MerchantOperation extends Common {
  readonly scope: "merchant";
  handle(call: OperationCall, merchant: Account): Answer;
}

/** An operation on the user that the key belongs to. */
export interface UserOperation extends Common {
  readonly scope: "user";
  handle(call: OperationCall, owner: string): Answer;
}

/** One operation of the contract. */
export type ContractOperation = MerchantOperation | UserOperation;
