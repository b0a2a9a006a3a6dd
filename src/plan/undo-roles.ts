import type { LiveRole } from "../model/live.ts";
import type { UndoNote } from "../model/past-run.ts";
import { type RoleChange, type RoleImage, type RoleRef, SET_ASIDE } from "../model/plan.ts";
import { canonicalJson } from "./canonical.ts";
import { seal } from "./fingerprint.ts";
import type { Effect, RoleReplaced } from "./net-effects.ts";
import { sortedSet } from "./order.ts";
import { roleFields, roleImageOf } from "./role-changes.ts";
import type { RolePlan } from "./roles.ts";
import { matchesAny } from "./scope.ts";
import { noteTaker, type TakeNote, type UndoContext } from "./undo-context.ts";

/** How roles go back, and what members need to know of it. */
export interface RolesBack {
  readonly plan: Omit<RolePlan, "objections" | "discoveries">;
  readonly notes: readonly UndoNote[];
  /**
   * What stands for a role of before or after the run once all is back; null where nothing does. One that the run
   * replaced, its successor, and the one that comes back in its place are one role.
   */
  refBack(ref: RoleRef): RoleRef | null;
  /** The id that a reference of before or after the run stands for; null where it is not known. */
  idOf(ref: RoleRef): string | null;
}

/** Takes back what a run did to roles; those in `kept` cannot go. */
export function undoRoles(context: UndoContext, kept: ReadonlySet<string>): RolesBack {
  const { scope } = context;
  const custom = scope.roles.filter(({ predefined }) => !predefined);
  // A name that is not free may keep another one from becoming free: until nothing more comes up.
  const nameless = new Set<string>();
  for (;;) {
    const { notes, note } = noteTaker("role");
    const back = new Backwards(context, { kept, nameless, note });
    for (const effect of context.effects.roles) back.undo(effect);
    for (const one of context.effects.replaced) back.undoReplaced(one);
    const taken = namesTaken(back.changes, custom, scope.setAside);
    if (taken.length > 0) {
      for (const key of taken) nameless.add(key);
      continue;
    }
    const changes = back.changes;
    return {
      notes,
      plan: {
        changes,
        unchanged: custom.length - changes.filter(({ kind }) => kind !== "create").length,
        declared: new Map(
          changes.flatMap((change): readonly [string, string | null][] => {
            if (change.after === null) return [];
            return [[change.name, change.kind === "replace" ? change.resumed : change.id]];
          }),
        ),
        replaced: new Map(
          changes.flatMap((change) => (change.kind === "replace" ? [[change.id, change.name]] : [])),
        ),
      },
      refBack: back.refBack,
      idOf: back.idOf,
    };
  }
}

/** What tells a change apart from the others of one undo. */
function keyOf({ id, name }: { readonly id: string | null; readonly name: string }): string {
  return id ?? `new ${name}`;
}

/** The keys of changes that would take a name which another role keeps, or takes as well. */
function namesTaken(
  changes: readonly RoleChange[],
  custom: readonly LiveRole[],
  setAside: ReadonlySet<string>,
): readonly string[] {
  const moving = new Set(
    changes.flatMap((change) => (change.before?.name === change.after?.name ? [] : (change.id ?? []))),
  );
  const resumed = new Set(
    changes.flatMap((change) => (change.kind === "replace" ? (change.resumed ?? []) : [])),
  );
  const replaced = new Set(changes.flatMap((change) => (change.kind === "replace" ? change.id : [])));
  const names = new Set(
    custom
      .filter(({ id }) => !moving.has(id) && !resumed.has(id) && !replaced.has(id) && !setAside.has(id))
      .map(({ name }) => name),
  );
  return changes.flatMap((change) => {
    if (change.after === null || (change.kind === "update" && !moving.has(change.id))) return [];
    const { name } = change.after;
    if (names.has(name)) return [keyOf(change)];
    names.add(name);
    return [];
  });
}

interface Limits {
  /** Ids of roles that have to stay, because somebody holds them. */
  readonly kept: ReadonlySet<string>;
  /** Keys of changes that cannot have the name that they would take. */
  readonly nameless: ReadonlySet<string>;
  readonly note: TakeNote;
}

/** Collects the changes that take roles back. */
class Backwards {
  readonly changes: RoleChange[] = [];
  readonly #context: UndoContext;
  readonly #limits: Limits;
  readonly #live: ReadonlyMap<string, LiveRole>;
  /** Role id of before or after the run → what stands for it now. */
  readonly #refs = new Map<string, RoleRef | null>();

  constructor(context: UndoContext, limits: Limits) {
    this.#context = context;
    this.#limits = limits;
    this.#live = new Map(context.scope.roles.map((role) => [role.id, role]));
  }

  readonly refBack = (ref: RoleRef): RoleRef | null => {
    const id = this.idOf(ref);
    return id === null ? null : this.#refBack({ id, name: ref.name });
  };

