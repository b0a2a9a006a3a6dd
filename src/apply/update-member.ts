import { RolecallError } from "../model/errors.ts";
import type { LiveMember } from "../model/live.ts";
import type { RoleRef } from "../model/plan.ts";
import type { LiveLookup, LiveWriter, MemberUpdate, WriteOptions } from "../model/ports.ts";
import { word } from "./differences.ts";
import {
  filledFields,
  type MemberField,
  type MemberFields,
  type MemberUpdateChange,
  omittedFields,
  sentFields,
} from "./member-fields.ts";
import { isKept, type PutSemantics } from "./put-semantics.ts";
import { isPasswordChange } from "./step.ts";

/** Fields that the service has emptied, since the update did not hold them. */
export interface Emptied {
  readonly fields: readonly MemberField[];
  /** Properties of emptied metadata with numbers that had to be rounded when they were read: they cannot be sent back. */
  readonly rounded: readonly string[];
  /** The member as it was before. */
  readonly before: MemberFields;
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
export async function updateMember(
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
  const before = fieldsOf(found ?? (await readMember(id, context))) ?? plannedFields(change, context);
  const rounded = sentFields(change).has("metadata") ? [] : (found?.rounded ?? []);
  if (putSemantics.replaces) {
    if (rounded.length > 0) throw tooLarge(rounded);
    await writer.updateMember(id, { ...wholeOf(before), ...body }, options);
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
  const metadata = Object.entries(before.metadata).filter(([key]) => !rounded.includes(key));
  const whole = wholeOf({ ...before, metadata: Object.fromEntries(metadata) });
  await context.writer.updateMember(change.id, { ...whole, ...body }, options);
  if (rounded.length > 0) throw tooLarge(rounded);
}

function tooLarge(properties: readonly string[]): RolecallError {
  return new RolecallError(
    "not-restored",
    `The service empties what an update does not hold, and the metadata ${properties.map(word).join(", ")} holds numbers too large to be sent exactly.`,
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

function wholeOf({ roles, metadata, nickname }: MemberFields): MemberUpdate {
  return { roles, metadata, ...(nickname !== "" && { nickname }) };
}

function fieldsOf(member: LiveMember | null): MemberFields | null {
  if (member === null) return null;
  const { roles, metadata, user } = member;
  return { roles, metadata, nickname: (user?.type === "managed_user" && user.nickname) || "" };
}

function plannedFields({ before }: MemberUpdateChange, { roleIds }: UpdateContext): MemberFields {
  return {
    roles: roleIds(before.roles),
    metadata: before.metadata,
    nickname: before.managed?.nickname ?? "",
  };
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
    const now = fieldsOf(member);
    const filled = now === null ? omitted : filledFields(now);
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
      `The update was done, but not whether the service kept the fields it left out: ${message}`,
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
