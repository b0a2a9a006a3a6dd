import { type GlobMatch, matchesAny, type Scope } from "../kernel/diff/scope.ts";
import { fieldDiffs } from "../kernel/fields/field.ts";
import { liveValues, MEMBER_FIELDS, memberValues } from "../kernel/fields/member.ts";
import { roleDiffs, roleImage } from "../kernel/fields/role.ts";
import type { UndoNote, UndoNoteCode } from "../model/apply.ts";
import type { DesiredMember, IgnorePatterns } from "../model/desired.ts";
import type { MemberValues, RoleImage, RoleRef } from "../model/field-values.ts";
import type { LiveMember, LiveRole, LiveState } from "../model/live.ts";
import type { MemberImage } from "../model/plan.ts";
import type { NetEffects } from "./net-effects.ts";

/** The input of an undo. */
export interface UndoContext {
  readonly effects: NetEffects;
  readonly live: LiveState;
  readonly scope: Scope;
  readonly ignore: IgnorePatterns;
  readonly matches: GlobMatch;
}

/** Adds a note on something that an undo does not restore. */
export type AddNote = (code: UndoNoteCode, name: string, message: string) => void;

/** Creates an empty list of notes on roles or on members, with the function that adds to it. */
export function createNotes(resource: UndoNote["resource"]): {
  readonly notes: readonly UndoNote[];
  readonly note: AddNote;
} {
  const notes: UndoNote[] = [];
  const messages = new Set<string>();
  return {
    notes,
    note: (code, name, message) => {
      // Several memberships may have one address, and then the same note.
      if (!messages.has(message)) notes.push({ code, resource, name, message });
      messages.add(message);
    },
  };
}

/** Returns a key that is unique among the changes of an undo. */
export function changeKey({ id, name }: { readonly id: string | null; readonly name: string }): string {
  return id ?? `new ${name}`;
}

/** The input of reverting a role. */
export interface RoleRevertContext extends UndoContext {
  /** The managed roles by id. */
  readonly byId: ReadonlyMap<string, LiveRole>;
  /** Ids of roles that cannot be removed, because members hold them. */
  readonly kept: ReadonlySet<string>;
  /** Keys of changes whose new name another role has. */
  readonly nameTaken: ReadonlySet<string>;
  readonly refs: MutableRoleRefs;
  readonly note: AddNote;
}

/** Returns whether the file ignores a role, and adds a note if so. */
export function isRoleIgnored(
  { id, name }: { readonly id: string | null; readonly name: string },
  { ignore, matches, note }: RoleRevertContext,
): boolean {
  if (!matchesAny(ignore.roles, [name, id ?? name], matches)) return false;
  note("ignored", name, `The role "${name}" is ignored by the file, so it is left as it is.`);
  return true;
}

/** Returns whether the run changed or created a role. */
export function isChangedByRun(id: string, { effects: { roles, replaced } }: RoleRevertContext): boolean {
  return roles.some((effect) => effect.id === id) || replaced.some(({ successor }) => successor === id);
}

/** Adds a note that another role has the name to restore. */
export function noteNameTaken(name: string, former: string, { note }: RoleRevertContext): void {
  note("name-taken", name, `The role "${former}" is not restored: another role now has that name.`);
}

/** Returns whether a live role equals an image, except for the name. */
export function matchesImage(live: LiveRole, image: RoleImage): boolean {
  return roleDiffs({ ...roleImage(live), name: image.name }, image).length === 0;
}

/** A mapping from roles before or after the run to roles after its undo. */
export interface RoleRefs {
  /**
   * Returns the role after the undo for a role before or after the run; `null` if there is none. A replaced role, its
   * successor and the role that the undo creates in its place count as one.
   */
  revertedRef(ref: RoleRef): RoleRef | null;
  /** Returns the id of a role before or after the run; `null` if unknown. */
  idOf(ref: RoleRef): string | null;
}

