import type { Environment, From, Origin, Until } from "./desired.ts";
import type { MemberStatus } from "./live.ts";

/** The access at one merchant at a given time, with the locations of everything in the files, to answer questions from. */
export interface AccessSnapshot {
  /** The code of the merchant. */
  readonly merchant: string;
  /** `null` if unknown. */
  readonly environment: Environment | null;
  /** The merchant's own file. */
  readonly file: string;
  /** The source of the access. */
  readonly source: "declared" | "live";
  /** False if there may be live roles or members that the files do not list; true for a live snapshot. */
  readonly complete: boolean;
  /** Sorted by name. */
  readonly roles: readonly SnapshotRole[];
  /** Sorted by name. */
  readonly members: readonly SnapshotMember[];
}

/**
 * What the files of a merchant ignore: their patterns or, for a live snapshot, the roles and members that these match.
 */
export interface IgnoredAccess {
  readonly merchant: string;
  readonly roles: readonly string[];
  readonly members: readonly string[];
}

/** A role and what it grants. */
export interface SnapshotRole {
  /** Unique among the roles of a snapshot. */
  readonly key: string;
  /** The name, or the id of a predefined role that only files name. */
  readonly name: string;
  /** The name, with the id of a live role that is predefined or shares its name with another one. */
  readonly title: string;
  /** `null` if the files do not name it. */
  readonly id: string | null;
  /** The previous names in the files. */
  readonly previousNames: readonly string[];
  /** `null` if unknown: the files do not list them, or the service does not report them. */
  readonly permissions: readonly string[] | null;
  /** True if the service provides it. */
  readonly predefined: boolean;
  /** The location of its entry; `null` if no file declares it. */
  readonly origin: Origin | null;
  /** The location of the merchant's own adjustment of an included role; `null` if there is none. */
  readonly adjusted: Origin | null;
}

/** A member and the roles that it holds. */
export interface SnapshotMember {
  /** The address, else the id. */
  readonly name: string;
  /** `null` for a live member without a user or an invitation. */
  readonly email: string | null;
  /** The person's other addresses in the files. */
  readonly otherAddresses: readonly string[];
  /** `null` if the files do not name it. */
  readonly id: string | null;
  /** The live status of the membership; `declared` for access in the files. */
  readonly status: MemberStatus | "declared";
  /** False if the files leave the member's roles as they are. */
  readonly rolesKnown: boolean;
  /** The end of the whole membership in the files; `null` if there is none. */
  readonly end: AccessEnd | null;
  /** The expiry of its pending invitation, ISO 8601; `null` if there is none, or if it is unknown. */
  readonly invitedUntil: string | null;
  /** The location of its entry; `null` if no file declares it. */
  readonly origin: Origin | null;
  /** The roles that it holds, each once. */
  readonly held: readonly HeldRole[];
}

/** An end of access in the files. */
export interface AccessEnd {
  /** For `grant` and `membership`, the last day with access, or a time; for `leaver`, the first day or time without access. */
  readonly by: "grant" | "membership" | "leaver";
  /** The text, as written in the file. */
  readonly text: string;
  /** The first moment without access, in ms since the epoch. */
  readonly ends: number;
  /** The locations that set it. */
  readonly origins: readonly Origin[];
}

/** A suspension in the files: the membership stays, without roles. */
export interface AccessSuspension {
  /** `null` if it has no end. */
  readonly until: Until | null;
  readonly origin: Origin;
}

/**
 * The status of a held role: in the files, `active`, `ends` (at a future time), `ended`, `not-begun` or `suspended`;
 * live, the status of the membership.
 */
export type HoldingStatus = "active" | "ends" | "ended" | "not-begun" | "suspended" | MemberStatus;

