import { openSuggester } from "../../lib/suggest.ts";
import { by, byCodeUnit, groupByKey } from "../../lib/text.ts";
import type { DesiredRole, SyncOptions } from "../../model/desired.ts";
import type { LiveRole } from "../../model/live.ts";
import type { RoleChange } from "../../model/plan.ts";
import type { FindingData } from "../findings/findings.ts";
import type { RefusalData } from "../findings/refusals.ts";
import { type Declared, type Match, matchAll } from "./match.ts";
import { createRole, deleteRole, fixedDifferences, replaceRole, updateRole } from "./role-changes.ts";
import type { Scope } from "./scope.ts";

/** The planned changes of roles, with the mappings that planning members needs. */
export interface RolePlan {
  readonly changes: readonly RoleChange[];
  readonly unchanged: number;
  /** Number of live roles that the file does not list and, because of `additive`, does not remove. */
  readonly unlisted: number;
  readonly findingData: readonly FindingData[];
  /** Refusals of changes that the service cannot make in place and that the file does not allow as replacements. */
  readonly refusalData: readonly RefusalData[];
  /** Live ids by declared name; `null` for a role that this plan creates. */
  readonly declared: ReadonlyMap<string, string | null>;
  /** Declared names whose live role is ambiguous, which is an error. */
  readonly unmatched: ReadonlySet<string>;
  /** Names of the successors by the replaced role's id. */
  readonly replaced: ReadonlyMap<string, string>;
}

const NOTHING: RolePlan = {
  changes: [],
  unchanged: 0,
  unlisted: 0,
  findingData: [],
  refusalData: [],
  declared: new Map(),
  unmatched: new Set(),
  replaced: new Map(),
};

/** Compares the declared roles with the live custom ones; without a `roles:` section, nothing is planned. */
export function planRoles(
  desired: readonly DesiredRole[] | undefined,
  { roles: live, temporarilyNamed }: Pick<Scope, "roles" | "temporarilyNamed">,
  sync: Pick<SyncOptions, "roles" | "replaceRoles"> & Pick<RoleContext, "named" | "ignored">,
): RolePlan {
  const custom = live.filter((role) => !role.predefined);
  if (desired === undefined) {
    return { ...NOTHING, unchanged: custom.length };
  }
  // A role with a temporary name is found only by id, since its former name belongs to its successor.
  const renamable = live.filter((role) => !role.predefined && !temporarilyNamed.has(role.id));
  const pinned = new Set(desired.flatMap(({ id }) => id ?? []));
  const free = new Set(renamable.filter(({ id }) => !pinned.has(id)).map(({ name }) => name));
  const asideNames = new Set(
    custom.filter(({ id }) => temporarilyNamed.has(id) && !pinned.has(id)).map(({ name }) => name),
  );
  const { renames, several } = findRenames(desired, free, asideNames);
  const renamed = new Set(renames.values());
  const names = new Set(renamable.map(({ id }) => id));
  // The live role with the name of an entry is not that entry if another entry renames it.
  const ownKey = (name: string): string => (renamed.has(name) ? `\0${name}` : name);
  const declared: Declared<DesiredRole> = {
    idOf: ({ id }) => id,
    keyOf: ({ name }) => renames.get(name) ?? ownKey(name),
    nameOf: ({ name }) => name,
  };
  const candidates = {
    // A role that the service did not return cannot be matched.
    live: live.filter(({ idOnly }) => !idOnly),
    keysOf: ({ id, name }: LiveRole) => {
      if (!names.has(id)) return [];
      const entry = pinned.has(id) ? undefined : several.get(name);
      return [entry === undefined ? name : ownKey(entry)];
    },
    isLeftover: () => false,
    endedAt: () => "",
    isRenewal: () => false,
  };
  const { results: pairs, unclaimed } = matchAll(desired, declared, candidates);
  const customLeft = unclaimed.filter(({ predefined }) => !predefined);
  const aside = asideByName(customLeft, temporarilyNamed);
  const nearest = openSuggester([
    ...new Set(customLeft.filter(({ id }) => !temporarilyNamed.has(id)).map(({ name }) => name)),
  ]);
  const planned = pairs.map(
    ({ entry: role, match }): PlannedRole =>
      sync.ignored.has(role.name)
        ? { change: null, findingData: [{ code: "role-ignored", name: role.name } as const] }
        : planRole(role, match, { ...sync, aside: aside.get(role.name), free, temporarilyNamed, nearest }),
  );
  const spoken = new Set(planned.flatMap(({ change }) => change?.id ?? []));
  const unlisted = customLeft.filter(({ id }) => !spoken.has(id));
  const removals = sync.roles === "authoritative" ? unlisted.map((role) => deleteRole(role, "unlisted")) : [];
  const kept = unlisted.length - removals.length;
  const changes = [
    ...planned.flatMap(({ change, successor }) => [change ?? [], successor ?? []].flat()),
    ...removals,
  ];
  const touched = changes.filter(({ kind }) => kind !== "create").length;
  const collisions = nameCollisions(changes, renamable);
  return {
    changes,
    unchanged: custom.length - touched - kept,
    unlisted: kept,
    refusalData: planned.flatMap(({ refusalData }) => refusalData ?? []),
    findingData: [
      ...planned.flatMap(({ findingData }) => findingData),
      ...collisions,
      ...caseVariants(changes, unlisted),
    ],
    declared: new Map(
      pairs.flatMap(({ entry, match }, index) =>
        match.found === "none" && sync.ignored.has(entry.name)
          ? []
          : declaredId(entry, match, planned[index]?.change),
      ),
    ),
    unmatched: new Set(
      pairs.flatMap(({ entry, match }) =>
        match.found === "pin-missing" || match.found === "many" ? [entry.name] : [],
      ),
    ),
    replaced: new Map(
      changes.flatMap((change) => (change.kind === "replace" ? [[change.id, change.name]] : [])),
    ),
  };
}

