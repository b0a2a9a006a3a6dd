import { COMMIT_PRECISION, type DriftTimes } from "../../ask/report/detect-drift.ts";
import { buildPlan, type PlanInput } from "../../kernel/plan/build-plan.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import type { DesiredMember, DesiredRole, DesiredState, Origin } from "../../model/desired.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, FieldDiff, Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { type DeclaredHistory, openDeclaredHistory, type PastDeclaration } from "./declared-history.ts";
import { knownTime, readHistories } from "./git-history.ts";

/**
 * Reads when each side of a merchant's changes last changed: what the file declares of a role or member from git, and the
 * live one from the service. `changes` are those of the plan.
 */
export async function driftTimes(
  state: DesiredState,
  { live, matches }: Pick<PlanInput, "live" | "matches">,
  { changes, refusals }: Pick<Plan, "changes" | "refusals">,
  io: Pick<Io, "cwd" | "now">,
): Promise<DriftTimes> {
  const times = liveTimesOf(live);
  const refused = new Set(refusals.flatMap(({ name }) => name ?? []));
  const roles = live.roles.filter(({ name }) => refused.has(name));
  const moments = [
    ...changes.flatMap((change) => momentBefore(times(change)) ?? []),
    ...roles.flatMap(({ id }) => momentBefore(times({ kind: "update", id })) ?? []),
  ];
  const history = await openDeclaredHistory(state, io.cwd);
  try {
    const past = new Map<number, PastDeclaration>();
    for (const moment of new Set(moments)) {
      const declared = await history.at(moment);
      if (declared !== undefined) past.set(moment, declared);
    }
    const [files, declared] = await Promise.all([
      readHistories(state, io),
      declaredBefore(changes, { state, live, matches, history }),
    ]);
    const origins = originsOf(state);
    const newest = Math.max(...[...files.values()].map(({ file }) => file ?? Number.NaN));
    const unlisted = changes.filter((change) => past.size > 0 && !origins.has(keyOf(change)));
    const names = unlisted.map(({ name }) => name);
    const mentions = names.length === 0 ? new Map<string, number>() : await history.lastMentions(names);
    const fileTime = (change: Change, moment: number | null): number | null => {
      const before = past.get(moment ?? Number.NaN);
      // Later commits declare the same for this role or member.
      if (before && sameDeclared(change, before.state, state)) {
        const mentioned = mentions.get(change.name);
        // Declared since, but no longer.
        if (mentioned !== undefined && moment !== null && mentioned > moment) return mentioned;
        return before.committed ?? NEVER;
      }
      const origin = origins.get(keyOf(change));
      // A removed entry has no lines, so the time of the merchant's files is used.
      if (origin === undefined) return knownTime(newest);
      return files.get(origin.file)?.entry(origin) ?? null;
    };
    return {
      live: times,
      file: (change) => {
        const liveAt = times(change);
        const moment = momentBefore(liveAt);
        const fileAt = fileTime(change, moment);
        const wasDeclared = declared.get(keyOf(change));
        if (wasDeclared === undefined || fileAt === null || liveAt === null) return fileAt;
        // A commit declared the live values once: they never followed the file since, or were changed back.
        if (wasDeclared) return fileAt <= liveAt - COMMIT_PRECISION ? null : fileAt;
        const before = past.get(moment ?? Number.NaN);
        const wasListed = before?.state && entryOf(change, before.state) !== undefined;
        // No commit declared what is live, so a later commit to the entry did not bring the difference.
        return wasListed ? (before.committed ?? NEVER) : fileAt;
      },
    };
  } finally {
    history.close();
  }
}

/**
 * Returns the times at which the live side of changes last changed: a role or membership that is not declared was added when
 * it was created, whatever was edited since.
 */
function liveTimesOf({ roles, members }: LiveState): (change: Pick<Change, "id" | "kind">) => number | null {
  const byId = new Map([...roles, ...members].map((resource) => [resource.id, resource]));
  return ({ id, kind }) => {
    const { createdAt, updatedAt = "" } = byId.get(id ?? "") ?? {};
    return knownTime(Date.parse(kind === "delete" ? (createdAt ?? updatedAt) : updatedAt));
  };
}

/** A merchant's state with its live state and its history. */
interface Declarations extends Pick<PlanInput, "live" | "matches"> {
  readonly state: DesiredState;
  readonly history: DeclaredHistory;
}

/**
 * Returns for updates, by `keyOf`, whether a commit declared what is live where live and file differ; updates whose history
 * is not known to the end are missing.
 */
