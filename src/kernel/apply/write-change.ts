import type { ChangePart, PasswordChange, Step } from "../../model/apply.ts";
import type { ManagedProperties, RoleImage } from "../../model/field-values.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Change, MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import type { Created, CreateMember, HoldBack, RolePatch, WriteOptions } from "../../model/ports.ts";
import { pickFields, sentValues } from "../fields/field.ts";
import { COMMON_FIELDS, type CommonValues, MANAGED_FIELDS, memberValues } from "../fields/member.ts";
import { ROLE_FIELDS, roleDiffs } from "../fields/role.ts";
import { temporaryName } from "../fields/temporary-name.ts";
import {
  type Emptied,
  emptiedImage,
  type MemberUpdateChange,
  restoreMember,
  sendMemberUpdate,
  type UpdateContext,
  withRoleIds,
} from "./update-member.ts";

/** The dependencies of a write. */
export interface WriteContext extends UpdateContext {
  /** Delays an invitation while its address is refused. */
  readonly holdBack: HoldBack;
}

/** The result of a write. */
export interface Sent extends Created {
  /** Fields that the service has emptied. */
  readonly emptied?: Emptied;
}

/** A write request: the operation of the service, and the images between which it changes a resource. */
export type Write = { readonly part: ChangePart } & (
  | {
      readonly operation: "create a role";
      readonly id: null;
      readonly before: null;
      readonly after: RoleImage;
    }
  | {
      readonly operation: "update a role";
      readonly id: string;
      readonly before: RoleImage;
      readonly after: RoleImage;
    }
  | {
      readonly operation: "create a member";
      /** The address, or what else names the member. */
      readonly name: string;
      /** The expired invitation that is to be as planned; `null` if there is none, or it is removed. */
      readonly id: string | null;
      readonly before: MemberImage | null;
      readonly after: MemberImage;
      /** Sent even after a stop: otherwise, the content of the removed invitation would be lost. */
      readonly finishes?: true;
    }
  | {
      readonly operation: "update a member";
      readonly id: string;
      readonly before: MemberImage;
      readonly after: MemberImage;
      readonly change: MemberUpdateChange;
      /** The emptied fields that it restores; absent: it makes the change. */
      readonly restored?: Emptied;
    }
  | {
      readonly operation: "delete a role";
      readonly id: string;
      readonly before: RoleImage;
      readonly after: null;
    }
  | {
      readonly operation: "delete a member";
      readonly id: string;
      readonly before: MemberImage;
      readonly after: null;
    }
);

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

/** Returns the writes that a step may send, in order. */
export function writesOf({ change, part }: Pick<Step, "change" | "part">): readonly Write[] {
  if (!isReinvitation(change)) return [writeOf(change, part)];
  const { invite, remove, again } = reinvitationWrites(change);
  return [invite, remove, again];
}

/** Returns the write of a step that has a single write. */
export function writeOf(change: Exclude<Change | PasswordChange, Reinvitation>, part: ChangePart): Write {
  if (change.resource === "role") return roleWrite(change, part);
  const { name, id, before, after } = change;
  if (before === null) return { part, operation: "create a member", name, id, before, after };
  if (after === null) return { part, operation: "delete a member", id, before, after };
  return { part, operation: "update a member", id, before, after, change };
}

/** Returns the writes of a reinvitation: `remove` and `again` are needed only if the service refuses `invite`. */
export function reinvitationWrites({
  name,
  id,
  before,
  after,
}: Reinvitation): Readonly<Record<"invite" | "remove" | "again", Write>> {
  const creation = { part: "create", operation: "create a member", name, after } as const;
  return {
    invite: { ...creation, id, before },
    remove: { part: "remove", operation: "delete a member", id, before, after: null },
    again: { ...creation, id: null, before: null, finishes: true },
  };
}

function roleWrite(change: RoleChange, part: ChangePart): Write {
  if (part === "set-aside" && change.before !== null) {
    const { id, before } = change;
    // The temporary name is the successor's with a suffix: after an interruption, the next run finds the role by that
    // name.
    const name = temporaryName(change.kind === "replace" ? change.after.name : before.name, id);
    return { part, operation: "update a role", id, before, after: { ...before, name } };
  }
  if (change.kind === "update") return roleUpdate(change, part);
  if (change.kind === "create" || (change.kind === "replace" && part === "create")) {
    return { part, operation: "create a role", id: null, before: null, after: change.after };
  }
  return { part, operation: "delete a role", id: change.id, before: change.before, after: null };
}

/** Returns the write of an update, or of a part of it: only the new permissions, or everything else. */
function roleUpdate({ id, before, after }: RoleUpdate, part: ChangePart): Write {
  const permissions = after.permissions.filter((permission) => before.permissions.includes(permission));
  const narrowed = { ...after, permissions };
  const [from, to] = [part === "widen" ? narrowed : before, part === "narrow" ? narrowed : after];
  return { part, operation: "update a role", id, before: from, after: to };
}

/** Returns the write that restores emptied fields. */
export function restoringWrite(change: MemberUpdateChange, emptied: Emptied): Write {
  const { id, after } = change;
  const before = emptiedImage(after, change);
  return { part: "restore", operation: "update a member", id, before, after, change, restored: emptied };
}

/** Sends a write; `found` is the live member, if it was just checked. Throws RolecallError. */
export async function sendWrite(
  write: Write,
  context: WriteContext,
  options: WriteOptions,
  found: LiveMember | null,
): Promise<Sent> {
  const { writer, holdBack } = context;
  switch (write.operation) {
    case "create a role": {
      const { name, permissions } = write.after;
      const values = sentValues<RoleImage>(ROLE_FIELDS, "post", write.after);
      return writer.createRole({ ...values, name, permissions }, options);
    }
    case "create a member": {
      const { finishes } = write;
      const member = createdMember(write.name, write.after, context);
      return writer.createMember(member, { ...options, holdBack, ...(finishes && { finishes }) });
    }
    case "update a role":
      await writer.updateRole(write.id, patchOf(write.before, write.after), options);
      break;
    case "update a member": {
      if (write.restored === undefined) {
        const emptied = await sendMemberUpdate(write.change, context, found, options);
        return { id: write.id, adopted: false, ...(emptied && { emptied }) };
      }
      await restoreMember(write.change, write.restored, context, options);
      break;
    }
    case "delete a role":
      await writer.deleteRole(write.id, options);
      break;
    case "delete a member":
      await writer.deleteMember(write.id, options);
      break;
    default:
      return write satisfies never;
  }
  return { id: write.id, adopted: false };
}

/** Returns only the changed fields, so that concurrent changes to other fields are kept. */
function patchOf(before: RoleImage, after: RoleImage): RolePatch {
  const changed = new Set(roleDiffs(before, after).map(({ field }) => field));
  return sentValues<RoleImage>(ROLE_FIELDS, "put", pickFields<RoleImage>(ROLE_FIELDS, after, changed));
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
