import type { PasswordChange, Step } from "../../model/apply.ts";
import type { ManagedProperties, MemberValues, RoleImage } from "../../model/field-values.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Change, MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import type {
  Created,
  CreateMember,
  CreateRole,
  HoldBack,
  LiveLookup,
  LiveWriter,
  RolePatch,
  WriteOptions,
} from "../../model/ports.ts";
import { pickFields, sentValues } from "../fields/field.ts";
import { COMMON_FIELDS, type CommonValues, MANAGED_FIELDS, memberValues } from "../fields/member.ts";
import { isRoleField, ROLE_FIELDS } from "../fields/role.ts";
import { temporaryName } from "../fields/temporary-name.ts";
import {
  type Emptied,
  emptiedImage,
  isMemberUpdate,
  type PutSemantics,
  restoreMember,
  sendMemberUpdate,
  type UpdateContext,
} from "./update-member.ts";

/** The dependencies of a write. */
export interface WriteContext {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  readonly putSemantics: PutSemantics;
  /** Returns the password of a managed user by its environment variable. */
  readonly password: (variable: string) => string;
  /** Name → id of the roles that this run has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
  /** Delays an invitation while its address is refused. */
  readonly holdBack: HoldBack;
}

/** The result of a write. */
export interface Sent extends Created {
  /** Fields that the service has emptied. */
  readonly emptied?: Emptied;
}

/** A write request. */
export interface Write {
  readonly part: Step["part"];
  /** The id of the resource; `null` if the write creates it; for a renewed invitation, the id of the expired one. */
  readonly id: string | null;
  /** The planned state before the write; `null` if it creates the resource. */
  readonly before: RoleImage | MemberImage | null;
  /** The state after the write; `null` if it removes the resource. */
  readonly after: RoleImage | MemberImage | null;
  /** Sends the request; `found` is the live member, if it was checked before. Throws RolecallError. */
  send(options: WriteOptions, found?: LiveMember): Promise<Sent>;
}

/** An update of a role. */
export type RoleUpdate = RoleChange & { readonly kind: "update" };

/** A change that replaces an expired invitation. */
export type Reinvitation = MemberChange & { readonly kind: "replace" };

/** Returns whether a change replaces an expired invitation. */
export function isReinvitation(change: Change | PasswordChange): change is Reinvitation {
  return change.resource === "member" && change.kind === "replace";
}

/** Returns whether a change only sets a new password. */
export function isPasswordChange(change: Change | PasswordChange): change is PasswordChange {
  return "passwordEnv" in change;
}

/** Returns the write of a step that has a single write. */
export function writeOf(
  change: Exclude<Change | PasswordChange, Reinvitation>,
  part: Step["part"],
  context: WriteContext,
): Write {
  return change.resource === "role"
    ? roleWrite(change, part, context.writer)
    : memberWrite(change, part, context);
}

/** Returns the writes of a reinvitation: `remove` and `again` are needed only if the service refuses `invite`. */
export function reinvitationWrites(
  change: Reinvitation,
  context: WriteContext,
): { readonly invite: Write; readonly remove: Write; readonly again: Write } {
  const { id, before } = change;
  const again = memberCreation(change, "create", context);
  const invite: Write = { ...again, id, before };
  const remove = removal("remove", change, (expired, options) =>
    context.writer.deleteMember(expired, options),
  );
  // Sends the new invitation even after a stop: otherwise, its content would be lost with the removed one.
  const finish: Write = { ...again, send: (options) => again.send({ ...options, finishes: true }) };
  return { invite, remove, again: finish };
}

function roleWrite(change: RoleChange, part: Step["part"], writer: LiveWriter): Write {
  if (part === "set-aside" && change.before !== null) {
    const { id, before } = change;
    // The temporary name is the successor's with a suffix: after an interruption, the next run finds the role by that
    // name.
    const name = temporaryName(change.kind === "replace" ? change.after.name : before.name, id);
    const send: Write["send"] = (options) => writtenTo(id, writer.updateRole(id, { name }, options));
    return { part, id, before, after: { ...before, name }, send };
  }
  switch (change.kind) {
    case "create":
      return roleCreation(change.after, part, writer);
    case "update":
      return roleUpdate(change, part, writer);
    case "replace":
      return part === "create"
        ? roleCreation(change.after, part, writer)
        : removal(part, change, (id, options) => writer.deleteRole(id, options));
    case "delete":
      return removal(part, change, (id, options) => writer.deleteRole(id, options));
    default:
      return change satisfies never;
  }
}

