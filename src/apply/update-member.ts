import { quoteIfNeeded } from "../lib/text.ts";
import type { PasswordChange } from "../model/apply.ts";
import { RolecallError } from "../model/errors.ts";
import type { LiveMember } from "../model/live.ts";
import type { Change, MemberChange, MemberImage, RoleRef } from "../model/plan.ts";
import type { LiveLookup, LiveWriter, MemberUpdate, WriteOptions } from "../model/ports.ts";
import { isPasswordChange } from "./phases.ts";

/** Fields that the service has emptied, since the update did not hold them. */
export interface Emptied {
  readonly fields: readonly MemberField[];
  /** Properties of emptied metadata with numbers that had to be rounded when they were read: they cannot be sent back. */
  readonly rounded: readonly string[];
  /** The update that sends the member whole, as it was before. */
  readonly before: MemberUpdate;
}

/** Everything that an update needs besides the change. */
export interface UpdateContext {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  readonly putSemantics: PutSemantics;
  readonly password: (variable: string) => string;
  /** The ids of roles, also of those that this apply has created. */
  readonly roleIds: (roles: readonly RoleRef[]) => readonly string[];
}

/**
 * Sends the fields that a change changes, and returns what the service has emptied besides, null where nothing.
 * Members are sent whole where the service is known to empty absent fields. `found` is the member as just read.
 * Throws RolecallError.
 */
export async function sendMemberUpdate(
  change: MemberUpdateChange,
  context: UpdateContext,
  found: LiveMember | null,
  options: WriteOptions,
): Promise<Emptied | null> {
  const { writer, putSemantics } = context;
  const { id } = change;
  const body = changedFields(change, context);
  if (!putSemantics.replaces && isKept(putSemantics, omittedFields(change))) {
    await writer.updateMember(id, body, options);
    return null;
  }
  const live = found ?? (await readMember(id, context));
  const before = live ? wholeOf(live) : plannedWhole(change, context);
  const rounded = sentFields(change).has("metadata") ? [] : (found?.rounded ?? []);
  if (putSemantics.replaces) {
    if (rounded.length > 0) throw tooLarge(rounded);
    await writer.updateMember(id, { ...before, ...body }, options);
    return null;
  }
  const answered = await writer.updateMember(id, body, options);
  const sent = sentFields(change);
  const omitted = filledFields(before).filter((field) => !sent.has(field));
  const fields = await emptiedFields(id, omitted, answered, context);
  return fields.length === 0 ? null : { fields, before, rounded };
}

/** Sends a member whole, to restore what the service has emptied. Throws RolecallError. */
export async function restoreMember(
  change: MemberUpdateChange,
  { before, rounded }: Emptied,
  context: UpdateContext,
  options: WriteOptions,
): Promise<void> {
  const { password: _, ...body } = changedFields(change, { ...context, password: () => "" });
  const metadata = Object.entries(before.metadata ?? {}).filter(([key]) => !rounded.includes(key));
  const whole = { ...before, metadata: Object.fromEntries(metadata) };
  await context.writer.updateMember(change.id, { ...whole, ...body }, options);
  if (rounded.length > 0) throw tooLarge(rounded);
}

function tooLarge(properties: readonly string[]): RolecallError {
  return new RolecallError(
    "not-restored",
    `The service empties what an update does not hold, and the metadata ${properties.map(quoteIfNeeded).join(", ")} holds numbers too large to be sent exactly.`,
    { hint: "Change this member by hand, or make these numbers texts." },
  );
}

function changedFields(
  change: MemberUpdateChange,
  { roleIds, password }: Pick<UpdateContext, "roleIds" | "password">,
): MemberUpdate {
  const { after } = change;
  const sent = sentFields(change);
  const nickname = after.managed?.nickname ?? null;
  return {
    ...(sent.has("roles") && { roles: roleIds(after.roles) }),
    ...(sent.has("metadata") && { metadata: after.metadata }),
    ...(sent.has("nickname") && nickname !== null && { nickname }),
    ...(isPasswordChange(change) && { password: password(change.passwordEnv) }),
  };
}

/** Returns the update that sends a member whole. */
function wholeOf({ roles, metadata, user }: LiveMember): MemberUpdate {
  const nickname = (user?.type === "managed_user" && user.nickname) || "";
  return { roles, metadata, ...(nickname !== "" && { nickname }) };
}

function plannedWhole({ before }: MemberUpdateChange, { roleIds }: UpdateContext): MemberUpdate {
  const nickname = before.managed?.nickname ?? "";
  return { roles: roleIds(before.roles), metadata: before.metadata, ...(nickname !== "" && { nickname }) };
}

