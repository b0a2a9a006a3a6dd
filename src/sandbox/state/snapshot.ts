import { z } from "zod";

const MAX_PROPERTIES = 64;
const MAX_DEPTH = 32;

function fitsDepth(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => fitsDepth(inner, left - 1));
}

/** Says whether a value may be the metadata of a role or a member: an object of at most 64 properties. */
export function hasMetadataForm(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= MAX_PROPERTIES &&
    // Deeper nesting could be read but not written again: it would break every list that it is in.
    fitsDepth(value, MAX_DEPTH)
  );
}

/** What a value has to be for `hasMetadataForm`, for messages. */
export const METADATA_FORM = `must be an object of at most ${MAX_PROPERTIES} properties, nested at most ${MAX_DEPTH} deep`;

/** Every status that a membership can be seen in. */
export const STATUSES = ["accepted", "pending", "expired", "disabled", "unknown"] as const;

/** A membership's status as the service tells it. */
export type Status = (typeof STATUSES)[number];

const metadata = z.custom<Readonly<Record<string, unknown>>>(hasMetadataForm);

const userSchema = z.strictObject({
  id: z.string(),
  email: z.string(),
  mfa: z.boolean(),
  type: z.string(),
  disabledAt: z.number().optional(),
  nickname: z.string().optional(),
  classicId: z.number(),
  /** Digests of the passwords that a managed user has had. */
  passwords: z.array(z.string()).readonly().optional(),
});

const inviteSchema = z.strictObject({ email: z.string(), expiresAt: z.number() });

/** The form of a member in a state file. */
export const memberSchema = z.strictObject({
  id: z.string(),
  /** Role ids. */
  roles: z.array(z.string()).readonly(),
  /** `expired` is never stored: it follows from the invitation and the clock. */
  status: z.enum(["accepted", "pending", "disabled", "unknown"]),
  user: userSchema.readonly().optional(),
  invite: inviteSchema.readonly().optional(),
  metadata: metadata.optional(),
  attributes: z.record(z.string(), z.unknown()).readonly().optional(),
  /** The deprecated ones: access follows from the roles alone. */
  permissions: z.array(z.string()).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** The form of a role in a state file. */
export const roleSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  permissions: z.array(z.string()).readonly(),
  metadata: metadata.optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const keySchema = z.strictObject({
  key: z.string(),
  /** E-mail address of the user that the key belongs to; absent for a key of nobody. */
  owner: z.string().optional(),
  /** Merchant codes; absent: every merchant. */
  merchants: z.array(z.string()).readonly().optional(),
  /** Absent: every permission. */
  permissions: z.array(z.string()).readonly().optional(),
});

const accountSchema = z.strictObject({
  type: z.enum(["merchant", "organization"]),
  id: z.string(),
  name: z.string(),
  sandbox: z.boolean(),
  parent: z.strictObject({ type: z.string(), id: z.string() }).readonly().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  roles: z.array(roleSchema.readonly()),
  members: z.array(memberSchema.readonly()),
});

/** What a state file holds. */
export const snapshotSchema = z.strictObject({
  format: z.literal("rolecall-sandbox"),
  version: z.literal(1),
  /** Numbers the things that were created, so that their ids never repeat. */
  counter: z.number().int().min(0),
  keys: z.array(keySchema.readonly()),
  accounts: z.array(accountSchema),
});

/** A custom role; times in milliseconds since the epoch. */
export type Role = Readonly<z.infer<typeof roleSchema>>;
/** The end-user behind a membership. */
export type User = Readonly<z.infer<typeof userSchema>>;
/** A membership in a merchant or an organization; times in milliseconds since the epoch. */
export type Member = Readonly<z.infer<typeof memberSchema>>;
/** An API key and what it may do. */
export type ApiKey = Readonly<z.infer<typeof keySchema>>;
/** Everything about one merchant or organization, as a seed or a state file brings it. */
export type AccountData = z.infer<typeof accountSchema>;
/** Everything that the sandbox knows, as plain data. */
export type Snapshot = z.infer<typeof snapshotSchema>;

const place = { change: z.enum(["merchant", "organization"]), of: z.string() };

const changeSchema = z.union([
  z.strictObject({ change: z.literal("counter"), counter: z.number().int().min(0) }),
  z.strictObject({ ...place, member: memberSchema.readonly() }),
  z.strictObject({ ...place, role: roleSchema.readonly() }),
  z.strictObject({ ...place, gone: z.string() }),
  z.strictObject({ ...place, first: z.string() }),
]);

/** One change of the state, as a state file has it behind the state that it follows. */
export type StateChange =
  | { readonly change: "counter"; readonly counter: number }
  | {
      readonly change: "merchant" | "organization";
      readonly of: string;
      /** Added, or put in the place of the one with this id. */
      readonly member?: Member;
      readonly role?: Role;
      /** Id of a member or a role. */
      readonly gone?: string;
      /** Id of the member that is listed first from now on. */
      readonly first?: string;
    };

/** What every line of a change begins with, and no line of a state. */
export const CHANGE_MARK = '{"change":';

/** Reads one line; null where it is none. */
export function parseChange(line: string): StateChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
