import type { ManagedProperties, MemberProperties, MemberValues, RoleImage, Some } from "./field-values.ts";
import type { LiveMember, LiveRole, LiveState } from "./live.ts";

/** Reads a merchant's live state; throws RolecallError. */
export interface LiveReader {
  /**
   * Reads the consistent state of one merchant. `roleIds` are the role ids in the file: those that the service does not
   * list are retrieved one by one.
   */
  read(merchant: string, roleIds: readonly string[]): Promise<LiveState>;
}

/** A role to create. */
export interface CreateRole extends Some<RoleImage> {
  readonly name: string;
  readonly permissions: readonly string[];
}

/** The fields of a role that an update sends; absent ones stay as they are. */
export type RolePatch = Some<RoleImage>;

/** A member to create; `managed` makes it a user of the merchant's own, without an invitation. */
export interface CreateMember extends Some<MemberProperties> {
  readonly email: string;
  /** Role ids. */
  readonly roles: readonly string[];
  readonly managed?: Some<ManagedProperties> & { readonly password: string };
}

/** The fields that an update of a member sends; each is replaced whole, absent ones are not sent. */
export interface MemberUpdate extends Some<MemberValues> {
  /** A new password of a managed user. */
  readonly password?: string;
}

/** The result of a create. */
export interface Created {
  readonly id: string;
  /** True if the response was lost and the created resource was found by a lookup. */
  readonly adopted: boolean;
}

/**
 * Looks up single resources of a merchant; `null` if gone. Throws RolecallError, or the reason of an aborted signal.
 */
export interface LiveLookup {
  getRole(id: string, signal?: AbortSignal): Promise<LiveRole | null>;
  getMember(id: string, signal?: AbortSignal): Promise<LiveMember | null>;
  /** Returns a holder of a role; `null` if there is none. */
  getHolder(roleId: string, signal?: AbortSignal): Promise<LiveMember | null>;
}

/**
 * Rechecks a resource before it is written: `go` if it is as planned, `done` if the change is applied already.
 * `maybeApplied`: an earlier attempt may have been applied. Throws RolecallError if it is neither or cannot be read.
 */
export type Recheck = (maybeApplied: boolean) => Promise<"go" | "done">;

/** Delays the creation of a member, without blocking other work, while the service refuses its address. */
export interface HoldBack {
  /** Called when the address is refused and will be retried later. */
  readonly held: () => void;
  /** Aborted when all other work is done: only a short wait is worth it then. */
  readonly ending: AbortSignal;
  /** Aborted to prevent a retry. */
  readonly stop: AbortSignal;
}

/** The options of a write. */
export interface WriteOptions {
  /** Repeats the check that preceded the call if the request had to wait since. */
  readonly recheck?: Recheck | undefined;
  /** Runs once, when the write has a permit and before it is sent; if it throws, nothing is sent. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
  /** Completes a change that has begun: after a stop, it is sent once, without waiting. */
  readonly finishes?: true | undefined;
}

/**
 * Writes to one merchant; each call throws RolecallError, with the request in it, if the service does not carry it out.
 */
export interface LiveWriter {
  createRole(role: CreateRole, options?: WriteOptions): Promise<Created>;
  updateRole(id: string, patch: RolePatch, options?: WriteOptions): Promise<void>;
  deleteRole(id: string, options?: WriteOptions): Promise<void>;
  /** `recheck` concerns an expired invitation that the new one replaces. */
  createMember(
    member: CreateMember,
    options?: WriteOptions & { readonly holdBack?: HoldBack },
  ): Promise<Created>;
  /** Returns the updated member; `null` if the response does not contain it or nothing was sent. */
  updateMember(id: string, update: MemberUpdate, options?: WriteOptions): Promise<LiveMember | null>;
  deleteMember(id: string, options?: WriteOptions): Promise<void>;
}