/** Which of the omitted fields are empty after an update; takes note of those that are not. */
async function emptiedFields(
  id: string,
  omitted: readonly MemberField[],
  answered: LiveMember | null,
  context: UpdateContext,
): Promise<readonly MemberField[]> {
  const { putSemantics } = context;
  const emptyIn = (member: LiveMember | null): readonly MemberField[] => {
    const filled = member === null ? omitted : filledFields(wholeOf(member));
    return omitted.filter((field) => !filled.includes(field) && !putSemantics.kept.has(field));
  };
  if (omitted.every((field) => putSemantics.kept.has(field))) return [];
  // An answer may leave out what is there all the same.
  const trusted = answered !== null && emptyIn(answered).length === 0;
  const now = trusted ? answered : await readAfterUpdate(id, answered, context);
  if (now === null) return [];
  const fields = emptyIn(now);
  for (const field of omitted) if (!fields.includes(field)) putSemantics.kept.add(field);
  if (fields.length > 0) putSemantics.replaces = true;
  return fields;
}

async function readAfterUpdate(
  id: string,
  answered: LiveMember | null,
  { lookup }: UpdateContext,
): Promise<LiveMember | null> {
  try {
    return await lookup.getMember(id);
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    if (answered !== null && error.code === "forbidden") return answered;
    const { message, hint, request } = error.failure;
    throw new RolecallError(
      error.code,
      `The update was done; whether the service kept the fields that it left out is unknown: ${message}`,
      {
        ...(hint !== undefined && { hint }),
        request: { ...(request ?? { method: "", path: "", attempts: 0 }), uncertain: true },
        cause: error,
      },
    );
  }
}

/** The member as it is now; null where it is gone, or this key may not read it. */
async function readMember(id: string, { lookup }: UpdateContext): Promise<LiveMember | null> {
  try {
    return await lookup.getMember(id);
  } catch (error) {
    if (error instanceof RolecallError && error.code === "forbidden") return null;
    throw error;
  }
}

/** A change that is sent as an update of a member. */
export type MemberUpdateChange = (MemberChange | PasswordChange) & { readonly kind: "update" };

/** A field of a member that an update can hold. */
export type MemberField = "roles" | "metadata" | "nickname";

/** Whether a change is sent as an update of a member. */
export function isMemberUpdate(change: Change): change is MemberUpdateChange {
  return change.resource === "member" && change.kind === "update";
}

/** The fields that an update of a member sends. */
function sentFields({ fields }: MemberUpdateChange): ReadonlySet<MemberField> {
  return new Set(
    fields.flatMap(({ field }) =>
      field === "roles" || field === "metadata" || field === "nickname" ? [field] : [],
    ),
  );
}

/** The fields that an update leaves out although the member has something there. */
export function omittedFields(change: MemberUpdateChange): readonly MemberField[] {
  const { roles, metadata, managed } = change.before;
  const sent = sentFields(change);
  const filled = filledFields({
    roles: roles.map(({ name }) => name),
    metadata,
    nickname: managed?.nickname ?? "",
  });
  return filled.filter((field) => !sent.has(field));
}

/** Returns the fields of a member that hold anything. */
function filledFields({ roles = [], metadata = {}, nickname = "" }: MemberUpdate): readonly MemberField[] {
  return [
    ...(roles.length > 0 ? (["roles"] as const) : []),
    ...(Object.keys(metadata).length > 0 ? (["metadata"] as const) : []),
    ...(nickname === "" ? [] : (["nickname"] as const)),
  ];
}

/** A member's image as a service leaves it that empties the fields that an update does not hold. */
export function emptiedImage(image: MemberImage, change: MemberUpdateChange): MemberImage {
  const omitted = new Set(omittedFields(change));
  return {
    ...image,
    ...(omitted.has("roles") && { roles: [] }),
    ...(omitted.has("metadata") && { metadata: {} }),
    ...(omitted.has("nickname") && image.managed && { managed: { ...image.managed, nickname: null } }),
  };
}

/** How a service treats the fields that an update of a member does not hold, as far as a run has seen. */
export interface PutSemantics {
  /** Fields that an update did not hold and the service kept. */
  readonly kept: Set<MemberField>;
  /** The service has emptied a field: from then on members are sent whole. */
  replaces: boolean;
  /** Ends with the update that finds it out, for which all others wait; null while there is none. */
  probe: Promise<void> | null;
}

/** Nothing is known yet. */
export function unknownPutSemantics(): PutSemantics {
  return { kept: new Set(), replaces: false, probe: null };
}

/** Whether the service is known to keep fields that an update leaves out. */
function isKept({ kept }: PutSemantics, omitted: readonly MemberField[]): boolean {
  return omitted.every((field) => kept.has(field));
}

/**
 * Does the work of a change; one by one while it would show how the service treats what an update leaves out, so that
 * a service that empties it does so to one member only.
 */
export async function oneUntilKnown<T>(
  semantics: PutSemantics,
  change: Change,
  work: () => Promise<T>,
): Promise<T> {
  if (!isMemberUpdate(change)) return work();
  const omitted = omittedFields(change);
  for (;;) {
    if (semantics.replaces || isKept(semantics, omitted)) return work();
    if (semantics.probe === null) break;
    await semantics.probe;
  }
  const probing = work();
  const ended = (): void => {
    semantics.probe = null;
  };
  semantics.probe = probing.then(ended, ended);
  return probing;
}
