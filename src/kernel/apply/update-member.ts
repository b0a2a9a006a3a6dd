import { quoteIfNeeded } from "../../lib/text.ts";
import type { PasswordChange } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { MemberField, MemberValues } from "../../model/field-values.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Change, MemberChange, MemberImage } from "../../model/plan.ts";
import type { LiveLookup, LiveWriter, MemberUpdate, WriteOptions } from "../../model/ports.ts";
import { fieldDiffs, heldValues, pickFields, sentValues } from "../fields/field.ts";
import {
  filledMemberFields,
  isMemberField,
  liveValues,
  MEMBER_FIELDS,
  memberValues,
  withoutFields,
} from "../fields/member.ts";

/** Fields that the service has emptied because the update did not send them. */
export interface Emptied {
  readonly fields: readonly MemberField[];
  /** Metadata properties with numbers that were rounded when read, so that they cannot be restored. */
  readonly rounded: readonly string[];
  /** The exact JSON text of these properties, if known. */
  readonly exact: Readonly<Record<string, string>>;
  /** The values before the update. */
  readonly before: MemberValues;
}

/** The dependencies of an update. */
export interface UpdateContext {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  readonly putSemantics: PutSemantics;
  /** Returns the password of a managed user by its environment variable. */
  readonly password: (variable: string) => string;
  /** Name → id of the roles that this run has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
}

/**
 * Sends the changed fields of a member; returns the fields that the service has emptied, or `null` if there are none.
 * Sends the whole member if the service is known to empty absent fields. `found` is the live member, if just read.
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
  const changed = changedValues(change, context);
  const body = {
    ...memberUpdate(changed),
    ...("passwordEnv" in change && { password: context.password(change.passwordEnv) }),
  };
  if (!putSemantics.replaces && isKept(putSemantics, omittedFields(change))) {
    await writer.updateMember(id, body, options);
    return null;
  }
  const live = found ?? (await readMember(id, context));
  const before = live ? liveValues(live) : withRoleIds(memberValues(change.before), context.createdRoles);
  const rounded = "metadata" in changed ? [] : (found?.rounded ?? []);
  if (putSemantics.replaces) {
    if (rounded.length > 0) throw tooLarge(rounded, found?.exact ?? {});
    await writer.updateMember(id, { ...wholeUpdate(before), ...body }, options);
    return null;
  }
  const returned = await writer.updateMember(id, body, options);
  const omitted = filledMemberFields(before).filter(
    (field) => !(field in changed) && !putSemantics.kept.has(field),
  );
  // A response may show the member as before the update.
  const isShown = returned !== null && showsUpdate(returned, changed);
  const fields = await emptyAfter(id, omitted, { returned, isShown }, context);
  if (fields === null) return null;
  for (const field of omitted) if (!fields.includes(field)) putSemantics.kept.add(field);
  if (fields.length === 0) return null;
  putSemantics.replaces = true;
  return { fields, before, rounded, exact: found?.exact ?? {} };
}

/** Sends a whole member to restore emptied fields. Throws RolecallError, including if the fields stay empty. */
export async function restoreMember(
  change: MemberUpdateChange,
  { fields, before, rounded, exact }: Emptied,
  context: UpdateContext,
  options: WriteOptions,
): Promise<void> {
  const metadata = Object.entries(before.metadata).filter(([key]) => !rounded.includes(key));
  const changed = changedValues(change, context);
  const whole = { ...before, metadata: Object.fromEntries(metadata), ...changed };
  const update = { ...wholeUpdate(whole), ...memberUpdate(changed) };
  const returned = await context.writer.updateMember(change.id, update, options);
  const sent = filledMemberFields(whole).filter((field) => fields.includes(field));
  const empty = (await emptyAfter(change.id, sent, { returned, isShown: true }, context)) ?? [];
  if (empty.length > 0) {
    throw new RolecallError(
      "not-restored",
      `the service accepted the update that restores them, but ${empty.join(" and ")} ${empty.length === 1 ? "is" : "are"} still empty.`,
    );
  }
  if (rounded.length > 0) throw tooLarge(rounded, exact);
}

/**
 * Returns those of some fields that are empty after an update, `null` if the member is gone. A response may omit fields
 * that are not empty, so the member is read again unless it shows the update and all of the fields.
 */
async function emptyAfter(
  id: string,
  fields: readonly MemberField[],
  { returned, isShown }: { readonly returned: LiveMember | null; readonly isShown: boolean },
  context: UpdateContext,
): Promise<readonly MemberField[] | null> {
  const emptyIn = (member: LiveMember): readonly MemberField[] => {
    const filled = filledMemberFields(liveValues(member));
    return fields.filter((field) => !filled.includes(field));
  };
  if (fields.length === 0 || (returned !== null && isShown && emptyIn(returned).length === 0)) return [];
  const now = await readAfterUpdate(id, returned, context);
  return now && emptyIn(now);
}

/** Returns whether a response shows what was sent; if not, the response is not the state after the update. */
function showsUpdate(returned: LiveMember, sent: Partial<MemberValues>): boolean {
  const shown = liveValues(returned);
  return fieldDiffs<MemberValues>(MEMBER_FIELDS, shown, { ...shown, ...sent }).length === 0;
}

function tooLarge(properties: readonly string[], exact: Readonly<Record<string, string>>): RolecallError {
  const texts = properties.map((key) => `${quoteIfNeeded(key)}${exact[key] ? ` (${exact[key]})` : ""}`);
  return new RolecallError(
    "not-restored",
    `The service clears fields that an update does not contain, and the metadata ${texts.join(", ")} contains numbers too large to be sent exactly.`,
    { hint: "Change this member by hand, or store these numbers as text." },
  );
}

function changedValues(change: MemberUpdateChange, { createdRoles }: UpdateContext): Partial<MemberValues> {
  const after = withRoleIds(memberValues(change.after), createdRoles);
  return pickFields<MemberValues>(MEMBER_FIELDS, after, sentFields(change));
}

/** Returns values with the ids of roles, including those created by this run. */
export function withRoleIds(values: MemberValues, createdRoles: ReadonlyMap<string, string>): MemberValues {
  const roles = values.roles.map(({ id, name }) => ({ id: id ?? createdRoles.get(name) ?? null, name }));
  return { ...values, roles };
}

/** Returns the update that sends values. */
function memberUpdate(values: Partial<MemberValues>): MemberUpdate {
  return sentValues<MemberValues>(MEMBER_FIELDS, "put", values);
}

/** Returns the update that sends all values of a member. */
function wholeUpdate(values: MemberValues): MemberUpdate {
  return heldValues<MemberValues>(MEMBER_FIELDS, values);
}

async function readAfterUpdate(
  id: string,
  returned: LiveMember | null,
  { lookup }: UpdateContext,
): Promise<LiveMember | null> {
  try {
    return await lookup.getMember(id);
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    if (returned !== null && error.code === "forbidden") return returned;
    const { message, hint, request } = error.failure;
    throw new RolecallError(
      error.code,
      `The update was made, but it is unknown whether the service kept the fields that it left out: ${message}`,
      {
        ...(hint !== undefined && { hint }),
        request: { ...(request ?? { method: "", path: "", attempts: 0 }), uncertain: true },
        cause: error,
      },
    );
  }
}

/** Returns the live member; `null` if it is gone or the key may not read it. */
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

/** Returns whether a change is sent as an update of a member. */
export function isMemberUpdate(change: Change): change is MemberUpdateChange {
  return change.resource === "member" && change.kind === "update";
}

/** Returns the fields that an update sends. */
function sentFields({ fields }: MemberUpdateChange): ReadonlySet<MemberField> {
  return new Set(fields.map(({ field }) => field).filter(isMemberField));
}

/** Returns the fields with a value that an update does not send. */
export function omittedFields(change: MemberUpdateChange): readonly MemberField[] {
  const sent = sentFields(change);
  return filledMemberFields(memberValues(change.before)).filter((field) => !sent.has(field));
}

/** Returns a member's image after an update by a service that empties absent fields. */
export function emptiedImage(image: MemberImage, change: MemberUpdateChange): MemberImage {
  return withoutFields(image, omittedFields(change));
}

/** The service's treatment of fields that are absent from a member's update, as far as known. */
export interface PutSemantics {
  /** Absent fields that the service has kept. */
  readonly kept: Set<MemberField>;
  /** True if the service has emptied a field; updates then send whole members. */
  replaces: boolean;
  /** Resolves with the update that determines it; `null` if none is in progress. */
  probe: Promise<void> | null;
}

/** Returns the state in which nothing is known yet. */
export function unknownPutSemantics(): PutSemantics {
  return { kept: new Set(), replaces: false, probe: null };
}

/** Returns whether the service is known to keep absent fields. */
function isKept({ kept }: PutSemantics, omitted: readonly MemberField[]): boolean {
  return omitted.every((field) => kept.has(field));
}

/**
 * Runs the work of a change; one change at a time until it is known how the service treats absent fields, so that it
 * empties those of one member at most.
 */
export async function runOneUntilKnown<T>(
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
