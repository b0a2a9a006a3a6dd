import { canonicalJson } from "../../lib/canonical-json.ts";
import { sortedSet } from "../../lib/order.ts";
import type { DesiredMember, IgnorePatterns } from "../../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import type { UndoNote, UndoNoteCode } from "../../model/past-run.ts";
import type { MemberImage, RoleImage, RoleRef } from "../../model/plan.ts";
import { roleFields, roleImageOf } from "../changes/role-changes.ts";
import { type Matches, matchesAny, type Scope } from "../scope.ts";
import type { NetEffects } from "./net-effects.ts";

/** What an undo is computed from. */
export interface UndoContext {
  readonly effects: NetEffects;
  readonly live: LiveState;
  readonly scope: Scope;
  readonly ignore: IgnorePatterns;
  readonly matches: Matches;
}

/** Takes a note of what does not go back. */
export type TakeNote = (code: UndoNoteCode, name: string, message: string) => void;

/** A list of notes about roles, or about members, and what adds to it. */
export function noteTaker(resource: UndoNote["resource"]): {
  readonly notes: readonly UndoNote[];
  readonly note: TakeNote;
} {
  const notes: UndoNote[] = [];
  return { notes, note: (code, name, message) => void notes.push({ code, resource, name, message }) };
}

/** Returns a key of a change that no other change of one undo has. */
export function changeKey({ id, name }: { readonly id: string | null; readonly name: string }): string {
  return id ?? `new ${name}`;
}

/** One pass over what a run did to roles, as each of them goes back. */
export interface RoleRevertContext extends UndoContext {
  /** The managed roles by id. */
  readonly byId: ReadonlyMap<string, LiveRole>;
  /** Ids of roles that have to stay, because somebody holds them. */
  readonly kept: ReadonlySet<string>;
  /** Keys of changes that cannot have the name that they would take. */
  readonly nameless: ReadonlySet<string>;
  readonly refs: GrowingRoleRefs;
  readonly note: TakeNote;
}

/** Whether a role is to be left alone; notes it where it is. */
export function isRoleIgnored(
  { id, name }: { readonly id: string | null; readonly name: string },
  { ignore, matches, note }: RoleRevertContext,
): boolean {
  if (!matchesAny(ignore.roles, [name, id ?? name], matches)) return false;
  note("ignored", name, `The role "${name}" is to be ignored, so it stays as it is.`);
  return true;
}

/** Whether the run changed a role, or made it. */
export function isOfRun(id: string, { effects: { roles, replaced } }: RoleRevertContext): boolean {
  return roles.some((effect) => effect.id === id) || replaced.some(({ successor }) => successor === id);
}

/** Notes that a role does not get its name back. */
export function noteNameTaken(name: string, wanted: string, { note }: RoleRevertContext): void {
  note("name-taken", name, `The role "${wanted}" does not come back: another role has that name by now.`);
}

/** Whether a live role is what an image says. */
export function looksLike(live: LiveRole, image: RoleImage): boolean {
  const is = roleImageOf(live);
  const same = [
    ...roleFields({ ...is, name: image.name }, { ...image, permissions: sortedSet(image.permissions) }),
  ];
  return same.length === 0;
}

/** What references to roles, of before or after the run, stand for once all is back. */
export interface RoleRefs {
  /**
   * What stands for a role of before or after the run once all is back; null where nothing does. One that the run
   * replaced, its successor, and the one that comes back in its place are one role.
   */
  refBack(ref: RoleRef): RoleRef | null;
  /** The id that a reference of before or after the run stands for; null where it is not known. */
  idOf(ref: RoleRef): string | null;
}

/** References that are being worked out, as one role after the other goes back. */
export interface GrowingRoleRefs extends RoleRefs {
  /** Says what stands for the role with this id from now on; null: nothing does. */
  stands(id: string, ref: RoleRef | null): void;
}

/** References where nothing has gone back yet: what is live stands for itself. */
export function roleRefs(context: UndoContext): GrowingRoleRefs {
  const { effects, live, scope } = context;
  const managed = new Map(scope.roles.map((role) => [role.id, role]));
  const known = new Map<string, RoleRef | null>();

  // One that had no id when it was planned was made by the run, so its write knows, or its name tells.
  const idOf = ({ id, name }: RoleRef): string | null => {
    if (id !== null) return id;
    const made = effects.roles.find((effect) => effect.before === null && effect.name === name);
    const successor = effects.replaced.find((one) => one.name === name);
    return made?.id ?? successor?.successor ?? roleNamed(context, name)?.id ?? null;
  };

  const refBack = (ref: RoleRef): RoleRef | null => {
    const id = idOf(ref);
    if (id === null) return null;
    const told = known.get(id);
    if (told !== undefined) return told;
    const role = managed.get(id);
    if (role) return { id, name: role.name };
    if (scope.ignoredRoles.has(id)) {
      return { id, name: live.roles.find((one) => one.id === id)?.name ?? ref.name };
    }
    return null;
  };

  return { refBack, idOf, stands: (id, ref) => void known.set(id, ref) };
}

/** The live role that has a name for good: no predefined one, and none that is set aside. */
export function roleNamed({ scope }: Pick<UndoContext, "scope">, name: string): LiveRole | undefined {
  return scope.roles.find((role) => role.name === name && !role.predefined && !scope.setAside.has(role.id));
}

/** One pass over what a run did to members. */
export interface MemberRevertContext extends UndoContext {
  /** What stands for roles of before and after the run. */
  readonly refs: RoleRefs;
  /** The file's members: what they say of a managed user's password, nothing else. */
  readonly declared: readonly DesiredMember[];
  readonly note: TakeNote;
  readonly byId: ReadonlyMap<string, LiveMember>;
  readonly byAddress: ReadonlyMap<string, LiveMember>;
  /** The reference as an image of this plan has it. */
  refOf(id: string): RoleRef;
}

/** Whether a live member has other roles or metadata than an image says. */
export function isChanged(live: LiveMember, after: MemberImage, pass: MemberRevertContext): boolean {
  const keys = (refs: readonly RoleRef[]): string => [...new Set(refs.map(keysOf(pass)))].sort().join("\n");
  const held = live.roles.map((id) => ({ id, name: id }));
  return keys(held) !== keys(after.roles) || canonicalJson(live.metadata) !== canonicalJson(after.metadata);
}

/** One text for each role, however it is called before, after and now. */
export function keysOf({ refs }: MemberRevertContext): (ref: RoleRef) => string {
  return (ref) => {
    const now = refs.refBack(ref);
    if (now === null) return `gone ${refs.idOf(ref) ?? ref.name}`;
    return now.id ?? `new ${now.name}`;
  };
}

/** The live member with an address, in whichever case it is written. */
export function findByAddress(email: string, { byAddress }: MemberRevertContext): LiveMember | undefined {
  return byAddress.get(email.toLowerCase());
}

/** Notes that a member does not get a role back. */
export function noteRoleGone(name: string, role: string, { note }: MemberRevertContext): void {
  note("role-gone", name, `${name} does not get the role "${role}" back: it is not there any more.`);
}
