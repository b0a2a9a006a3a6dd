/** Times of creation and last change; absent: 2026-01-05T09:00:00Z. */
export interface SandboxTimes {
  /** ISO 8601. */
  readonly created_at?: string | undefined;
  /** ISO 8601. */
  readonly updated_at?: string | undefined;
}

/** The resource that an account belongs to. */
export interface SandboxParent {
  readonly type: string;
  readonly id: string;
}

/** A custom role of a seed. */
export interface SandboxRole extends SandboxTimes {
  readonly name: string;
  /** Such as `role_7Kq2`; absent: made from the merchant and the name. */
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly permissions?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A member of a seed. */
export interface SandboxMember extends SandboxTimes {
  /** E-mail address; required unless `no_address` is true. */
  readonly email?: string | undefined;
  /** Names or ids of roles. */
  readonly roles?: readonly string[] | undefined;
  /** Absent: accepted. */
  readonly status?: "accepted" | "pending" | "expired" | "disabled" | "unknown" | undefined;
  /** Such as `mem_7Kq2`; absent: made from the account and the address. */
  readonly id?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** Deprecated permissions, which grant nothing. */
  readonly permissions?: readonly string[] | undefined;
  /** `true` if MFA on login is enabled. */
  readonly mfa?: boolean | undefined;
  /** Makes it a managed user. */
  readonly managed?: { readonly nickname?: string | undefined } | undefined;
  readonly service_account?: boolean | undefined;
  /** Type of the user, such as `system_account`. */
  readonly type?: string | undefined;
  /** A member without user and invitation. */
  readonly no_address?: boolean | undefined;
  /** UUID of the user. */
  readonly user_id?: string | undefined;
  /** Expiry of a pending or expired invitation, in ISO 8601. */
  readonly expires_at?: string | undefined;
}

/** A merchant of a seed. */
export interface SandboxMerchant extends SandboxTimes {
  readonly code: string;
  readonly name?: string | undefined;
  /** URL of at most 256 characters. */
  readonly logo?: string | undefined;
  /** True for a test account; absent: true. */
  readonly sandbox?: boolean | undefined;
  readonly parent?: SandboxParent | undefined;
  readonly roles?: readonly SandboxRole[] | undefined;
  readonly members?: readonly SandboxMember[] | undefined;
}

/** An organization of a seed. */
export interface SandboxOrganization extends SandboxTimes {
  readonly id: string;
  readonly name?: string | undefined;
  /** URL of at most 256 characters. */
  readonly logo?: string | undefined;
  /** True for a test account; absent: true. */
  readonly sandbox?: boolean | undefined;
  readonly parent?: SandboxParent | undefined;
  readonly members?: readonly SandboxMember[] | undefined;
}

/** An API key. */
export interface SandboxKey {
  /** Printable ASCII without spaces. */
  readonly key: string;
  /** E-mail address of the user whose key it is; absent: the key belongs to no user. */
  readonly owner?: string | undefined;
  /** Codes of the merchants that it reaches; absent: all. */
  readonly merchants?: readonly string[] | undefined;
  /** Permissions such as `roles_list`, or scopes such as `roles.read`; absent: all. */
  readonly permissions?: readonly string[] | undefined;
}

/** The state that a sandbox begins with. */
export interface SandboxSeed {
  readonly merchants: readonly SandboxMerchant[];
  readonly organizations?: readonly SandboxOrganization[] | undefined;
  /** Absent: `sk_test_sandbox`, which may do everything and belongs to the first merchant's owner. */
  readonly keys?: readonly SandboxKey[] | undefined;
}