/** Returns the write of an update, or of a part of it: only the new permissions, or everything else. */
function roleUpdate(change: RoleUpdate, part: Step["part"], writer: LiveWriter): Write {
  const { id, before, after } = change;
  const permissions = after.permissions.filter((permission) => before.permissions.includes(permission));
  const narrowed = { ...after, permissions };
  const [from, to] = [part === "widen" ? narrowed : before, part === "narrow" ? narrowed : after];
  const fields = change.fields.map(({ field }) => field).filter(isRoleField);
  const keepsPermissions = part === "narrow" && permissions.length === before.permissions.length;
  const changed = new Set(
    fields.filter((field) => (field === "permissions" ? !keepsPermissions : part !== "widen")),
  );
  const patch = patchTo(to, changed);
  const send: Write["send"] = (options) => writtenTo(id, writer.updateRole(id, patch, options));
  return { part, id, before: from, after: to, send };
}

function removal(
  part: Step["part"],
  { id, before }: Pick<Write, "before"> & { readonly id: string },
  remove: LiveWriter["deleteRole" | "deleteMember"],
): Write {
  return { part, id, before, after: null, send: (options) => writtenTo(id, remove(id, options)) };
}

function roleCreation(after: RoleImage, part: Step["part"], writer: LiveWriter): Write {
  const { name, permissions } = after;
  const role: CreateRole = { ...sentValues<RoleImage>(ROLE_FIELDS, "post", after), name, permissions };
  const send: Write["send"] = (options) => writer.createRole(role, options);
  return { part, id: null, before: null, after, send };
}

/** Returns only the changed fields, so that concurrent changes to other fields are kept. */
function patchTo(after: RoleImage, changed: ReadonlySet<keyof RoleImage>): RolePatch {
  return sentValues<RoleImage>(ROLE_FIELDS, "put", pickFields<RoleImage>(ROLE_FIELDS, after, changed));
}

function memberWrite(
  change: Exclude<MemberChange, Reinvitation>,
  part: Step["part"],
  context: WriteContext,
): Write {
  switch (change.kind) {
    case "create":
      return memberCreation(change, part, context);
    case "update": {
      const { id, before, after } = change;
      const send: Write["send"] = async (options, found) => {
        const emptied = await sendMemberUpdate(change, updateContext(context), found ?? null, options);
        return { id, adopted: false, ...(emptied && { emptied }) };
      };
      return { part, id, before, after, send };
    }
    case "delete":
      return removal(part, change, (id, options) => context.writer.deleteMember(id, options));
    default:
      return change satisfies never;
  }
}

function memberCreation(
  { name, after }: MemberChange & { readonly kind: "create" | "replace" },
  part: Step["part"],
  context: WriteContext,
): Write {
  const send: Write["send"] = async (options) =>
    context.writer.createMember(createdMember(name, after, context), {
      ...options,
      holdBack: context.holdBack,
    });
  return { part, id: null, before: null, after, send };
}

/** Returns the write that restores emptied fields; `null` if the step did not update a member. */
export function restoringWrite({ change }: Step, emptied: Emptied, context: WriteContext): Write | null {
  if (!isMemberUpdate(change)) return null;
  const { id, after } = change;
  const send: Write["send"] = (options) =>
    writtenTo(id, restoreMember(change, emptied, updateContext(context), options));
  return { part: "restore", id, before: emptiedImage(after, change), after, send };
}

function updateContext({ createdRoles, ...context }: WriteContext): UpdateContext {
  return { ...context, withIds: (values) => withRoleIds(values, createdRoles) };
}

function createdMember(name: string, image: MemberImage, context: WriteContext): CreateMember {
  const { email, managed } = image;
  const values = withRoleIds(memberValues(image), context.createdRoles);
  const { roles = [], ...properties } = sentValues<CommonValues>(COMMON_FIELDS, "post", values);
  return {
    email: email ?? name,
    roles,
    ...properties,
    ...(managed?.passwordEnv && {
      managed: {
        ...sentValues<ManagedProperties>(MANAGED_FIELDS, "post", managed),
        password: context.password(managed.passwordEnv),
      },
    }),
  };
}

/** Returns values with the ids of roles, including those created by this run. */
export function withRoleIds(values: MemberValues, createdRoles: ReadonlyMap<string, string>): MemberValues {
  const roles = values.roles.map(({ id, name }) => ({ id: id ?? createdRoles.get(name) ?? null, name }));
  return { ...values, roles };
}

async function writtenTo(id: string, sent: Promise<void>): Promise<Created> {
  await sent;
  return { id, adopted: false };
}