interface RoleContext {
  readonly replaceRoles: boolean;
  /** Role ids that grants, guards, policies and checks name. */
  readonly named: ReadonlySet<string>;
  /** Declared names that the file also ignores. */
  readonly ignored: ReadonlySet<string>;
  /** The role that an earlier run gave a temporary name, to free its name for this role. */
  readonly aside: LiveRole | undefined;
  /** Live names that no entry pins. */
  readonly free: ReadonlySet<string>;
  readonly temporarilyNamed: ReadonlySet<string>;
  /** Returns the closest name among live roles without an entry. */
  readonly nearest: (name: string) => string | null;
}

interface PlannedRole {
  readonly change: RoleChange | null;
  /** The update of a successor that an earlier run has created. */
  readonly successor?: RoleChange | null;
  readonly findingData: readonly FindingData[];
  readonly refusalData?: readonly RefusalData[];
}

function planRole(role: DesiredRole, match: Match<LiveRole>, context: RoleContext): PlannedRole {
  const { name } = role;
  const only = (finding: FindingData): PlannedRole => ({ change: null, findingData: [finding] });
  switch (match.found) {
    case "none": {
      if (context.aside && context.replaceRoles) {
        return { change: replaceRole(role, context.aside, null), findingData: [] };
      }
      const { previously = [] } = role;
      const [unknown] = previously.flatMap((former) => {
        const near = context.nearest(former);
        return near === null ? [] : { previously: former, near };
      });
      const findingData: FindingData[] = unknown
        ? [{ code: "role-previously-unknown", name, ...unknown }]
        : [];
      if (role.permissions !== undefined) {
        return { change: createRole(role, role.permissions), findingData };
      }
      const meant = unknown ? null : context.nearest(name);
      return {
        change: null,
        findingData: [...findingData, { code: "role-needs-permissions", name, near: meant }],
      };
    }
    case "pin-missing":
      return only({ code: "role-pin-missing", name, id: match.id });
    case "many":
      return only({
        code: "role-ambiguous",
        name,
        live: match.live.map(({ id, name: roleName }) => ({ id, name: roleName })),
      });
    case "one":
      return planFound(role, match.live, context);
    default:
      return match satisfies never;
  }
}

