import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memberDiffs } from "../../src/kernel/fields/member.ts";
import { roleDiffs } from "../../src/kernel/fields/role.ts";
import { canonicalJson } from "../../src/lib/json-text.ts";
import type { PastRun, UndoNote, WriteIntended } from "../../src/model/apply.ts";
import type { LiveMember, LiveRole, LiveState } from "../../src/model/live.ts";
import type { Change } from "../../src/model/plan.ts";
import { undoPlan } from "../../src/runs/undo-plan.ts";
import { isApplicable } from "../support/applicable.ts";
import { desiredStates, liveStates } from "../support/arbitrary.ts";
import { desired, matches, NOW, planOf } from "../support/build.ts";
import { modelService } from "../support/model-service.ts";
import { runOf } from "../support/past-run.ts";
import { runs } from "../support/property-runs.ts";

const both = fc.record({ want: desiredStates, is: liveStates });
const cuts = fc.option(fc.record({ at: fc.integer({ min: 1, max: 6 }), did: fc.boolean() }), {
  nil: undefined,
});

function undoOf(run: Parameters<typeof undoPlan>[0], live: LiveState) {
  return undoPlan(run, { desired: desired(), live, service: "https://service.example", now: NOW, matches });
}

/** Who and what there is, without ids, status and what the service cannot tell apart. */
function facts(state: LiveState): ReadonlyMap<string, string> {
  const names = new Map(state.roles.map(({ id, name }) => [id, name]));
  const roleFacts = ({ name, description, permissions, metadata }: LiveRole) =>
    canonicalJson({ name, description: description ?? "", permissions: [...permissions].sort(), metadata });
  const memberFacts = ({ roles, metadata, user }: LiveMember) =>
    canonicalJson({
      roles: [...new Set(roles)].map((id) => names.get(id) ?? id).sort(),
      metadata,
      nickname: user?.type === "managed_user" ? (user.nickname ?? null) : null,
    });
  return new Map([
    ...state.roles.map((role) => [`role ${role.name}`, roleFacts(role)] as const),
    ...state.members.map(
      (one) =>
        [
          `member ${(one.user?.email ?? one.invite?.email ?? one.id).toLowerCase()}${one.status === "expired" ? " expired" : ""}`,
          memberFacts(one),
        ] as const,
    ),
  ]);
}

/** What an undo says that it does not bring back, as names. */
function excepted(notes: readonly UndoNote[]): ReadonlySet<string> {
  const back: readonly UndoNote["code"][] = ["invited-again", "new-id"];
  return new Set(
    notes
      .filter(({ code }) => !back.includes(code))
      .map(({ resource, name }) => `${resource} ${resource === "member" ? name.toLowerCase() : name}`),
  );
}

/** Of two memberships of one address, nobody can tell which one came back. */
function hasDistinctAddresses({ members }: LiveState): boolean {
  const addresses = members.flatMap(({ user, invite }) =>
    (user?.email ?? invite?.email ?? []).toString().toLowerCase(),
  );
  return new Set(addresses).size === addresses.length;
}

function differing(one: LiveState, other: LiveState, except: ReadonlySet<string>): readonly string[] {
  const [was, is] = [facts(one), facts(other)];
  return [...new Set([...was.keys(), ...is.keys()])].filter(
    (key) => was.get(key) !== is.get(key) && !except.has(key.replace(/ expired$/, "")),
  );
}

