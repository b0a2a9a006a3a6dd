import { COMMIT_PRECISION, type DriftTimes, differencesOf } from "../../ask/report/detect-drift.ts";
import {
  type AnyImage,
  differingParts,
  type UpdateChange,
  updateParts,
} from "../../kernel/diff/change-parts.ts";
import { buildPlan, type PlanInput } from "../../kernel/plan/build-plan.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import type { DesiredMember, DesiredRole, DesiredState, Origin } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { type DeclaredHistory, openDeclaredHistory, type PastDeclaration } from "./declared-history.ts";
import { knownTime, readHistories } from "./git-history.ts";

/**
 * Reads when each side of a merchant's differences last changed: the declaration of a role or member from git, and the
 * live one from the service. Each part of an update is looked up separately.
 */
export async function driftTimes(
  state: DesiredState,
  { live, matches }: Pick<PlanInput, "live" | "matches">,
  plan: Plan,
  io: Pick<Io, "cwd" | "now">,
): Promise<DriftTimes> {
  const times = liveTimesOf(live);
  const { changes } = differencesOf(plan, state, live);
  const updates = changes.filter((change) => change.kind === "update");
  const moments = changes.flatMap((change) => momentBefore(times(change)) ?? []);
  const history = await openDeclaredHistory(state, io.cwd);
  try {
    const past = new Map<number, PastDeclaration>();
    for (const moment of new Set(moments)) {
      const declared = await history.at(moment);
      if (declared !== undefined) past.set(moment, declared);
    }
    const imagesOf = pastImages(updates, { live, matches });
    const [files, declared] = await Promise.all([
      readHistories(state, io),
      declaredBefore(updates, imagesOf, state, history),
    ]);
    const origins = originsOf(state);
    const newest = Math.max(...[...files.values()].map(({ file }) => file ?? Number.NaN));
    const isKnown = past.size > 0 || history.isShallow;
    const unlisted = changes.filter((change) => isKnown && !origins.has(keyOf(change)));
    const names = unlisted.map(({ name }) => name);
    const mentions = names.length === 0 ? new Map<string, number>() : await history.lastMentions(names);
    const isDeclaredAsNow = (change: Change, before: PastDeclaration, moment: number): boolean => {
      const image = change.kind === "update" && before.state && imagesOf(before.state, moment).get(change.id);
      return change.kind === "update" && image
        ? differingParts(image, change.after).every((part) => !updateParts(change).includes(part))
        : sameDeclared(change, before.state, state);
    };
    // What was declared before the first commit of a shallow clone is unknown.
    const isBeyond = (before: PastDeclaration | undefined): boolean =>
      before === undefined && history.isShallow;
    const fileTime = (change: Change, moment: number | null): number | null => {
      const before = past.get(moment ?? Number.NaN);
      // Later commits declare the same.
      if (before && moment !== null && isDeclaredAsNow(change, before, moment)) {
        const mentioned = mentions.get(change.name);
        // Declared since, but no longer.
        return mentioned !== undefined && mentioned > moment ? mentioned : (before.committed ?? NEVER);
      }
      const origin = origins.get(keyOf(change));
      // A removed entry has no lines, so the time of the merchant's files is used.
      if (origin === undefined) {
        return isBeyond(before) ? (mentions.get(change.name) ?? null) : knownTime(newest);
      }
      return files.get(origin.file)?.entry(origin) ?? null;
    };
    return {
      live: times,
      file: (change) => {
        const liveAt = times(change);
        const moment = momentBefore(liveAt);
        const fileAt = fileTime(change, moment);
        if (change.kind !== "update" || fileAt === null || liveAt === null) return fileAt;
        const before = past.get(moment ?? Number.NaN);
        const wasDeclared = declared.get(change.id);
        if (wasDeclared === undefined) return isBeyond(before) ? null : fileAt;
        // A commit declared the live value once: it never followed the file since, or was changed back.
        if (updateParts(change).some((part) => wasDeclared.has(part)))
          return fileAt <= liveAt - COMMIT_PRECISION ? null : fileAt;
        // No commit declared what is live, so a later commit to the entry did not bring the difference.
        const wasThere =
          before && (before.state === null ? onlyTakes(change) : entryOf(change, before.state) !== undefined);
        return wasThere ? (before.committed ?? NEVER) : fileAt;
      },
    };
  } finally {
    history.close();
  }
}

/**
 * Returns the times at which the live side of changes last changed: a role or membership that is not declared counts as
 * changed when it was created, whatever was edited since.
 */
function liveTimesOf({ roles, members }: LiveState): (change: Pick<Change, "id" | "kind">) => number | null {
  const byId = new Map([...roles, ...members].map((resource) => [resource.id, resource]));
  return ({ id, kind }) => {
    const { createdAt, updatedAt = "" } = byId.get(id ?? "") ?? {};
    return knownTime(Date.parse(kind === "delete" ? (createdAt ?? updatedAt) : updatedAt));
  };
}

/**
 * Returns what a state at a time declares for the updated roles and members that it lists, by id, applied to what is
 * live.
 */
