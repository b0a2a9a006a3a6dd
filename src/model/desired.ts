import type { Metadata } from "./json.ts";

/** `live` for real merchant accounts, `test` for the service's own sandbox accounts. */
export type Environment = "live" | "test";

/** `authoritative`: what the file does not list is removed. `additive`: it is left alone. */
export type SyncMode = "authoritative" | "additive";

/** Where something was declared: the path of keys and indexes inside one file, turned into a line only on demand. */
export interface Origin {
  readonly file: string;
  readonly path: readonly (string | number)[];
}

/** When access ends: as written, a date (the end of that day, UTC) or a timestamp, and the first moment without it. */
export interface Until {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly ends: number;
}

/** A custom role as the file wants it; an absent field is unmanaged and keeps its live value. */
export interface DesiredRole {
  readonly name: string;
  /** Pins the identity to one live role (`role_…`). */
  readonly id?: string;
  /** The name it had: a rename instead of a removal and a creation. */
  readonly previously?: string;
  readonly description?: string;
  readonly permissions?: readonly string[];
  readonly metadata?: Metadata;
  readonly origin: Origin;
}

/** A role that a member is to hold, by name, or by id for predefined ones; maybe only for a time. */
export interface Grant {
  readonly role: string;
  readonly until?: Until;
}

/** A user whom the merchant manages: the service creates it with this nickname and a password from the environment. */
export interface ManagedUser {
  readonly nickname?: string;
  /** Name of the environment variable that holds the first password, at least 8 characters. */
  readonly passwordEnv: string;
}

/** A member as the file wants it; an absent field is unmanaged and keeps its live value. */
export interface DesiredMember {
  readonly email: string;
  /** Pins the identity to one live member (`mem_…`). */
  readonly id?: string;
  readonly roles?: readonly Grant[];
  /** End of the whole membership. */
  readonly until?: Until;
  readonly metadata?: Metadata;
  readonly managed?: ManagedUser;
  readonly origin: Origin;
}

/** Whether expired invitations are renewed, or only while the entry's last commit is younger than a period. */
export type Reinvite = boolean | { readonly text: string; readonly ms: number };

/** How a merchant's file is brought together with what is live. */
export interface SyncOptions {
  readonly roles: SyncMode;
  readonly members: SyncMode;
  readonly reinvite: Reinvite;
  /** A role whose metadata changed may be replaced, since the service cannot update it in place. */
  readonly replaceRoles: boolean;
}

/** Globs over names and ids of roles, and over addresses and ids of members, that are never read into a plan. */
export interface IgnorePatterns {
  readonly roles: readonly string[];
  readonly members: readonly string[];
}

/** The largest part of what is live that one apply may remove: a share in percent, or a count. */
export type RemovalLimit = { readonly percent: number } | { readonly count: number };

/** What an apply must not do without an override. */
export interface GuardSettings {
  /** Absent: 25 percent. */
  readonly maxRemovals?: RemovalLimit;
  /** Names or ids of roles, and addresses or ids of members, that are neither changed nor removed. */
  readonly protect: IgnorePatterns;
  /** Role name or id → fewest accepted holders. Absent: one `role_owner`. */
  readonly minHolders?: Readonly<Record<string, number>>;
}

/** What the access that a plan leaves behind has to keep to. */
export interface Policies {
  /** Domains that members' addresses may have; `*.example.com` means every subdomain. Absent: any. */
  readonly emailDomains?: readonly string[];
  /** Sets of roles of which nobody may hold two. */
  readonly separate: readonly (readonly string[])[];
  /** Role → most holders. */
  readonly maxHolders: Readonly<Record<string, number>>;
  /** Roles that are only ever granted with an end date. */
  readonly requireUntil: readonly string[];
  /** Roles whose holders have MFA on login; a pending member counts as not known. */
  readonly requireMfa: readonly string[];
  /** Permissions that no custom role may grant. */
  readonly forbidPermissions: readonly string[];
}

/** A test of the access that a plan would leave behind. Members stand as addresses, roles as `role:Name`. */
export type Check =
  | { readonly kind: "only"; readonly can: string; readonly only: readonly string[]; readonly origin: Origin }
  | { readonly kind: "at-most"; readonly can: string; readonly atMost: number; readonly origin: Origin }
  | {
      readonly kind: "cannot";
      readonly member: string;
      readonly cannot: readonly string[];
      readonly origin: Origin;
    };

/** Which account a file is about, and how its service is reached, as far as the file says it. */
export interface Addressed {
  readonly merchant: string;
  readonly environment?: Environment;
  readonly baseUrl?: string;
  /** Name of the environment variable that holds this merchant's API key. */
  readonly keyEnv?: string;
  readonly origin: Origin;
}

/** The desired state of one merchant: what its file and the included ones say, checked and normalised. */
export interface DesiredState extends Addressed {
  readonly sync: SyncOptions;
  readonly ignore: IgnorePatterns;
  readonly guards: GuardSettings;
  readonly policies: Policies;
  readonly checks: readonly Check[];
  /** Roles that only rules of included files name: another merchant that includes them may have these. Absent: none. */
  readonly sharedRuleRoles?: readonly string[];
  /** Absent: roles are not managed here. */
  readonly roles?: readonly DesiredRole[];
  /** Absent: members are not managed here. */
  readonly members?: readonly DesiredMember[];
}
