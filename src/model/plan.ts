import type { Environment } from "./desired.ts";
import type { Severity } from "./diagnostic.ts";
import type {
  ManagedProperties,
  MemberProperties,
  MemberValues,
  NamedDiff,
  RoleImage,
  RoleRef,
} from "./field-values.ts";
import type { MemberStatus } from "./live.ts";
import type { ReviewedState } from "./reviewed.ts";

/** The state of a member before or after a change. */
export interface MemberImage extends MemberProperties {
  readonly email: string | null;
  /** Sorted by name, without duplicates. */
  readonly roles: readonly RoleRef[];
  /** Only for managed users; `passwordEnv` names the variable with the first password of a user to create. */
  readonly managed: (ManagedProperties & { readonly passwordEnv: string | null }) | null;
  /** `null` before it exists. */
  readonly status: MemberStatus | null;
}

/**
 * Why a change is planned: the file declares it, or does not list it, or grants it only until a past date or from a
 * future one; the person has left, is suspended or is back; an invitation has expired; the service cannot change a
 * field in place; an earlier run is undone.
 */
export type Reason =
  | "declared"
  | "unlisted"
  | "access-ended"
  | "access-not-begun"
  | "left"
  | "suspended"
  | "suspension-ended"
  | "address-changed"
  | "invitation-expired"
  | "immutable-field"
  | "undone";

/** One field that an update changes. */
export type FieldDiff = NamedDiff<RoleImage & MemberValues>;

export interface ChangeBase {
  readonly reason: Reason;
  /** Hash of the change, without times and order: identical changes have the same fingerprint. */
  readonly fingerprint: string;
}

export interface Create<Image> extends ChangeBase {
  readonly kind: "create";
  readonly id: null;
  readonly before: null;
  readonly after: Image;
  readonly fields: readonly [];
}

export interface Update<Image> extends ChangeBase {
  readonly kind: "update";
  readonly id: string;
  readonly before: Image;
  readonly after: Image;
  /** Never empty. */
  readonly fields: readonly FieldDiff[];
}

/** A new role replaces `id`, which is then removed. */
export interface Replace<Image> extends ChangeBase {
  readonly kind: "replace";
  readonly id: string;
  readonly before: Image;
  readonly after: Image;
  readonly fields: readonly FieldDiff[];
  /** The id of the successor that an earlier run has already created. Not part of the fingerprint. */
  readonly resumed: string | null;
}

export interface Delete<Image> extends ChangeBase {
  readonly kind: "delete";
  readonly id: string;
  readonly before: Image;
  readonly after: null;
  readonly fields: readonly [];
}

export type ChangeOf<Image> = Create<Image> | Update<Image> | Replace<Image> | Delete<Image>;

/** A change of one custom role; `name` is its name, or for a new role the name that it will have. */
export type RoleChange = { readonly resource: "role"; readonly name: string } & ChangeOf<RoleImage>;

/** A change of one member; `name` is its e-mail address, else its id. */
export type MemberChange = { readonly resource: "member"; readonly name: string } & ChangeOf<MemberImage>;

/** A change that an apply would make. */
export type Change = RoleChange | MemberChange;

/**
 * A removal that is deferred, so that a role keeps enough accepted holders, or a person whose address changes keeps
 * access; or an invitation to the address of a member whose removal is deferred.
 */
export interface Deferred {
  readonly change: Change;
  /** The role that would have too few; `null` for a person whose address changes. */
  readonly role: string | null;
  /** Addresses of the members who must accept first; empty after an apply if they have accepted in the meantime. */
  readonly waitsFor: readonly string[];
}

/** The permissions that a person gains and loses, and roles with unknown permissions. */
export interface MemberImpact {
  readonly name: string;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly unknownGained: readonly string[];
  readonly unknownLost: readonly string[];
}

/** A step by which somebody gets more access: they get a role, or change or create one. */
export interface ReachStep {
  readonly does: "assign" | "edit" | "create";
  /** The permission that allows it. */
  readonly by: string;
  /** The name of the role; `null` for a new one. */
  readonly role: string | null;
}

/** The effect of a plan on people. */
export interface Impact {
  /** The affected members, sorted by name. */
  readonly members: readonly MemberImpact[];
  /** Number of members who gain and lose each permission, by permission. */
  readonly permissions: readonly {
    readonly permission: string;
    readonly gained: number;
    readonly lost: number;
  }[];
  /** Roles whose holders change, by name. */
  readonly roles: readonly { readonly name: string; readonly before: number; readonly after: number }[];
  /** Members who gain something, and the permissions that they could then give themselves. Absent: nobody. */
  readonly reach?: readonly { readonly name: string; readonly permissions: readonly string[] }[];
  /**
   * What members held under a previous address, or through an expired invitation that is renewed; roles are ids.
   * Absent: nobody.
   */
  readonly formerly?: readonly {
    readonly name: string;
    readonly roles: readonly string[];
    readonly permissions: readonly string[];
  }[];
  /** The sensitive ones among the permissions of members above and of changed roles. Absent: none. */
  readonly sensitive?: readonly string[];
}