type PastImages = (past: DesiredState, time: number) => ReadonlyMap<string, AnyImage>;

/** Returns a function that plans past states for the roles and members of some updates. */
function pastImages(
  updates: readonly UpdateChange[],
  { live, matches }: Pick<PlanInput, "live" | "matches">,
): PastImages {
  const ids = new Set(updates.map(({ id }) => id));
  return (past, time) => {
    const entries = new Set(updates.map((update) => entryOf(update, past)));
    const desired = {
      ...past,
      ...(past.members && { members: past.members.filter((member) => entries.has(member)) }),
    };
    const some = { ...live, members: live.members.filter(({ id }) => ids.has(id)) };
    const plan = buildPlan({ desired, live: some, service: "", now: time, matches });
    const planned = [
      ...differencesOf(plan, desired, some).changes,
      ...plan.deferred.map(({ change }) => change),
    ];
    const byId = new Map(planned.map((change) => [change.id, change]));
    const errors = new Set(plan.findings.flatMap(({ severity, name }) => (severity === "error" ? name : [])));
    return new Map(
      updates.flatMap((update): readonly (readonly [string, AnyImage])[] => {
        const entry = entryOf(update, past);
        const change = byId.get(update.id);
        if (entry === undefined || errors.has(nameOf(entry))) return [];
        if (change === undefined) return [[update.id, update.before]];
        return change.kind === "update" ? [[update.id, change.after]] : [];
      }),
    );
  };
}

/**
 * Returns by id, for updates, the parts whose live values a commit declared; updates whose history is not completely
 * known are missing, unless a commit declared all of their parts.
 */
async function declaredBefore(
  updates: readonly UpdateChange[],
  imagesOf: PastImages,
  state: DesiredState,
  history: DeclaredHistory,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const undecided = new Map<UpdateChange, ReadonlySet<string>>(
    updates.map((update) => [update, new Set(updateParts(update))]),
  );
  const answers = new Map<string, ReadonlySet<string>>();
  if (undecided.size === 0) return answers;
  const answer = (update: UpdateChange, open: ReadonlySet<string>): void => {
    answers.set(update.id, new Set(updateParts(update).filter((part) => !open.has(part))));
  };
  const decide = (update: UpdateChange, open: ReadonlySet<string>): void => {
    undecided.set(update, open);
    if (open.size > 0) return;
    answer(update, open);
    undecided.delete(update);
  };
  const origins = originsOf(state);
  const files = [...new Set(updates.flatMap((update) => origins.get(keyOf(update))?.file ?? []))];
  for await (const { state: past, time } of history.commitsTo(files)) {
    if (past === undefined) return answers;
    if (past === null) continue;
    const images = imagesOf(past, time);
    for (const [update, open] of undecided) {
      const image = images.get(update.id);
      const differing = new Set(image === undefined ? open : differingParts(update.before, image));
      const left = new Set([...open].filter((part) => differing.has(part)));
      decide(update, left);
    }
    if (undecided.size === 0) break;
  }
  for (const [update, open] of undecided) answer(update, open);
  return answers;
}

/** The time of anything that was never committed. */
const NEVER = Number.NEGATIVE_INFINITY;

/** Returns whether an update only takes what is live and not declared. */
function onlyTakes({ fields }: UpdateChange): boolean {
  return fields.every((diff) => "removed" in diff && diff.added.length === 0);
}

/** Returns the last moment before a change that a commit can be told from it. */
function momentBefore(time: number | null): number | null {
  return time === null ? null : time - COMMIT_PRECISION;
}

/** Returns whether two states declare the same for a role or member; `null` declares nothing. */
function sameDeclared(change: Change, past: DesiredState | null, now: DesiredState): boolean {
  const [earlier, other] = [past && declaredOf(change, past), declaredOf(change, now)];
  const nothing = JSON.stringify({ entry: null });
  if (earlier === null) return other.startsWith(nothing.slice(0, -1));
  return earlier === other;
}

/** Returns the entry of a role or member. */
function entryOf(
  { resource, name, id, before }: Change,
  { roles = [], members = [] }: DesiredState,
): DesiredRole | DesiredMember | undefined {
  const isPinned = (entry: { readonly id?: string }): boolean => id !== null && entry.id === id;
  // Before a rename, the entry had the live name.
  const liveName = before !== null && "permissions" in before ? before.name : name;
  return resource === "role"
    ? (roles.find((role) => role.name === name || isPinned(role)) ??
        roles.find((role) => role.name === liveName))
    : members.find((member) => addressesOfPerson(member).includes(name.toLowerCase()) || isPinned(member));
}

/** Returns what a state declares for a role or member, as text; without an entry, what happens to it. */
function declaredOf(change: Change, state: DesiredState): string {
  const entry = entryOf(change, state);
  if (entry !== undefined) {
    // Under a new address, an entry declares the same for the person.
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

function nameOf(entry: DesiredRole | DesiredMember): string {
  return "email" in entry ? entry.email : entry.name;
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
