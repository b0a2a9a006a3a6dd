import type { ManagedProperties, MemberProperties, RoleImage, Some } from "./field-values.ts";

/** `live` for real merchant accounts, `test` for the service's own sandbox accounts. */
export type Environment = "live" | "test";

/** `authoritative`: what the file does not list is removed. `additive`: it is left alone. */
export type SyncMode = "authoritative" | "additive";

/** The origin of a declaration: the path of keys and indexes in a file, resolved to a line on demand. */
export interface Origin {
  readonly file: string;
  readonly path: readonly (string | number)[];
}

/** The end of access: the text of a date (the end of that day, in UTC) or timestamp, and the first moment without access. */
export interface Until {
  readonly text: string;
  /** In ms since the epoch. */
  readonly ends: number;
}

/** The start of access or of a suspension: the text of a date (the start of that day, in UTC) or timestamp, and its moment. */
export interface From {
  readonly text: string;
  /** In ms since the epoch. */
  readonly starts: number;
}

/** A person who leaves: from `from` on, the address has no access, whatever else the files declare. */
export interface Leaver {
  readonly email: string;
  readonly from: From;
  readonly origin: Origin;
}

/** A desired custom role; an absent field is unmanaged and keeps its live value. */
export interface DesiredRole extends Some<RoleImage> {
  readonly name: string;
  /** Pins the identity to one live role (`role_…`). */
  readonly id?: string;
  /** The former names, at least one: a live role with one of them is renamed, not removed. */
  readonly previously?: readonly string[];
  readonly origin: Origin;
  /** The location of the adjustment, in the merchant's own file, of the included role's permissions. */
  readonly adjusted?: Origin;
}

/** A role that a member should hold, by name, or by id for predefined roles; optionally with a beginning and an end. */
export interface Grant {
  readonly role: string;
  readonly from?: From;
  readonly until?: Until;
  /** The locations where it is written; absent: at its index in the `roles` of the member's entry. */
  readonly origins?: readonly Origin[];
}

/** A suspension: the membership stays, without roles. Without an end, it lasts until further notice. */
export interface Suspension {
  readonly from?: From;
  readonly until?: Until;
}

/** A managed user, which the service creates with a password from the environment. */
export interface ManagedUser extends Some<ManagedProperties> {
  /** Name of the environment variable that holds the first password, at least 8 characters. */
  readonly passwordEnv: string;
}

/** A desired member; an absent field is unmanaged and keeps its live value. */
export interface DesiredMember extends Some<MemberProperties> {
  readonly email: string;
  /** Pins the identity to one live member (`mem_…`). */
  readonly id?: string;
  /** The former addresses, at least one: the live member with one of them is the same person. */
  readonly previously?: readonly string[];
  readonly roles?: readonly Grant[];
  /** Beginning of the whole membership. */
  readonly from?: From;
  /** End of the whole membership. */
  readonly until?: Until;
  readonly suspended?: Suspension;
  /** Whether an expired invitation is renewed; absent: the merchant's options decide. */
  readonly reinvite?: boolean;
  readonly managed?: ManagedUser;
  readonly origin: Origin;
  /** The locations of fields that an entry other than the one at `origin` sets. Absent: none. */
  readonly setAt?: { readonly until?: Origin; readonly suspended?: Origin };
}

/** A period of time: its text, such as `30d`, and its length in ms. */
export interface Duration {
  readonly text: string;
  readonly ms: number;
}

/** The renewal of expired invitations: always, never, or while the entry's last commit is younger than a period. */
export type Reinvite = boolean | Duration;

/** The options for reconciling a merchant's file with the live state. */
export interface SyncOptions {
  readonly roles: SyncMode;
  readonly members: SyncMode;
  readonly reinvite: Reinvite;
  /** True if a role with changed metadata may be replaced, since the service cannot update it in place. */
  readonly replaceRoles: boolean;
}

/** Globs over names and ids of roles, and over addresses and ids of members, that plans ignore. */
export interface IgnorePatterns {
  readonly roles: readonly string[];
  readonly members: readonly string[];
}

/** A count, or a percentage of what is live. */
export type Amount = { readonly percent: number } | { readonly count: number };

/** The maximum number of removals at a merchant whose files set no limit. */
export const DEFAULT_REMOVAL_LIMIT: Amount = { percent: 25 };

/** The maximum number of people who may newly hold something or, with `reach`, could give it to themselves. */
export type GainLimit = Amount & { readonly reach?: true };

/** Limits on gains. The keys are `sensitive`, a permission, a pattern over permissions, or the name or id of a role. */
export type GainLimits = Readonly<Record<string, GainLimit>>;

/** Limits across all merchants of a run; absent ones are 5%. */
export interface RunLimits extends Pick<GuardSettings, "maxRemovals" | "maxGains"> {
  /** Absent for defaults. */
  readonly origin?: Origin;
}

/** Rules for the people of all merchants together: somebody at several merchants is one person. */
export interface RulesAcross {
  readonly policies: Policies;
  readonly checks: readonly Extract<Check, { readonly kind: "at-most" }>[];
  readonly origin: Origin;
}

/** The settings of a project, besides the rules that it enforces on some of its files. */
export interface ProjectSettings {
  /** Set if they are those of the base branch. */
  readonly by?: "base";
  readonly run?: RunLimits;
  readonly across?: RulesAcross;
  /** Globs over sensitive permissions; `!` excludes. Absent: the default. */
  readonly sensitive?: readonly string[];
  /** Permissions that exist, although no role may have them yet. Absent: none. */
  readonly permissions?: readonly string[];
  /** The branch that records the live states. Absent: none. */
  readonly liveBranch?: string;
}