/** A mapping that reverting a role adds to. */
export interface MutableRoleRefs extends RoleRefs {
  /** Maps a role id to its role after the undo; `null` if there is none. */
  setRef(id: string, ref: RoleRef | null): void;
}

/** Creates the mapping before any role is reverted: each live role maps to itself. */
export function roleRefs(context: UndoContext): MutableRoleRefs {
  const { effects, live, scope } = context;
  const managed = new Map(scope.roles.map((role) => [role.id, role]));
  const refs = new Map<string, RoleRef | null>();

  // The run created a role that was planned without an id: its write holds the id, or else the name identifies it.
  const idOf = ({ id, name }: RoleRef): string | null => {
    if (id !== null) return id;
    const made = effects.roles.find((effect) => effect.before === null && effect.name === name);
    const successor = effects.replaced.find((replacement) => replacement.name === name);
    return made?.id ?? successor?.successor ?? findRoleByName(context, name)?.id ?? null;
  };

  const revertedRef = (ref: RoleRef): RoleRef | null => {
    const id = idOf(ref);
    if (id === null) return null;
    const mapped = refs.get(id);
    if (mapped !== undefined) return mapped;
    const role = managed.get(id);
    if (role) return { id, name: role.name };
    if (scope.ignoredRoles.has(id)) {
      return { id, name: live.roles.find((role) => role.id === id)?.name ?? ref.name };
    }
    return null;
  };

  return { revertedRef, idOf, setRef: (id, ref) => void refs.set(id, ref) };
}

/** Finds the live custom role with a name, without those with a temporary name. */
export function findRoleByName({ scope }: Pick<UndoContext, "scope">, name: string): LiveRole | undefined {
  return scope.roles.find(
    (role) => role.name === name && !role.predefined && !scope.temporarilyNamed.has(role.id),
  );
}

/** The input of reverting a member. */
export interface MemberRevertContext extends UndoContext {
  readonly refs: RoleRefs;
  /** The file's members, used only for the passwords of managed users and for suspensions. */
  readonly declared: readonly DesiredMember[];
  /** Addresses, in lower case, of those who have left. */
  readonly left: ReadonlySet<string>;
  /** In ms since the epoch. */
  readonly now: number;
  readonly note: AddNote;
  readonly byId: ReadonlyMap<string, LiveMember>;
  readonly byAddress: ReadonlyMap<string, LiveMember>;
  /** Returns the reference of a live role id, as in an image of this plan. */
  refOf(id: string): RoleRef;
}

/** Returns whether a live member differs from an image, but for the fields of managed users. */
export function differsFromImage(
  live: LiveMember,
  after: MemberImage,
  context: MemberRevertContext,
): boolean {
  const keyOf = keysOf(context);
  const keyed = (values: MemberValues): MemberValues => ({
    ...values,
    roles: values.roles.map((ref) => ({ id: keyOf(ref), name: "" })),
  });
  const held = liveValues(live, (id) => ({ id, name: id }));
  return fieldDiffs<MemberValues>(MEMBER_FIELDS, keyed(held), keyed(memberValues(after))).length > 0;
}

/** Returns a function that gives a role's key, the same before, after and now. */
export function keysOf({ refs }: MemberRevertContext): (ref: RoleRef) => string {
  return (ref) => {
    const now = refs.revertedRef(ref);
    if (now === null) return `gone ${refs.idOf(ref) ?? ref.name}`;
    return now.id ?? `new ${now.name}`;
  };
}

/** Finds the live member with an address, ignoring case. */
export function findByAddress(email: string, { byAddress }: MemberRevertContext): LiveMember | undefined {
  return byAddress.get(email.toLowerCase());
}

/** Adds a note that a member's role no longer exists. */
export function noteRoleGone(name: string, role: string, { note }: MemberRevertContext): void {
  note("role-gone", name, `${name} does not get the role "${role}" again: it no longer exists.`);
}
