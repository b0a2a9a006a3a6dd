import type { GlobMatch, Scope } from "../kernel/diff/scope.ts";
import { eachField, type FieldTable } from "../kernel/fields/field.ts";
import type { UndoNote, UndoNoteCode } from "../model/apply.ts";
import type { DesiredMember, DesiredRole, IgnorePatterns } from "../model/desired.ts";
import type { Effect, NetEffects } from "./net-effects.ts";

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

type Named = Pick<Effect<unknown>, "id" | "name">;

/** The input of an undo. */
export interface UndoContext {
  readonly effects: NetEffects;
  readonly scope: Scope;
  readonly ignore: IgnorePatterns;
  readonly matches: GlobMatch;
  /** The file's members, used only for passwords of managed users and for the dates of access. */
  readonly declared: readonly DesiredMember[];
  /** The file's roles, used only for their other names. */
  readonly declaredRoles: readonly DesiredRole[];
  /** Addresses, in lower case, of those who have left. */
  readonly left: ReadonlySet<string>;
  /** In ms since the epoch. */
  readonly now: number;
}

/** Roles or members, as an undo sees them. */
export interface Undoable<Live extends { readonly id: string }, Image, Change> {
  readonly note: AddNote;
  /** The live ones that an undo may change, by id. */
  readonly byId: ReadonlyMap<string, Live>;
  /** Returns the words for one at the beginning of a sentence. */
  describe(name: string): string;
  isIgnored(resource: Named): boolean;
  /** Returns an effect without what must not be restored; `null` if nothing may be restored. */
  restorable(effect: Effect<Image>): Effect<Image> | null;
  nameOf(live: Live): string;
  /** Finds the live one that a create with an unknown outcome may have created. */
  findCreated(name: string): Live | undefined;
  /** Returns whether a live one is still as the run left it. */
  isAsAfter(live: Live, after: Image): boolean;
  /** Returns whether a live one that the run created can be removed, and adds a note if it must stay. */
  isRemovable(live: Live): boolean;
  revert(live: Live, before: Image, effect: Effect<Image>): Change | null;
  recreate(effect: Effect<Image>, before: Image): Change | null;
  /** Returns the change that removes a live one. */
  deletion(live: Live): Change;
}

/** Returns the change that undoes one effect of a run; `null` if there is nothing to do, or nothing may be done. */
export function undoEffect<Live extends { readonly id: string }, Image, Change>(
  effect: Effect<Image>,
  kind: Undoable<Live, Image, Change>,
): Change | null {
  const { id, name } = effect;
  if (isLeftAlone(effect, kind)) return null;
  const restorable = kind.restorable(effect);
  if (restorable === null) return null;
  const { before, after } = restorable;
  const live = id === null ? findCreated(effect, kind) : kind.byId.get(id);
  if (before === null) return live && after ? remove(live, after, kind) : null;
  if (live) return kind.revert(live, before, restorable);
  if (after === null) return kind.recreate(restorable, before);
  kind.note("gone-since", name, `${kind.describe(name)} has been removed since, so nothing is restored.`);
  return null;
}

/** Returns whether the file ignores a resource, and adds a note if so. */
export function isLeftAlone(
  resource: Named,
  { note, describe, isIgnored }: Pick<Undoable<never, never, never>, "note" | "describe" | "isIgnored">,
): boolean {
  const ignored = isIgnored(resource);
  if (ignored) {
    note("ignored", resource.name, `${describe(resource.name)} is ignored by the file and stays as it is.`);
  }
  return ignored;
}

/** Finds what a create with an unknown outcome may have created: only an identical resource counts. */
function findCreated<Live extends { readonly id: string }, Image, Change>(
  { name, after }: Effect<Image>,
  kind: Undoable<Live, Image, Change>,
): Live | undefined {
  const live = kind.findCreated(name);
  if (live === undefined || after === null || kind.isAsAfter(live, after)) return live;
  kind.note(
    "not-sure",
    name,
    `${kind.describe(name)} differs from what the run may have created, so it is left as it is.`,
  );
  return undefined;
}

function remove<Live extends { readonly id: string }, Image, Change>(
  live: Live,
  after: Image,
  kind: Undoable<Live, Image, Change>,
): Change | null {
  if (!kind.isRemovable(live)) return null;
  const name = kind.nameOf(live);
  if (!kind.isAsAfter(live, after)) {
    kind.note(
      "changed-since",
      name,
      `${kind.describe(name)} has been changed since; the undo still removes what the run created.`,
    );
  }
  return kind.deletion(live);
}

/** Receives fields that an undo does not revert. */
export interface RevertNotes<Values> {
  /** Others have changed the field, or a part of it, since. */
  changedSince(field: keyof Values, part: string | null): void;
  /** The service cannot clear the field. */
  cannotClear(field: keyof Values): void;
}

/** Returns the values before a run, with what others have changed since and what the service cannot change. */
export function revertedValues<Values>(
  table: FieldTable<Values>,
  { before, after, live }: { readonly before: Values; readonly after: Values; readonly live: Values },
  notes: RevertNotes<Values>,
): Values {
  return eachField<FieldTable<Values>, Values>(table, (name, { kind, put, clearable }) => {
    const current = live[name];
    if (put === null) return current;
    const changedSince = (part?: string): void => notes.changedSince(name, part ?? null);
    const value = kind.reverted(before[name], after[name], current, changedSince);
    if (clearable || kind.isSame(value, current) || !kind.isSame(value, kind.empty)) return value;
    notes.cannotClear(name);
    return current;
  });
}