  /** The id of a role that had none when it was planned: the run made it, so its write knows, or its name tells. */
  readonly idOf = ({ id, name }: RoleRef): string | null => {
    if (id !== null) return id;
    const { roles, replaced } = this.#context.effects;
    const made = roles.find((effect) => effect.before === null && effect.name === name);
    const successor = replaced.find((one) => one.name === name);
    return made?.id ?? successor?.successor ?? this.#named(name)?.id ?? null;
  };

  #refBack(ref: { readonly id: string; readonly name: string }): RoleRef | null {
    const known = this.#refs.get(ref.id);
    if (known !== undefined) return known;
    const { live, scope } = this.#context;
    const role = this.#live.get(ref.id);
    if (role) return { id: ref.id, name: role.name };
    if (scope.ignoredRoles.has(ref.id)) {
      return { id: ref.id, name: live.roles.find(({ id }) => id === ref.id)?.name ?? ref.name };
    }
    return null;
  }

  undo(effect: Effect<RoleImage>): void {
    const { id, name, before, after } = effect;
    if (this.#isIgnored(effect)) return;
    const live = id === null ? this.#madeUnknown(effect) : this.#live.get(id);
    if (before === null) {
      if (live && after) this.#remove(live, after);
      return;
    }
    if (live) this.#change(live, before, after ?? { ...before, name: `${before.name}${SET_ASIDE}` });
    else if (after === null) this.#putBack(id, before);
    else
      this.#limits.note(
        "gone-since",
        name,
        `The role "${name}" is not there any more, so nothing of it goes back.`,
      );
  }

  undoReplaced({ name, id, before, after, successor }: RoleReplaced): void {
    if (this.#isIgnored({ id, name: before?.name ?? name }) || this.#isIgnored({ id: successor, name }))
      return;
    if (id === null || before === null) {
      this.#halfReplaced(name);
      return;
    }
    const { setAside } = this.#context.scope;
    const old = this.#live.get(id);
    const now =
      (successor === null ? undefined : this.#live.get(successor)) ??
      [...this.#live.values()].find(
        (role) =>
          role.name === name &&
          !setAside.has(role.id) &&
          role.id !== id &&
          after !== null &&
          equals(role, after),
      );
    if (old && now) this.#halfReplaced(before.name);
    else if (old && setAside.has(id)) this.#change(old, before, { ...before, name: `${name}${SET_ASIDE}` });
    else if (old === undefined && after === null) this.#halfReplaced(before.name);
    else if (now && after) this.#replaceBack(id, before, after, now);
    else if (old === undefined) this.#putBack(id, before);
  }

  #halfReplaced(name: string): void {
    this.#limits.note(
      "half-replaced",
      name,
      `The role "${name}" was replaced in part only, or by more than one run; it stays as it is. Write it into the file as it was, and apply that.`,
    );
  }

  #isIgnored({ id, name }: { readonly id: string | null; readonly name: string }): boolean {
    const { ignore, matches } = this.#context;
    if (!matchesAny(ignore.roles, [name, id ?? name], matches)) return false;
    this.#limits.note("ignored", name, `The role "${name}" is to be ignored, so it stays as it is.`);
    return true;
  }

  #named(name: string): LiveRole | undefined {
    const { scope } = this.#context;
    return [...this.#live.values()].find(
      (role) => role.name === name && !role.predefined && !scope.setAside.has(role.id),
    );
  }

  #isOfRun(id: string): boolean {
    const { roles, replaced } = this.#context.effects;
    return roles.some((effect) => effect.id === id) || replaced.some(({ successor }) => successor === id);
  }

  #isKnown(id: string): boolean {
    return this.#isOfRun(id) || this.#context.effects.replaced.some((one) => one.id === id);
  }

  /** What a create of which nobody knows the end has left behind: only what looks exactly like it. */
  #madeUnknown({ name, after }: Effect<RoleImage>): LiveRole | undefined {
    const role = this.#named(name);
    // One that the run knew by its id was there before, and has its name back.
    if (role === undefined || this.#isKnown(role.id)) return undefined;
    if (after === null || equals(role, after)) return role;
    this.#limits.note(
      "not-sure",
      name,
      `It is not known whether the run made the role "${name}"; the one there is looks different, and stays.`,
    );
    return undefined;
  }

  #remove(live: LiveRole, after: RoleImage): void {
    const { name, id } = live;
    if (live.predefined) return;
    if (this.#limits.kept.has(id)) {
      this.#limits.note(
        "still-held",
        name,
        `The role "${name}" stays: somebody holds it whom the run did not give it to.`,
      );
      return;
    }
    if (!equals(live, after)) {
      this.#limits.note(
        "changed-since",
        name,
        `The role "${name}" was changed since; it goes all the same, because the run made it.`,
      );
    }
    this.#refs.set(id, null);
    this.changes.push(
      seal<RoleChange>({
        resource: "role",
        name,
        kind: "delete",
        id,
        before: roleImageOf(live),
        after: null,
        fields: [],
        reason: "undone",
      }),
    );
  }

  #change(live: LiveRole, before: RoleImage, after: RoleImage): void {
    const { scope } = this.#context;
    if (live.predefined) return;
    const image = roleImageOf(live);
    const is = scope.setAside.has(live.id) ? { ...image, name: `${image.name}${SET_ASIDE}` } : image;
    const stays = (field: string): void =>
      this.#limits.note(
        "changed-since",
        live.name,
        `The ${field} of the role "${live.name}" was changed since, and stays.`,
      );
    // What was set aside has a name for a moment only, whichever the run went on to give it.
    const aside = is.name !== image.name && before.name !== after.name;
    const wantedName = aside ? before.name : back(before.name, after.name, is.name, () => stays("name"));
    const nameless = wantedName !== is.name && this.#limits.nameless.has(live.id);
    const name = nameless ? is.name : wantedName;
    if (nameless) this.#nameTaken(live.name, before.name);
    const text = (one: string | null): string => one ?? "";
    const description = back(text(before.description), text(after.description), text(is.description), () =>
      stays("description"),
    );
    const wanted: RoleImage = {
      name,
      description: description === text(is.description) ? is.description : description,
      permissions: sortedSet(backSet(before.permissions, after.permissions, is.permissions)),
      metadata: is.metadata,
    };
    const fields = [...roleFields(is, wanted)];
    if (fields.length === 0) return;
    this.#refs.set(live.id, { id: live.id, name });
    this.changes.push(
      seal<RoleChange>({
        resource: "role",
        name,
        kind: "update",
        id: live.id,
        before: is,
        after: wanted,
        fields,
        reason: "undone",
      }),
    );
  }

  #putBack(id: string | null, before: RoleImage): void {
    const { name } = before;
    // What the run itself gave this name makes room for it; where it cannot, the name is found to be taken later.
    const named = this.#named(name);
    const there = named && this.#isOfRun(named.id) ? undefined : named;
    if (there && equals(there, before)) {
      // An earlier undo, or somebody, has put it back.
      if (id !== null) this.#refs.set(id, { id: there.id, name });
      return;
    }
    if (there || this.#limits.nameless.has(`new ${name}`)) {
      this.#nameTaken(name, name);
      return;
    }
    this.#limits.note("new-id", name, `The role "${name}" comes back with another id.`);
    if (id !== null) this.#refs.set(id, { id: null, name });
    this.changes.push(
      seal<RoleChange>({
        resource: "role",
        name,
        kind: "create",
        id: null,
        before: null,
        after: before,
        fields: [],
        reason: "undone",
      }),
    );
  }

  #replaceBack(oldId: string, before: RoleImage, after: RoleImage, now: LiveRole): void {
    const { note, kept, nameless } = this.#limits;
    const { scope } = this.#context;
    const stays = { id: now.id, name: now.name };
    this.#refs.set(oldId, stays);
    if (
      !equals({ ...now, name: after.name }, after) ||
      (now.name !== after.name && now.name !== before.name)
    ) {
      note(
        "changed-since",
        now.name,
        `The role "${now.name}" was changed since it took another one's place, and stays.`,
      );
      return;
    }
    if (kept.has(now.id)) {
      note(
        "still-held",
        now.name,
        `The role "${now.name}" stays: somebody holds it whom the run did not give it to.`,
      );
      return;
    }
    if (nameless.has(now.id)) {
      this.#nameTaken(now.name, before.name);
      return;
    }
    const { name } = before;
    // An undo that was cut short has made the new one already.
    const made = scope.setAside.has(now.id) ? this.#named(name) : undefined;
    const resumed = made && equals(made, before) ? made.id : null;
    note("new-id", name, `The role "${name}" comes back with another id.`);
    const ref = { id: resumed, name };
    this.#refs.set(oldId, ref).set(now.id, ref);
    const is = roleImageOf(now);
    this.changes.push(
      seal<RoleChange>({
        resource: "role",
        name,
        kind: "replace",
        id: now.id,
        before: is,
        after: before,
        fields: [...roleFields(is, before)],
        reason: "undone",
        resumed,
      }),
    );
  }

  #nameTaken(name: string, wanted: string): void {
    this.#limits.note(
      "name-taken",
      name,
      `The role "${wanted}" does not come back: another role has that name by now.`,
    );
  }
}

function equals(live: LiveRole, image: RoleImage): boolean {
  const is = roleImageOf(live);
  const same = [
    ...roleFields({ ...is, name: image.name }, { ...image, permissions: sortedSet(image.permissions) }),
  ];
  return same.length === 0;
}

/** The value of before where the live one is still the run's; the live one where it is back, or neither. */
export function back<T>(before: T, after: T, live: T, changedSince: () => void): T {
  const same = (a: T, b: T): boolean => canonicalJson(a as never) === canonicalJson(b as never);
  if (same(before, after) || same(live, before)) return live;
  if (same(live, after)) return before;
  changedSince();
  return live;
}

/** What is live, without what the run added, and with what it took away. */
export function backSet(
  before: readonly string[],
  after: readonly string[],
  live: readonly string[],
): readonly string[] {
  const [was, is] = [new Set(before), new Set(after)];
  const added = new Set(after.filter((one) => !was.has(one)));
  const removed = before.filter((one) => !is.has(one));
  return [...new Set([...live.filter((one) => !added.has(one)), ...removed])];
}