/** The changes that an apply refuses without an override. */
export interface GuardSettings {
  /** Absent: `DEFAULT_REMOVAL_LIMIT`. */
  readonly maxRemovals?: Amount;
  /** Absent: the defaults. */
  readonly maxGains?: GainLimits;
  /** Names or ids of roles, and addresses or ids of members, that are neither changed nor removed. */
  readonly protect: IgnorePatterns;
  /** Role name or id → minimum of accepted holders. Absent: one `role_owner`. */
  readonly minHolders?: Readonly<Record<string, number>>;
  /** Overrides of refusals, each for one plan. Absent: none. */
  readonly overrides?: readonly string[];
}

/** The rules for the access that results from a plan. */
export interface Policies {
  /** Domains that members' addresses may have; `*.example.com` means every subdomain. Absent: any. */
  readonly emailDomains?: readonly string[];
  /** Sets of roles; nobody may hold two roles of a set. */
  readonly separate: readonly (readonly string[])[];
  /** Role → maximum number of holders. */
  readonly maxHolders: Readonly<Record<string, number>>;
  /** Role that must be granted with an end date → longest time until the end of a new grant; `null` for any. */
  readonly requireUntil: Readonly<Record<string, Duration | null>>;
  /** Roles whose holders must have MFA on login; a pending member counts as unknown. */
  readonly requireMfa: readonly string[];
  /** Permissions that no custom role may grant. */
  readonly forbidPermissions: readonly string[];
  /** The escalation permissions; an absent field stands for those of the service's operations. */
  readonly escalation?: Partial<Escalation>;
}

/** The permissions with which members can give themselves more access. */
export interface Escalation {
  /** Permissions for giving an existing role to somebody. */
  readonly assign: readonly string[];
  /** Permissions for changing what a custom role grants. */
  readonly edit: readonly string[];
  /** Create a role. */
  readonly create: readonly string[];
}

/**
 * The permissions with which a member can change access, as the operations of the service need them. The service does
 * not document whether members may extend their own access; it is assumed that they may.
 */
export const DEFAULT_ESCALATION: Escalation = {
  assign: ["members_create", "members_update"],
  edit: ["roles_update"],
  create: ["roles_create"],
};

/** A test of the access that results from a plan. Members are written as addresses, roles as `role:Name`. */
export type Check = (
  | { readonly kind: "only"; readonly can: string; readonly only: readonly string[] }
  | { readonly kind: "at-most"; readonly can: string; readonly atMost: number }
  | { readonly kind: "cannot"; readonly member: string; readonly cannot: readonly string[] }
) & {
  /** True if it also counts permissions that people can give themselves. */
  readonly reach?: true;
  readonly origin: Origin;
};

/** The file of rules that the project enforces; absent for the merchant's own rules. */
export interface EnforcedBy {
  readonly enforcedBy?: string | undefined;
}

/** Rules that a project enforces on a merchant's file, judged separately from the file's own rules, which cannot loosen them. */
export interface EnforcedRules {
  readonly guards: GuardSettings;
  readonly policies: Policies;
  readonly checks: readonly Check[];
  /** The rule file, followed by its includes. */
  readonly files: readonly [string, ...string[]];
  /** Set if they are the rules of the base branch. */
  readonly by?: "base";
}

/** The merchant that a file is for, and the connection settings that the file contains. */
export interface Addressed {
  readonly merchant: string;
  readonly environment?: Environment;
  readonly baseUrl?: string;
  /** Name of the environment variable that holds this merchant's API key. */
  readonly keyEnv?: string;
  readonly origin: Origin;
}

/** The desired state of one merchant, from its file and its includes, checked and normalised. */
export interface DesiredState extends Addressed {
  readonly sync: SyncOptions;
  readonly ignore: IgnorePatterns;
  readonly guards: GuardSettings;
  readonly policies: Policies;
  readonly checks: readonly Check[];
  /** The rules that the project enforces. Absent: none. */
  readonly enforced?: readonly EnforcedRules[];
  /** Settings of the project, and those of the base branch. Absent: the defaults. */
  readonly projects?: readonly ProjectSettings[];
  /** The sections that the project allows the merchant's file. Absent: all. */
  readonly allowed?: readonly string[];
  /** Roles and members that only rules of included files name; another merchant may have them. Absent: none. */
  readonly sharedRuleNames?: readonly string[];
  /** Roles that rules in included files name, and that another merchant with the same include declares. Absent: none. */
  readonly rolesElsewhere?: readonly string[];
  /** The files that the merchant's file includes, directly or indirectly. Absent: none. */
  readonly included?: readonly string[];
  /** Absent: roles are not managed here. */
  readonly roles?: readonly DesiredRole[];
  /** Absent: members are not managed here. */
  readonly members?: readonly DesiredMember[];
  /** One entry for each address. Absent: none. */
  readonly leavers?: readonly Leaver[];
  /**
   * Entries whose dates are reviewed, such as those of the base branch: for the limits, an end at such a date does not
   * count as a removal, but an end that is new or earlier does. Absent: no dates are known to be reviewed.
   */
  readonly reviewedEnds?: Pick<DesiredState, "members" | "leavers">;
}
