import { leftAt } from "../../kernel/diff/active-member.ts";
import { planRoles, type RolePlan } from "../../kernel/diff/plan-roles.ts";
import { roleResolver } from "../../kernel/diff/resolve.ts";
import { type GlobMatch, type Scope, scopeOf } from "../../kernel/diff/scope.ts";
import { ROLE_FIELDS, roleImage } from "../../kernel/fields/role.ts";
import { ignoredEntries } from "../../kernel/rules/ignored.ts";
import { isSameJson } from "../../lib/json-text.ts";
import { by } from "../../lib/text.ts";
import type { Adoption, EntryEdit, RoleEntry, RoleEntryUpdate, Unwritable } from "../../model/adoption.ts";
import type { DesiredRole, DesiredState } from "../../model/desired.ts";
import type { RoleImage } from "../../model/field-values.ts";
import type { LiveRole, LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import { adoptMembers } from "./adopt-members.ts";
import { entryUpdates, entryValues } from "./entry-values.ts";

/** The input of an adoption. */
export interface AdoptionInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
  /** The findings of the merchant's plan. */
  readonly findings: Plan["findings"];
  /** The time that end dates are compared with, in ms since the epoch. */
  readonly now: number;
  readonly matches: GlobMatch;
  /** The parts of the live state that no file can hold. */
  readonly unwritable: Unwritable;
  /** Returns whether an edit is wanted; absent: every edit. */
  readonly wants?: (edit: EntryEdit) => boolean;
}

/**
 * Returns the edits to a merchant's files after which a plan has no changes: they add entries for what is live and not
 * declared, remove entries for what is declared and not live, and set live values in the others. A section that the
 * files do not have stays unmanaged.
 */
export function adoptLive(input: AdoptionInput): Adoption {
  const { desired, live, findings, now, matches, unwritable, wants = () => true } = input;
  const leavers = leftAt(desired.leavers, now);
  const scope = scopeOf(live, desired.ignore, matches, leavers);
  const ignored = ignoredEntries(desired, scope, matches);
  const rolePlan = planRoles(desired.roles, scope, {
    roles: "additive",
    replaceRoles: false,
    named: new Set(),
    ignored: ignored.roles,
  });
  const roles =
    desired.roles === undefined
      ? UNMANAGED
      : adoptRoles(desired.roles, {
          scope,
          plan: rolePlan,
          ignored: ignored.roles,
          unwritable: unwritable.roles,
          wants,
        });
  const ignoredRoles = new Set([...scope.ignoredRoles, ...ignored.roles]);
  const wordOf = roleWords(desired, scope, roles);
  const members =
    desired.members === undefined
      ? { edits: [], mentions: [] }
      : adoptMembers(desired.members, {
          scope,
          left: leavers,
          now,
          file: desired.origin.file,
          ignored: ignored.members,
          unwritable: unwritable.members,
          resolver: roleResolver(rolePlan, { ...scope, ignoredRoles }),
          wordOf,
          titleOf: (id) => {
            const name = live.roles.find((role) => role.id === id)?.name ?? "";
            return name.trim() === "" || name === id ? id : `${name} (${id})`;
          },
          reinvite: desired.sync.reinvite,
          unrenewed: new Set(findings.flatMap(({ code, name }) => (UNRENEWED.has(code) ? name : []))),
          wants,
        });
  return {
    merchant: desired.merchant,
    edits: [...roles.edits, ...members.edits],
    mentions: members.mentions,
    heldRoles: new Map(
      scope.roles.flatMap(({ id, name }) => (wordOf(id) === id && id !== name ? [[id, name]] : [])),
    ),
  };
}

/** Codes of the findings of expired invitations that a plan does not renew. */
const UNRENEWED: ReadonlySet<string> = new Set(["member-expired", "member-not-accepted"]);

const UNMANAGED: AdoptedRoles = { edits: [], names: new Map(), ignored: new Set() };

/** Returns a function that returns the word for a role in a member's entry: its name if the file declares it, else its id. */
function roleWords(
  desired: DesiredState,
  scope: Scope,
  { names, ignored }: AdoptedRoles,
): (id: string) => string | null {
  const ignoredIds = new Set([...scope.ignoredLiveRoles.map(({ id }) => id), ...ignored]);
  const custom = scope.roles.filter(({ predefined }) => !predefined);
  const isUnique = uniqueNames(custom.map(({ name }) => name));
  const liveNames = new Map(
    custom.flatMap(({ id, name }) =>
      isUnique(name) && !name.startsWith("role_") ? [[id, name] as const] : [],
    ),
  );
  const isOpen = desired.roles === undefined;
  return (id) => {
    if (ignoredIds.has(id)) return null;
    return names.get(id) ?? (isOpen ? liveNames.get(id) : undefined) ?? id;
  };
}