describe("for every run", () => {
  test("undo restores the state before, except for its notes", async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(both, cuts, async ({ want, is }, cut) => {
        const plan = planOf(want, is);
        fc.pre(isApplicable(plan) && plan.changes.length > 0 && hasDistinctAddresses(is));
        const service = modelService(is);
        const run = await runOf(plan, service, cut);
        const undo = undoOf(run, service.state());
        expect(undo.plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
        // What waits for an acceptance is not done yet.
        fc.pre(undo.plan.deferred.length === 0);
        expect(undo.plan.refusals.filter(({ code }) => code === "role-still-held")).toEqual([]);
        fc.pre(undo.notes.every(({ code }) => code !== "half-replaced"));
        const undone = await runOf(undo.plan, service);
        expect(undone.writes.filter(({ outcome }) => outcome?.status !== "done")).toEqual([]);
        expect(differing(is, service.state(), excepted(undo.notes))).toEqual([]);
        expect(undoOf(run, service.state()).plan.changes).toEqual([]);
        checked += 1;
      }),
      { numRuns: runs(80) },
    );
    expect(checked).toBeGreaterThan(30);
  });

  test("undo after concurrent edits changes only what the run changed and nobody has edited since", async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(both, cuts, liveStates, async ({ want, is }, cut, other) => {
        const plan = planOf(want, is);
        fc.pre(isApplicable(plan) && plan.changes.length > 0);
        const service = modelService(is);
        const run = await runOf(plan, service, cut);
        const meanwhile = edited(service.state(), other);
        const undo = undoOf(run, meanwhile);
        const touched = touchedBy(run);
        expect(undo.plan.changes.flatMap((change) => beyond(change, run, touched))).toEqual([]);
        // What it plans can be done, whoever holds what by now.
        const stuck =
          undo.plan.deferred.length === 0 &&
          undo.plan.refusals.some(({ code }) => code === "role-still-held");
        expect(stuck).toBe(false);
        checked += 1;
      }),
      { numRuns: runs(80) },
    );
    expect(checked).toBeGreaterThan(30);
  });

  test("undo of an undo restores the state after the run, except for its notes", async () => {
    await fc.assert(
      fc.asyncProperty(both, async ({ want, is }) => {
        const plan = planOf(want, is);
        fc.pre(isApplicable(plan) && plan.changes.length > 0 && hasDistinctAddresses(is));
        const service = modelService(is);
        const run = await runOf(plan, service);
        const done = service.state();
        const undo = undoOf(run, done);
        fc.pre(undo.plan.deferred.length === 0);
        const undone = await runOf(undo.plan, service);
        const redo = undoOf(undone, service.state());
        fc.pre(redo.plan.deferred.length === 0);
        await runOf(redo.plan, service);
        const except = new Set([...excepted(undo.notes), ...excepted(redo.notes)]);
        expect(differing(done, service.state(), except)).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });
});

/** The state after somebody else has changed some of it: fields from another one, new holders, removals. */
function edited(state: LiveState, other: LiveState): LiveState {
  const roles = state.roles.map((role, index) => {
    const from = other.roles[index];
    return from && !role.predefined && !from.predefined
      ? { ...role, permissions: from.permissions, name: index % 2 === 0 ? role.name : `${from.name} II` }
      : role;
  });
  const ids = roles.map(({ id }) => id);
  const members = state.members.flatMap((member, index) => {
    const from = other.members[index];
    if (from === undefined) return index % 3 === 0 ? [] : member;
    const held = from.roles.flatMap((_, at) => ids[(index + at) % ids.length] ?? []);
    return { ...member, roles: index % 2 === 0 ? member.roles : held, metadata: from.metadata };
  });
  return { ...state, roles, members };
}

function touchedBy({ writes }: PastRun) {
  const name = ({ intent }: PastRun["writes"][number]) => `${intent.resource} ${intent.name.toLowerCase()}`;
  const removed = writes.flatMap(({ intent }) =>
    intent.before && (intent.kind === "delete" || intent.kind === "replace")
      ? [
          `${intent.resource} ${intent.name.toLowerCase()}`,
          `${intent.resource} ${("name" in intent.before ? intent.before.name : (intent.before.email ?? "")).toLowerCase()}`,
        ]
      : [],
  );
  return {
    removed,
    created: new Set(
      writes.filter(({ intent }) => intent.kind === "create" || intent.kind === "replace").map(name),
    ),
    ids: new Set(writes.flatMap(({ intent, outcome }) => [intent.id ?? [], outcome?.id ?? []].flat())),
  };
}

/** What a change of an undo does that the run had not done: nothing, if all is well. */
function beyond(change: Change, run: PastRun, touched: ReturnType<typeof touchedBy>): readonly string[] {
  const { id, kind, resource, fields } = change;
  const name = `${resource} ${change.name.toLowerCase()}`;
  if (id === null) return touched.removed.includes(name) ? [] : [`creates ${name}`];
  if (!touched.ids.has(id) && !touched.created.has(name)) return [`touches ${name}`];
  if (kind !== "update") return [];
  const ran = new Set(
    run.writes.filter(({ intent }) => intent.id === id).flatMap(({ intent }) => fieldsOf(intent)),
  );
  const [gave, took] = given(run, id);
  return fields.flatMap((diff) => {
    if (!ran.has(diff.field)) return [`changes ${diff.field} of ${name}`];
    if (diff.field !== "permissions") return [];
    const [added, removed] = [
      diff.added.filter((one) => !took.has(one)),
      diff.removed.filter((one) => !gave.has(one)),
    ];
    return [...added, ...removed].map((permission) => `changes ${permission} of ${name}`);
  });
}

function fieldsOf({ resource, before, after, part }: WriteIntended): readonly string[] {
  if (part === "set-aside") return ["name"];
  if (before === null || after === null) return ["name"];
  return resource === "role" && "permissions" in before && "permissions" in after
    ? roleDiffs(before, after).map(({ field }) => field)
    : "email" in before && "email" in after
      ? memberDiffs(before, after).map(({ field }) => field)
      : [];
}

/** The permissions that a run gave a role, and those that it took. */
function given({ writes }: PastRun, id: string): readonly [Set<string>, Set<string>] {
  const [gave, took] = [new Set<string>(), new Set<string>()];
  for (const { intent } of writes) {
    if (intent.id !== id) continue;
    const of = (image: WriteIntended["before"]) => (image && "permissions" in image ? image.permissions : []);
    for (const one of of(intent.after)) if (!of(intent.before).includes(one)) gave.add(one);
    for (const one of of(intent.before)) if (!of(intent.after).includes(one)) took.add(one);
  }
  return [gave, took];
}