async function declaredBefore(
  changes: readonly Change[],
  { state, live, matches, history }: Declarations,
): Promise<ReadonlyMap<string, boolean>> {
  const undecided = new Map(
    changes.flatMap((change) => (change.kind === "update" ? [[keyOf(change), change] as const] : [])),
  );
  const answers = new Map<string, boolean>();
  if (undecided.size === 0) return answers;
  const origins = originsOf(state);
  const files = [...new Set([...undecided.keys()].flatMap((key) => origins.get(key)?.file ?? []))];
  for await (const { state: past, time } of history.commitsTo(files)) {
    if (past === undefined) return answers;
    if (past === null) continue;
    const then = changesAt(past, [...undecided.values()], { live, now: time, matches });
    for (const [key, change] of undecided) {
      const other = then.get(key);
      if (entryOf(change, past) === undefined || (other && sharesDifference(change, other))) continue;
      answers.set(key, true);
      undecided.delete(key);
    }
    if (undecided.size === 0) break;
  }
  for (const key of undecided.keys()) answers.set(key, false);
  return answers;
}

/** Returns, by `keyOf`, the changes that a past state would have planned at the roles and members of some changes. */
function changesAt(
  past: DesiredState,
  changes: readonly Change[],
  { live, ...rest }: Pick<PlanInput, "live" | "now" | "matches">,
): ReadonlyMap<string, Change> {
  const ids = new Set(changes.map(({ id }) => id));
  const entries = new Set(changes.map((change) => entryOf(change, past)));
  const plan = buildPlan({
    desired: {
      ...past,
      ...(past.members && { members: past.members.filter((member) => entries.has(member)) }),
    },
    live: { ...live, members: live.members.filter(({ id }) => ids.has(id)) },
    service: "",
    ...rest,
  });
  const allChanges = [...plan.changes, ...plan.deferred.map(({ change }) => change)];
  return new Map(allChanges.map((change) => [keyOf(change), change]));
}

/** Returns whether two changes of one role or member begin at the same difference from what is live. */
function sharesDifference(change: Change, other: Change): boolean {
  if (other.kind !== "update") return true;
  const parts = new Set(other.fields.flatMap(partsOf));
  return change.fields.flatMap(partsOf).some((part) => parts.has(part));
}

/** Returns the parts of a field's difference as texts: each added and removed item of a list, or the field. */
function partsOf(diff: FieldDiff): readonly string[] {
  if (!("added" in diff)) return [diff.field];
  const texts = (items: readonly (string | RoleRef)[], sign: string): readonly string[] =>
    items.map((item) => `${diff.field} ${sign}${typeof item === "string" ? item : (item.id ?? item.name)}`);
  return [...texts(diff.added, "+"), ...texts(diff.removed, "-")];
}

/** The time of what was never committed. */
const NEVER = Number.NEGATIVE_INFINITY;

/** Returns the last moment before a change that a commit can be told from it. */
function momentBefore(time: number | null): number | null {
  return time === null ? null : time - COMMIT_PRECISION;
}

/** Returns whether two states declare the same of a role or member; `null` declares nothing. */
function sameDeclared(change: Change, past: DesiredState | null, now: DesiredState): boolean {
  const [earlier, other] = [past && declaredOf(change, past), declaredOf(change, now)];
  const nothing = JSON.stringify({ entry: null });
  if (earlier === null) return other.startsWith(nothing.slice(0, -1));
  return earlier === other;
}

/** Returns the entry of a role or member. */
function entryOf(
  { resource, name, id }: Change,
  { roles = [], members = [] }: DesiredState,
): DesiredRole | DesiredMember | undefined {
  const isPinned = (entry: { readonly id?: string }): boolean => id !== null && entry.id === id;
  return resource === "role"
    ? roles.find((role) => role.name === name || isPinned(role))
    : members.find((member) => addressesOfPerson(member).includes(name.toLowerCase()) || isPinned(member));
}

/** Returns what a state declares of a role or member, as text; without an entry, what becomes of it. */
function declaredOf(change: Change, state: DesiredState): string {
  const entry = entryOf(change, state);
  if (entry !== undefined) {
    // Under a new address an entry declares the same of the person.
    const unsaid = ["origin", ...(change.resource === "role" ? [] : ["email", "previously"])];
    return JSON.stringify({ entry }, (key, value: unknown) => (unsaid.includes(key) ? undefined : value));
  }
  const section = change.resource === "role" ? "roles" : "members";
  return JSON.stringify({
    entry: null,
    managed: state[section] !== undefined,
    sync: state.sync[section],
    ignore: state.ignore[section],
  });
}

function originsOf({ roles = [], members = [] }: DesiredState): ReadonlyMap<string, Origin> {
  return new Map([
    ...roles.map(({ name, origin }) => [`role ${name}`, origin] as const),
    ...members.flatMap((member) =>
      addressesOfPerson(member).map((address) => [`member ${address}`, member.origin] as const),
    ),
  ]);
}

function keyOf({ resource, name }: Change): string {
  return `${resource} ${resource === "member" ? name.toLowerCase() : name}`;
}