function uniqueNames(names: readonly string[]): (name: string) => boolean {
  const again = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return (name) => !again.has(name);
}

/** The edits of a merchant's role entries, and the words for its roles afterwards. */
interface AdoptedRoles {
  readonly edits: readonly EntryEdit[];
  /** The names in the entries, by live id. */
  readonly names: ReadonlyMap<string, string>;
  /** Ids of the roles that are ignored from now on. */
  readonly ignored: ReadonlySet<string>;
}

/** The input of adopting roles. */
interface RoleAdoption {
  readonly scope: Pick<Scope, "roles" | "temporarilyNamed">;
  readonly plan: Pick<RolePlan, "declared">;
  /** Declared names that the file also ignores. */
  readonly ignored: ReadonlySet<string>;
  readonly unwritable: ReadonlyMap<string, ReadonlySet<string>>;
  /** Returns whether an edit is wanted. */
  readonly wants: (edit: EntryEdit) => boolean;
}

/** Compares the declared roles with the live ones, and returns the edits that make the entries declare those. */
function adoptRoles(declared: readonly DesiredRole[], input: RoleAdoption): AdoptedRoles {
  const { scope, plan, unwritable, wants } = input;
  const custom = scope.roles.filter(({ predefined }) => !predefined);
  const byId = new Map(custom.map((role) => [role.id, role]));
  const matched = matchDeclared(declared, custom, input);
  const claimed = new Set(matched.values());
  const listed = custom.filter(({ id }) => claimed.has(id));
  const { adds, ignores } = unlistedRoles(custom, listed, input);
  const taken = new Map([...listed, ...adds].map(({ id, name }) => [name, id]));
  const twins = new Set(ignores.flatMap((edit) => (edit.cause === "twin" ? edit.name : [])));
  const updates = declared.flatMap((role): readonly EntryEdit[] => {
    const live = byId.get(matched.get(role) ?? "");
    // A plan refuses an entry for something that the file ignores.
    if (live === undefined || input.ignored.has(role.name)) return [{ kind: "remove-role", role }];
    // The next apply ends what an interrupted one began.
    if (scope.temporarilyNamed.has(live.id)) return [];
    const fields = roleUpdate(role, live, unwritable.get(live.id) ?? NONE, {
      pin: twins.has(live.name) || plan.declared.get(role.name) !== live.id,
      isTaken: (name) => taken.has(name),
    });
    return Object.keys(fields).length === 0 ? [] : [{ kind: "update-role", role, fields }];
  });
  const edits = [
    ...updates,
    ...adds.map((role) => addRole(role, unwritable.get(role.id) ?? NONE, twins.has(role.name))),
    ...ignores,
  ].filter(wants);
  return { edits, names: namesAfter(matched, edits), ignored: ignoredBy(edits) };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the live ids of the declared roles, including those that a plan cannot distinguish. */
function matchDeclared(
  declared: readonly DesiredRole[],
  custom: readonly LiveRole[],
  { plan, ignored, unwritable }: RoleAdoption,
): ReadonlyMap<DesiredRole, string> {
  const ids = new Set(custom.flatMap(({ id }) => (unwritable.get(id)?.has("entry") ? [] : id)));
  const matched = new Map<DesiredRole, string>();
  for (const role of declared) {
    const id = plan.declared.get(role.name);
    if (id != null && ids.has(id) && !ignored.has(role.name)) matched.set(role, id);
  }
  const claimed = new Set(matched.values());
  for (const role of declared) {
    if (plan.declared.has(role.name) || ignored.has(role.name)) continue;
    const free = custom.filter(({ id }) => !claimed.has(id)).sort(by(({ id }) => id));
    const first = [role.name, ...(role.id === undefined ? (role.previously ?? []) : [])]
      .flatMap((key) => free.find(({ name }) => name === key) ?? [])
      .at(0);
    if (first === undefined) continue;
    matched.set(role, first.id);
    claimed.add(first.id);
  }
  return withoutTwins(matched, new Map(custom.map(({ id, name }) => [id, name])));
}

/** Leaves out the entries of roles with the same name as another one, since a file can list a name only once. */
function withoutTwins(
  matched: ReadonlyMap<DesiredRole, string>,
  names: ReadonlyMap<string, string>,
): ReadonlyMap<DesiredRole, string> {
  const isNamed = ([role, id]: readonly [DesiredRole, string]): boolean => names.get(id) === role.name;
  const seen = new Set<string | undefined>();
  const kept = [...matched].sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
  return new Map(
    kept.filter(([, id]) => {
      const isFirst = !seen.has(names.get(id));
      seen.add(names.get(id));
      return isFirst;
    }),
  );
}

/** A live role that is ignored from now on. */
type RoleIgnore = Extract<EntryEdit, { readonly cause: unknown }>;

/** Divides the live roles without an entry into those to add and those that only `ignore` can name. */
function unlistedRoles(
  custom: readonly LiveRole[],
  listed: readonly LiveRole[],
  { scope: { temporarilyNamed }, unwritable }: RoleAdoption,
): { readonly adds: readonly LiveRole[]; readonly ignores: readonly RoleIgnore[] } {
  const claimed = new Set(listed.map(({ id }) => id));
  const names = new Set(listed.map(({ name }) => name));
  const adds: LiveRole[] = [];
  const ignores: RoleIgnore[] = [];
  const unlisted = custom.filter(({ id }) => !claimed.has(id));
  const duplicates = new Set(
    unlisted.map(({ name }) => name).filter((name, index, names) => names.indexOf(name) < index),
  );
  const sorted = [...unlisted].sort(by(({ name, id }) => `${name}\0${id}`));
  for (const role of sorted) {
    const { id, name } = role;
    const ignore = (cause: RoleIgnore["cause"]): void =>
      void ignores.push({ kind: "ignore-role", id, name, cause });
    const parts = unwritable.get(id) ?? NONE;
    // If several have the same name, the listed one has to be pinned.
    const isUnwritable = parts.has("entry") || (duplicates.has(name) && parts.has("id"));
    if (temporarilyNamed.has(id)) ignore("temporary");
    else if (isUnwritable) ignore("unwritable");
    else if (names.has(name)) ignore("twin");
    else {
      adds.push(role);
      names.add(name);
    }
  }
  return { adds, ignores };
}

function addRole(live: LiveRole, parts: ReadonlySet<string>, pin: boolean): EntryEdit {
  const { id, name } = live;
  const entry: RoleEntry = {
    ...entryValues<RoleImage>(ROLE_FIELDS, roleImage(live), parts),
    name,
    ...(pin && { id }),
  };
  return { kind: "add-role", id, entry, left: [...parts].filter((part) => part !== "id") };
}

function roleUpdate(
  role: DesiredRole,
  live: LiveRole,
  parts: ReadonlySet<string>,
  { pin, isTaken }: { readonly pin: boolean; readonly isTaken: (name: string) => boolean },
): RoleEntryUpdate {
  const { previously = [] } = role;
  const renamed = live.name !== role.name;
  // Rules may still name the role as the file did.
  const former = [...(renamed ? [role.name] : []), ...previously].filter(
    (name) => name !== live.name && !isTaken(name),
  );
  const [only = null] = former;
  return {
    ...entryUpdates<Omit<RoleImage, "name">>(ROLE_FIELDS, role, roleImage(live), parts),
    ...(renamed && { name: live.name }),
    ...(!isSameJson(former, previously) && { previously: former.length > 1 ? former : only }),
    ...(role.id === undefined
      ? pin && !parts.has("id") && { id: live.id }
      : role.id !== live.id && { id: parts.has("id") ? null : live.id }),
  };
}

/** Returns the names that the entries have after the edits, by live id. */
function namesAfter(
  matched: ReadonlyMap<DesiredRole, string>,
  edits: readonly EntryEdit[],
): ReadonlyMap<string, string> {
  const names = new Map([...matched].map(([{ name }, id]) => [id, name]));
  for (const edit of edits) {
    if (edit.kind === "add-role") names.set(edit.id, edit.entry.name);
    if (edit.kind !== "update-role" || edit.fields.name === undefined) continue;
    const id = matched.get(edit.role);
    if (id !== undefined) names.set(id, edit.fields.name);
  }
  return names;
}

function ignoredBy(edits: readonly EntryEdit[]): ReadonlySet<string> {
  return new Set(edits.flatMap((edit) => (edit.kind === "ignore-role" ? edit.id : [])));
}