function planFound(role: DesiredRole, live: LiveRole, context: RoleContext): PlannedRole {
  const { replaceRoles, named, aside, free, temporarilyNamed } = context;
  const { name, id: pin, previously = [] } = role;
  const { id, predefined } = live;
  if (predefined) return { change: null, findingData: [{ code: "role-pin-predefined", name, id }] };
  // A pinned role only takes over the former name of the role with a temporary one; it is not its successor.
  if (aside && replaceRoles && pin === undefined) return resume(role, aside, live);
  const formerNames =
    live.name === name ? previously.filter((former) => former !== name && free.has(former)) : [];
  const findingData = formerNames.map(
    (former) => ({ code: "role-previously-left", name, previously: former }) as const,
  );
  const fixed = fixedDifferences(role, live);
  const differs = Object.keys(fixed).length > 0;
  if (differs && replaceRoles && pin === undefined && !named.has(id))
    return { change: replaceRole(role, live, null), findingData };
  const data: RefusalData = replaceRoles
    ? { code: pin === undefined ? "role-replace-named" : "role-replace-pinned", name, id, fixed }
    : { code: "role-metadata-fixed", name, fixed };
  return {
    change: updateRole(role, live, temporarilyNamed.has(id)),
    findingData,
    ...(differs && { refusalData: [data] }),
  };
}

/** Continues a replacement whose successor exists, and updates the successor if it differs from the file. */
function resume(role: DesiredRole, aside: LiveRole, live: LiveRole): PlannedRole {
  const { name } = role;
  const fixed = fixedDifferences(role, live);
  return {
    change: replaceRole(role, aside, live.id),
    successor: updateRole(role, live, false),
    findingData: [],
    ...(Object.keys(fixed).length > 0 && { refusalData: [{ code: "role-metadata-fixed", name, fixed }] }),
  };
}

/** Reports roles to create whose names differ from unlisted ones only by case, or by the Unicode form of accents. */
function caseVariants(changes: readonly RoleChange[], unlisted: readonly LiveRole[]): readonly FindingData[] {
  const keyOf = (name: string): string => name.normalize("NFC").toLowerCase();
  const sorted = unlisted.map(({ name }) => name).sort(byCodeUnit);
  const names = new Map(sorted.map((name) => [keyOf(name), name]));
  return changes.flatMap(({ kind, name }): readonly FindingData[] => {
    const live = kind === "create" ? names.get(keyOf(name)) : undefined;
    return live === undefined ? [] : [{ code: "role-name-case", name, live }];
  });
}

/** Reports roles that would get a name that another role keeps, which the service would refuse. */
function nameCollisions(
  changes: readonly RoleChange[],
  liveRoles: readonly LiveRole[],
): readonly FindingData[] {
  const moving = new Set(
    changes.flatMap((change) => (change.before?.name === change.after?.name ? [] : (change.id ?? []))),
  );
  const staying = groupByKey(
    liveRoles.filter(({ id }) => !moving.has(id)),
    ({ name }) => name,
  );
  const kept = new Map(staying.map((group) => [group[0].name, group.map(({ id }) => id).sort(byCodeUnit)]));
  return changes.flatMap((change): readonly FindingData[] => {
    const { kind, after, before, name } = change;
    // A role that keeps its name takes no other; a replacement is created beside the old role.
    if (after === null || (kind !== "replace" && before?.name === after.name)) return [];
    const ownIds = [change.id, kind === "replace" ? change.resumed : null];
    const id = kept.get(after.name)?.find((other) => !ownIds.includes(other));
    return id === undefined ? [] : [{ code: "role-name-taken", name, id }];
  });
}