/** A role that a member holds. */
export interface HeldRole {
  /** Key of the role. */
  readonly role: string;
  /** The start of the grant or of the membership in the files, whichever comes later; `null` if there is none. */
  readonly from: From | null;
  /** The end of the grant or of the membership in the files, whichever comes first; `null` if there is none. */
  readonly end: AccessEnd | null;
  /** Whether the grant is in effect, and if not, why. */
  readonly status: HoldingStatus;
  /** The suspension, if `status` is `suspended`; otherwise `null`. */
  readonly suspension: AccessSuspension | null;
  /** True if it gives access, now or once the invitation is accepted; false if it is ended, expired or disabled. */
  readonly effective: boolean;
  /** The locations of the grant; empty if it is in no file. */
  readonly origins: readonly Origin[];
}

/** A member that a question is about, with a role that it holds. */
export interface AccessAnswer {
  /** The code of the merchant. */
  readonly merchant: string;
  /** The environment of the merchant; `null` if unknown. */
  readonly environment: Environment | null;
  /** The member that holds the role. */
  readonly member: Omit<SnapshotMember, "held">;
  /** `null` for a member without any role. */
  readonly role: SnapshotRole | null;
  /** The member's grant of the role; `null` for a member without roles. */
  readonly held: HeldRole | null;
  /** The permissions of the role that the question is about, sorted; `null` if unknown. */
  readonly permissions: readonly string[] | null;
}

/** Members who may or may not belong to the answer. */
export interface UnknownAnswer {
  /** The code of the merchant. */
  readonly merchant: string;
  /** `role-permissions`: the permissions of `role` are unknown. `member-roles`: the files leave their roles as they are. */
  readonly reason: "role-permissions" | "member-roles";
  /** The name of the role; `null` if the roles are unknown. */
  readonly role: string | null;
  /** The names of the members. */
  readonly members: readonly string[];
}

/** The answers to a question. */
export interface AccessAnswers {
  /** Sorted by member and merchant; includes grants that give no access. */
  readonly answers: readonly AccessAnswer[];
  /** Members who may belong to the answer. */
  readonly unknown: readonly UnknownAnswer[];
  /** The names that the question matches: permissions, roles or members; distinct and sorted. */
  readonly matched: readonly string[];
}

/** An upcoming end of a grant or membership in the files, or of a live invitation. */
export interface ExpiringAccess {
  /** The code of the merchant. */
  readonly merchant: string;
  /** The environment of the merchant; `null` if unknown. */
  readonly environment: Environment | null;
  /** The member whose access ends. */
  readonly member: Pick<SnapshotMember, "name" | "email" | "id">;
  /** Kind of access that ends: a grant, the membership, all access of a person who leaves, or an invitation. */
  readonly what: AccessEnd["by"] | "invitation";
  /** The name of the role that ends; `null` for everything. */
  readonly role: string | null;
  /** The date as written in the file; for an invitation, in ISO 8601. */
  readonly text: string;
  /** The first moment without access, in ms since the epoch. */
  readonly ends: number;
  /** The locations that set it; for an invitation, that of the member's entry. */
  readonly origins: readonly Origin[];
}

/** A role through which a member can use a permission. */
export interface AccessWay {
  readonly role: SnapshotRole;
  readonly held: HeldRole;
  /** The members who hold the role, with access through it: their addresses, else ids, in lower case. */
  readonly holders: ReadonlySet<string>;
}

/** Explains whether and why a member can use a permission at a merchant. */
export interface AccessExplanation {
  readonly merchant: string;
  readonly environment: Environment | null;
  readonly member: Omit<SnapshotMember, "held">;
  readonly permission: string;
  /** The roles that grant it; it ends when all of them are taken away. Empty: the member cannot use it. */
  readonly ways: readonly AccessWay[];
  /** Roles that grant it and give no access: ended, expired or disabled. */
  readonly without: readonly AccessWay[];
  /** The names of held roles of which it is unknown whether they grant it. */
  readonly unclear: readonly string[];
}

/** The explanations of a member's access. */
export interface AccessExplanations {
  /** One for each merchant where the member is, and each permission. */
  readonly explanations: readonly AccessExplanation[];
  /** The members and the permissions that the question matches; distinct and sorted. */
  readonly members: readonly string[];
  readonly permissions: readonly string[];
}
