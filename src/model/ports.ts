import type { Metadata } from "./json.ts";
import type { LiveMember, LiveRole, LiveState } from "./live.ts";

/** Reads a merchant's live state; throws RolecallError. */
export interface LiveReader {
  /**
   * Reads everything of one merchant, whole or not at all.
   * `roleIds` are role ids that the file names; those not listed by the service are retrieved one by one. They may come
   * while the rest is being read; where they never will, a rejection ends the reading.
   * `members` is about how many there may be: as many are asked for before the service has told how many there are.
   */
  read(
    merchant: string,
    roleIds: readonly string[] | Promise<readonly string[]>,
    members?: number,
  ): Promise<LiveState>;
}

/** A role to create. */
export interface CreateRole {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly description?: string;
  readonly metadata?: Metadata;
}

/** The fields of a role that the service can change in place; absent ones stay as they are. */
export interface RolePatch {
  readonly name?: string;
  readonly description?: string;
  readonly permissions?: readonly string[];
}

/** A member to create; `managed` makes it a user of the merchant's own, without an invitation. */
export interface CreateMember {
  readonly email: string;
  /** Role ids. */
  readonly roles: readonly string[];
  readonly metadata?: Metadata;
  readonly managed?: { readonly nickname?: string; readonly password: string };
}

/** The fields that an update of a member sends; each is replaced whole, absent ones are not sent. */
export interface MemberUpdate {
  /** Role ids. */
  readonly roles?: readonly string[];
  readonly metadata?: Metadata;
  readonly nickname?: string;
  /** A new password of a managed user. */
  readonly password?: string;
}

/** What a create has led to. */
export interface Created {
  readonly id: string;
  /** Its answer was lost, and what it made was found and taken over instead of being made again. */
  readonly adopted: boolean;
}

/**
 * Looks at one resource of a merchant again; null where it is gone. Throws RolecallError, or the reason of the signal
 * once that is aborted.
 */
export interface LiveLookup {
  getRole(id: string, signal?: AbortSignal): Promise<LiveRole | null>;
  getMember(id: string, signal?: AbortSignal): Promise<LiveMember | null>;
  /** Somebody who holds a role; null where nobody does. */
  getHolder(roleId: string, signal?: AbortSignal): Promise<LiveMember | null>;
}

/**
 * Looks once more at what is to be updated or deleted: `done` where it is as it was to be, `go` where it is as planned.
 * `maybeApplied`: an earlier attempt may have been carried out. Throws RolecallError where it is neither, or cannot be looked at.
 */
export type Recheck = (maybeApplied: boolean) => Promise<"go" | "done">;

/** How the creation of a member waits while the service refuses its address, and everything else goes on. */
export interface HoldBack {
  /** Called when the address is refused and is to be tried again later. */
  readonly held: () => void;
  /** Aborted when everything else is done: from then on only a short wait is worth it. */
  readonly ending: AbortSignal;
  /** Aborted when it is not to be tried again. */
  readonly stop: AbortSignal;
}

/** How a write is sent. */
export interface WriteOptions {
  /** Repeats the check that came right before the call, where the request had to wait since. */
  readonly recheck?: Recheck | undefined;
  /** Called once, when the turn of the write has come and before it leaves; where it throws, nothing is sent. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
}

/** Writes to one merchant; each call throws RolecallError, with the request in it, when the service does not do it. */
export interface LiveWriter {
  createRole(role: CreateRole, options?: WriteOptions): Promise<Created>;
  updateRole(id: string, patch: RolePatch, options?: WriteOptions): Promise<void>;
  deleteRole(id: string, options?: WriteOptions): Promise<void>;
  /** `recheck` is about an expired invitation that the new one takes the place of. */
  createMember(
    member: CreateMember,
    options?: WriteOptions & { readonly holdBack?: HoldBack },
  ): Promise<Created>;
  /** Returns the member as the service answers it; null where the answer does not hold it, or nothing was sent. */
  updateMember(id: string, update: MemberUpdate, options?: WriteOptions): Promise<LiveMember | null>;
  deleteMember(id: string, options?: WriteOptions): Promise<void>;
}
