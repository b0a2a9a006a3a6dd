import {
  type MemberChange,
  type RoleChange,
  type RoleImage,
  type RoleRef,
  SET_ASIDE,
} from "../model/plan.ts";
import type { Created, LiveWriter, MemberDraft, RolePatch } from "../model/ports.ts";
import type { Step } from "./step.ts";

/** What writing a change needs besides the change. */
export interface WriteContext {
  readonly writer: LiveWriter;
  /** Looks up the first password of a managed user by the name of its environment variable. */
  readonly password: (variable: string) => string;
  /** Name → id of the roles that this apply has created so far. */
  readonly createdRoles: ReadonlyMap<string, string>;
}

/** What a step has led to: the id of what it created or touched. */
export type Written = Created;

/** Carries one step out; throws RolecallError. */
export async function writeStep({ change, part }: Step, context: WriteContext): Promise<Written> {
  return change.resource === "role" ? writeRole(change, part, context.writer) : writeMember(change, context);
}

async function writeRole(change: RoleChange, part: Step["part"], writer: LiveWriter): Promise<Written> {
  if (part === "set-aside" && change.before !== null) {
    // A role that is replaced waits under its successor's name, by which a run that was cut short finds it again.
    const name = change.kind === "replace" ? change.after.name : change.before.name;
    await writer.updateRole(change.id, { name: `${name}${SET_ASIDE}` });
    return touched(change.id);
  }
  switch (change.kind) {
    case "create":
      return createRole(change.after, writer);
    case "update":
      await writer.updateRole(change.id, patchOf(change));
      return touched(change.id);
    case "replace":
      if (part === "create") return createRole(change.after, writer);
      await writer.deleteRole(change.id);
      return touched(change.id);
    case "delete":
      await writer.deleteRole(change.id);
      return touched(change.id);
    default:
      return change satisfies never;
  }
}

async function createRole(
  { name, permissions, description, metadata }: RoleImage,
  writer: LiveWriter,
): Promise<Written> {
  return writer.createRole({
    name,
    permissions,
    ...(description !== null && { description }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  });
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

async function writeMember(change: MemberChange, context: WriteContext): Promise<Written> {
  const { writer } = context;
  switch (change.kind) {
    case "create":
      return writer.createMember(draftOf(change, context));
    case "replace":
      // An expired invitation gives no access: nothing is lost should the new one fail.
      await writer.deleteMember(change.id);
      return writer.createMember(draftOf(change, context));
    case "update": {
      const nickname = change.fields.find((diff) => diff.field === "nickname");
      // The service replaces roles and metadata whole, so both go out every time.
      await writer.updateMember(change.id, {
        roles: roleIds(change.after.roles, context),
        metadata: change.after.metadata,
        ...(nickname && { nickname: nickname.after }),
      });
      return touched(change.id);
    }
    case "delete":
      await writer.deleteMember(change.id);
      return touched(change.id);
    default:
      return change satisfies never;
  }
}

function draftOf(
  change: MemberChange & { readonly kind: "create" | "replace" },
  context: WriteContext,
): MemberDraft {
  const { email, roles, metadata, managed } = change.after;
  return {
    email: email ?? change.name,
    roles: roleIds(roles, context),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(managed?.passwordEnv && {
      managed: {
        password: context.password(managed.passwordEnv),
        ...(managed.nickname !== null && { nickname: managed.nickname }),
      },
    }),
  };
}

function roleIds(roles: readonly RoleRef[], { createdRoles }: WriteContext): readonly string[] {
  return roles.map((role) => {
    const id = role.id ?? createdRoles.get(role.name);
    if (id === undefined) throw new Error(`role ${role.name} was not created before it was needed`);
    return id;
  });
}

function touched(id: string): Written {
  return { id, adopted: false };
}