function asideByName(
  unclaimed: readonly LiveRole[],
  temporarilyNamed: ReadonlySet<string>,
): ReadonlyMap<string, LiveRole> {
  const aside = unclaimed.filter(({ id }) => temporarilyNamed.has(id)).sort(by(({ id }) => id));
  return new Map(aside.map((role) => [role.name, role]));
}

function declaredId(
  role: DesiredRole,
  match: Match<LiveRole>,
  change: RoleChange | null | undefined,
): readonly [string, string | null][] {
  if (change?.kind === "replace") return [[role.name, change.resumed]];
  if (match.found === "none") return [[role.name, null]];
  return match.found === "one" ? [[role.name, match.live.id]] : [];
}

/** The entries that match live roles by previous names. */
interface Renames {
  /** The live names of the roles to rename, by their new names. */
  readonly renames: ReadonlyMap<string, string>;
  /** The new names of entries that several live roles could match, by the names of those roles. */
  readonly several: ReadonlyMap<string, string>;
}

/** An entry that may be a rename, with the entries that give up their names to it. */
interface RenameAttempt {
  readonly name: string;
  readonly untried: string[];
  readonly found: string[];
}

function attempt({ name, previously = [] }: DesiredRole): RenameAttempt {
  return { name, untried: [...previously].reverse(), found: [] };
}

/**
 * Finds the roles to rename.
 *
 * A live role with the new name, or with a temporary name made from it, takes precedence over `previously`, so that a
 * rename is done only once. A name that another entry has can only be taken if that entry is itself renamed, in a
 * chain. Two entries that swap names need pins, because before and after the swap look the same.
 */
function findRenames(
  roles: readonly DesiredRole[],
  liveNames: ReadonlySet<string>,
  asideNames: ReadonlySet<string>,
): Renames {
  const unpinned = roles.filter(({ id }) => id === undefined);
  const declared = new Map(unpinned.map((role) => [role.name, role]));
  const renames = new Map<string, string>();
  const several = new Map<string, string>();
  const taken = new Set<string>();

  /** Tries the next previous name of an entry; returns the entry that has to give it up first, if there is one. */
  const tryNext = (
    former: string,
    { found: match }: RenameAttempt,
    chain: ReadonlySet<string>,
  ): DesiredRole | null => {
    if (!liveNames.has(former) || taken.has(former) || chain.has(former)) return null;
    const holder = declared.get(former);
    // An entry whose role has a temporary name is matched already, so its name is free.
    const givesUp = holder?.previously !== undefined && asideNames.has(former);
    if (holder && !givesUp) return holder;
    match.push(former);
    return null;
  };

  const conclude = ({ name, found: match }: RenameAttempt): boolean => {
    const [first] = match;
    if (first === undefined) return false;
    for (const former of match) taken.add(former);
    if (match.length === 1) renames.set(name, first);
    else for (const former of match) several.set(former, name);
    return true;
  };

  // A path instead of recursion: a chain of renames may be as long as the file.
  const rename = (root: DesiredRole): void => {
    const path: RenameAttempt[] = [attempt(root)];
    const chain = new Set([root.name]);
    for (let current = path.at(-1); current !== undefined; current = path.at(-1)) {
      const former = current.untried.pop();
      const holder = former === undefined ? null : tryNext(former, current, chain);
      if (holder !== null) {
        path.push(attempt(holder));
        chain.add(holder.name);
      }
      if (former !== undefined) continue;
      path.pop();
      chain.delete(current.name);
      // The entry gives up its name to the one before it in the path.
      if (conclude(current)) path.at(-1)?.found.push(current.name);
    }
  };

  for (const role of [...unpinned].sort(by(({ name }) => name))) {
    if (!liveNames.has(role.name) && !asideNames.has(role.name)) rename(role);
  }
  return { renames, several };
}
