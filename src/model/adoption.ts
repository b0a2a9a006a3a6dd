import type { DesiredMember, DesiredRole } from "./desired.ts";
import type { Edited, ManagedProperties, MemberProperties, RoleImage, Some } from "./field-values.ts";
import type { MemberStatus } from "./live.ts";

/** The parts of live entries that no file can express, by id: names of fields, or `entry` for the whole entry. */
export interface Unwritable {
  readonly roles: ReadonlyMap<string, ReadonlySet<string>>;
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The keys of a role's entry; an absent one is not written. */
export interface RoleEntry extends Some<RoleImage> {
  readonly name: string;
  readonly id?: string;
}

/** The keys of a member's entry; an absent one is not written. */
export interface MemberEntry extends Some<MemberProperties> {
  readonly email: string;
  readonly managed?: Some<ManagedProperties>;
  /** Names of declared roles, and ids of others. */
  readonly roles?: readonly string[];
  /** Keeps a plan from renewing the expired invitation. */
  readonly reinvite?: false;
  readonly id?: string;
}

/** The values of a role's keys to write into its entry; `null` removes the key, and an absent key stays. */
export interface RoleEntryUpdate extends Edited<RoleImage> {
  readonly name?: string;
  readonly previously?: string | readonly string[] | null;
  readonly id?: string | null;
}

/** The changes of a member's grants, by the words of the file. */
export interface GrantUpdate {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Grants to keep without their end, which is past. */
  readonly unend: readonly string[];
  /** Grants to keep without their beginning, which is in the future. */
  readonly begin: readonly string[];
  /** New words for roles, by those that the file has for them. */
  readonly rename: ReadonlyMap<string, string>;
}

/** The values of a member's keys to write into its entries; `null` removes the key, and an absent key stays. */
export interface MemberEntryUpdate extends Edited<MemberProperties & ManagedProperties> {
  readonly email?: string;
  readonly grants?: GrantUpdate;
  /** Removes every role. */
  readonly roles?: null;
  readonly from?: null;
  readonly until?: null;
  readonly suspended?: null;
  readonly reinvite?: false;
  readonly id?: string | null;
}

/**
 * Why a live entry is ignored instead of listed: a file cannot express its name, another entry has the name, an
 * invitation expired beside a membership of the address, or an apply left the role with a temporary name.
 */
export type IgnoreCause = "unwritable" | "twin" | "leftover" | "temporary";

/** A live member that is only mentioned in a comment: its plan is always empty. */
export interface Mention {
  readonly id: string;
  /** `null` without an address. */
  readonly email: string | null;
  /** The type of its user; `null` if it has none. */
  readonly type: string | null;
  readonly roles: readonly string[];
}

/** A change of a merchant's files towards the live state. */
export type EntryEdit =
  | {
      readonly kind: "add-role";
      readonly id: string;
      readonly entry: RoleEntry;
      readonly left: readonly string[];
    }
  | { readonly kind: "update-role"; readonly role: DesiredRole; readonly fields: RoleEntryUpdate }
  | { readonly kind: "remove-role"; readonly role: DesiredRole }
  | {
      readonly kind: "add-member";
      readonly id: string;
      readonly entry: MemberEntry;
      readonly status: MemberStatus;
      /** The fields that are not written, because no file can express them. */
      readonly left: readonly string[];
      /** The held roles that are ignored, by name and id. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: "update-member"; readonly member: DesiredMember; readonly fields: MemberEntryUpdate }
  | { readonly kind: "remove-member"; readonly member: DesiredMember }
  | {
      readonly kind: "ignore-role" | "ignore-member";
      readonly id: string;
      /** The name or address; `null` if none. */
      readonly name: string | null;
      readonly cause: IgnoreCause;
    };

/** The changes that make a merchant's files declare its live state. */
export interface Adoption {
  readonly merchant: string;
  readonly edits: readonly EntryEdit[];
  readonly mentions: readonly Mention[];
  /** Names of the held roles that are not declared, by id. */
  readonly heldRoles: ReadonlyMap<string, string>;
}
