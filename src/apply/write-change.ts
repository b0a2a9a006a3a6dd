import type { PasswordChange } from "../model/apply.ts";
import type { LiveMember } from "../model/live.ts";
import {
  type Change,
  type MemberChange,
  type MemberImage,
  type RoleChange,
  type RoleImage,
  type RoleRef,
  TEMPORARY_SUFFIX,
} from "../model/plan.ts";
import type {
  Created,
  CreateMember,
  CreateRole,
  HoldBack,
  LiveLookup,
  LiveWriter,
  RolePatch,
  WriteOptions,
} from "../model/ports.ts";
import type { Step } from "./phases.ts";
import {
  type Emptied,
  emptiedImage,
  isMemberUpdate,
  type PutSemantics,
  restoreMember,
  sendMemberUpdate,
  type UpdateContext,
} from "./update-member.ts";

/** What writing a change needs besides the change. */
export interface WriteContext {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  readonly putSemantics: PutSemantics;
  /** Looks up the password of a managed user by the name of its environment variable. */
  readonly password: (variable: string) => string;
  /** Name → id of the roles that this apply has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
  /** How an invitation waits while its address is refused. */
  readonly holdBack: HoldBack;
}

/** The result of a write. */
export interface Sent extends Created {
  /** Fields that the service has emptied besides. */
  readonly emptied?: Emptied;
}

/** One request that changes something. */
export interface Write {
  readonly part: Step["part"];
  /** Null where it creates; for a new invitation that of the expired one. */
  readonly id: string | null;
  /** The planned state of `id`; null where it creates. */
  readonly before: RoleImage | MemberImage | null;
  /** What it makes of it; null where it removes. */
  readonly after: RoleImage | MemberImage | null;
  /** `found` is the member as just read, for a write that was checked before. Throws RolecallError. */
  send(options: WriteOptions, found?: LiveMember): Promise<Sent>;
}

/** A new invitation in the place of an expired one. */
export type Reinvitation = MemberChange & { readonly kind: "replace" };

/** Whether a change is a new invitation in the place of an expired one. */
export function isReinvitation(change: Change | PasswordChange): change is Reinvitation {
  return change.resource === "member" && change.kind === "replace";
}

/** The request of a step that takes one; nothing is sent yet. */
export function writeOf(
  change: Exclude<Change | PasswordChange, Reinvitation>,
  part: Step["part"],
  context: WriteContext,
): Write {
  return change.resource === "role"
    ? roleWrite(change, part, context.writer)
    : memberWrite(change, part, context);
}

/** The requests that a new invitation may take: `remove` and `again` only where the service refuses `invite`. */
export function reinvitationWrites(
  change: Reinvitation,
  context: WriteContext,
): { readonly invite: Write; readonly remove: Write; readonly again: Write } {
  const { id, before } = change;
  const again = memberCreation(change, "create", context);
  const invite: Write = {
    ...again,
    id,
    before,
    send: async (options) =>
      context.writer.createMember(createdMember(change.name, change.after, context), {
        ...options,
        holdBack: context.holdBack,
      }),
  };
  const remove = removal("remove", change, (expired, options) =>
    context.writer.deleteMember(expired, options),
  );
  return { invite, remove, again };
}

function roleWrite(change: RoleChange, part: Step["part"], writer: LiveWriter): Write {
  if (part === "set-aside" && change.before !== null) {
    const { id, before } = change;
    // A role that is replaced waits under its successor's name, by which a run that was cut short finds it again.
    const name = `${change.kind === "replace" ? change.after.name : before.name}${TEMPORARY_SUFFIX}`;
    const send: Write["send"] = (options) => touching(id, writer.updateRole(id, { name }, options));
    return { part, id, before, after: { ...before, name }, send };
  }
  const { after } = change;
  switch (change.kind) {
    case "create":
      return roleCreation(change.after, part, writer);
    case "update": {
      const { id, before } = change;
      const send: Write["send"] = (options) => touching(id, writer.updateRole(id, patchOf(change), options));
      return { part, id, before, after, send };
    }
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

function removal(
  part: Step["part"],
  { id, before }: Pick<Write, "before"> & { readonly id: string },
  remove: LiveWriter["deleteRole" | "deleteMember"],
): Write {
  return { part, id, before, after: null, send: (options) => touching(id, remove(id, options)) };
}

function roleCreation(after: RoleImage, part: Step["part"], writer: LiveWriter): Write {
  const { name, permissions, description, metadata } = after;
  const role: CreateRole = {
    name,
    permissions,
    ...(description !== null && { description }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  const send: Write["send"] = (options) => writer.createRole(role, options);
  return { part, id: null, before: null, after, send };
}

/** Only what differs is sent, so that nobody else's change to another field is undone. */
function patchOf(change: RoleChange & { readonly kind: "update" }): RolePatch {
  const { name, description, permissions } = change.after;
  const differs = new Set(change.fields.map((diff) => diff.field));
  return {
    ...(differs.has("name") && { name }),
    ...(differs.has("description") && { description: description ?? "" }),
    ...(differs.has("permissions") && { permissions }),
  };
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

/** The write that gives a member back what the service has emptied; null where the write was no update of a member. */
export function restoringWrite({ change }: Step, emptied: Emptied, context: WriteContext): Write | null {
  if (!isMemberUpdate(change)) return null;
  const { id, after } = change;
  const send: Write["send"] = (options) =>
    touching(id, restoreMember(change, emptied, updateContext(context), options));
  return { part: "restore", id, before: emptiedImage(after, change), after, send };
}

function updateContext({ createdRoles, ...context }: WriteContext): UpdateContext {
  return { ...context, roleIds: (roles) => roleIds(roles, createdRoles) };
}

function createdMember(
  name: string,
  { email, roles, metadata, managed }: MemberImage,
  context: WriteContext,
): CreateMember {
  return {
    email: email ?? name,
    roles: roleIds(roles, context.createdRoles),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(managed?.passwordEnv && {
      managed: {
        password: context.password(managed.passwordEnv),
        ...(managed.nickname !== null && { nickname: managed.nickname }),
      },
    }),
  };
}

/** The ids of roles, also of those that this apply has created. */
export function roleIds(
  roles: readonly RoleRef[],
  createdRoles: ReadonlyMap<string, string>,
): readonly string[] {
  return roles.map((role) => {
    const id = role.id ?? createdRoles.get(role.name);
    if (id === undefined) throw new Error(`role ${role.name} was not created before it was needed`);
    return id;
  });
}

async function touching(id: string, sent: Promise<void>): Promise<Created> {
  await sent;
  return { id, adopted: false };
}