/** The kind of rule that refuses. */
export type RefusalRule = "guard" | "policy" | "check";

/** A reason to refuse an apply. */
export interface Refusal {
  readonly rule: RefusalRule;
  /** Stable, kebab-case. */
  readonly code: string;
  readonly resource: "role" | "member" | null;
  readonly name: string | null;
  /** The check on one line; `null` for other rules. */
  readonly check: string | null;
  readonly message: string;
  readonly hint: string;
  /** The argument of `--allow` that overrides it, without the plan's fingerprint; `null` if it cannot be overridden. */
  readonly override: string | null;
  /** The key below the guard in the file, such as a role; absent if the guard has none. */
  readonly key?: string;
  /** Absent if the file's own rule refuses; `base` if only the base branch has the rule. */
  readonly by?: "base";
  /** The rule file that the project enforces. Absent if the rule is not enforced, so that the file can override it. */
  readonly rules?: string;
}

/** A warning or an error about a role or member; an error prevents an apply. */
export interface Finding {
  /** Stable, kebab-case. */
  readonly code: string;
  readonly severity: Severity;
  readonly resource: "role" | "member";
  /** The role's name or the member's address. */
  readonly name: string;
  /** For a finding about a member: the granted role that it concerns, as the file names it. */
  readonly role?: string;
  /** The check that is violated, on one line. */
  readonly check?: string;
  /** The rule file that is violated, if the project enforces it. */
  readonly rules?: string;
  readonly message: string;
  readonly hint: string | null;
}

/** The number of resources of a kind that a plan creates, updates, replaces, deletes and leaves unchanged. */
export interface Counts {
  readonly create: number;
  readonly update: number;
  readonly replace: number;
  readonly delete: number;
  readonly unchanged: number;
  /**
   * Number of live resources that the file does not manage: it has no such section, or an additive one that does not
   * list them.
   */
  readonly unmanaged?: number;
}

/** The recorded live state that a plan takes into account; it can only hold back invitations. */
export interface RecordedInput {
  /** The commit of the branch that has the record. */
  readonly commit: string;
  /** The time of that commit, ISO 8601. */
  readonly at: string;
  /** Addresses, in lower case, of listed members who left although no run removed them: they are not invited. */
  readonly departed: readonly string[];
}

/** The changes planned for one merchant: plain data that can be written as JSON and read back. */
export interface Plan {
  readonly format: 1;
  readonly merchant: string;
  readonly environment: Environment | null;
  /** Base URL of the service that was read. */
  readonly service: string;
  /** Hash of merchant, environment, service and changes. */
  readonly fingerprint: string;
  readonly summary: { readonly roles: Counts; readonly members: Counts };
  readonly impact: Impact;
  /** End states that a review of this plan approves. */
  readonly reviewed: ReviewedState;
  /** In display order: roles, then members, each by name. */
  readonly changes: readonly Change[];
  readonly deferred: readonly Deferred[];
  readonly refusals: readonly Refusal[];
  /** Refusals that the file overrides for this plan. Absent: none. */
  readonly overridden?: readonly Refusal[];
  readonly findings: readonly Finding[];
  /** Absent if no live state was recorded. */
  readonly recorded?: RecordedInput;
}

/** The reasons for leaving changes out, by the id of the change; `null` for a chosen one. */
export type LeftOut = ReadonlyMap<string, string | null>;

/** The plans of several merchants without some of their changes. */
export interface Selection {
  /** The plans of what is kept, each judged as a plan of its own; in the order of the whole plans. */
  readonly plans: readonly Plan[];
  /** Ids of all changes that are left out, with the reason; `null` for a chosen one. */
  readonly out: LeftOut;
  /** The fingerprint over all of these plans. */
  readonly run: string;
  /** Fingerprints to plan without, by the order of the plans. */
  readonly leaveOut: readonly ReadonlySet<string>[];
}

/** Returns what is selected if the changes of these ids are left out. */
export type JudgeSelection = (chosen: ReadonlySet<string>) => Selection;

/** Identifies a change among those of all merchants, since two merchants can have identical changes. */
export function changeId(merchant: string, { fingerprint }: Pick<Change, "fingerprint">): string {
  return `${merchant}\n${fingerprint}`;
}
