import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { dueSince } from "../../../src/kernel/plan/due-since.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates, mirror } from "../../support/arbitrary.ts";
import { matches, NOW, planOf, SYNC } from "../../support/build.ts";
import { modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";

const both = fc.record({ want: desiredStates, is: liveStates });

async function applied(input: typeof both extends fc.Arbitrary<infer T> ? T : never) {
  const service = modelService(input.is);
  const plan = planOf(input.want, input.is);
  const result = await applyPlan(plan, applyPorts(service, { concurrency: 3 }));
  return { plan, result, after: planOf(input.want, service.state()), state: service.state() };
}

describe("for every desired and live state", () => {
  test("a file that says what is live plans nothing", () => {
    fc.assert(
      fc.property(liveStates, (is) => {
        const plan = planOf(mirror(is), is);
        expect(plan.changes).toEqual([]);
        expect(plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      }),
    );
  });

  test("after an apply the plan is empty, whatever it was before", async () => {
    await fc.assert(
      fc.asyncProperty(both, async (input) => {
        fc.pre(isApplicable(planOf(input.want, input.is)));
        const { plan, result, after } = await applied(input);
        expect(result.outcomes.filter(({ status }) => status !== "done")).toEqual([]);
        // A managed user has nothing to accept: what waited for it is due at once.
        const waited = new Set(plan.deferred.map(({ change }) => change.fingerprint));
        expect(after.changes.filter(({ fingerprint }) => !waited.has(fingerprint))).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  test("the order of the file and of the answers does not change a byte of the plan", () => {
    const shuffled = both.chain(({ want, is }) =>
      fc
        .record({
          roles: fc.shuffledSubarray([...(want.roles ?? [])], { minLength: want.roles?.length ?? 0 }),
          members: fc.shuffledSubarray([...(want.members ?? [])], { minLength: want.members?.length ?? 0 }),
          liveRoles: fc.shuffledSubarray([...is.roles], { minLength: is.roles.length }),
          liveMembers: fc.shuffledSubarray([...is.members], { minLength: is.members.length }),
        })
        .map((other) => ({
          one: [want, is] as const,
          two: [
            {
              ...want,
              ...(want.roles && { roles: other.roles }),
              ...(want.members && { members: other.members }),
            },
            { ...is, roles: other.liveRoles, members: other.liveMembers },
          ] as const,
        })),
    );
    fc.assert(
      fc.property(shuffled, ({ one, two }) => {
        expect(JSON.stringify(planOf(...two), null, 1)).toBe(JSON.stringify(planOf(...one), null, 1));
      }),
      { numRuns: runs(120) },
    );
  });

  test("predefined roles, service accounts, the nameless and unmanaged sections are never touched", () => {
    fc.assert(
      fc.property(both, ({ want, is }) => {
        const { changes } = planOf(want, is);
        const predefined = new Set(is.roles.filter((role) => role.predefined).map(({ id }) => id));
        expect(changes.filter(({ id }) => id !== null && predefined.has(id))).toEqual([]);
        if (!want.roles) expect(changes.filter(({ resource }) => resource === "role")).toEqual([]);
        // The holders of a replaced role have to move to its successor, whoever they are.
        const moves = changes.filter(
          ({ resource, reason }) => resource === "member" && reason === "immutable-field",
        );
        if (!want.members) expect(changes.filter(({ resource }) => resource === "member")).toEqual(moves);
        expect(moves.filter(({ fields }) => fields.some(({ field }) => field !== "roles"))).toEqual([]);
        const kept = new Set(
          is.members
            .filter(({ user, invite }) => user?.type === "service_account" || !(user || invite))
            .map(({ id }) => id),
        );
        expect(changes.filter((change) => change.kind === "delete" && kept.has(change.id))).toEqual([]);
      }),
    );
  });

  test("what is ignored is never touched, nor taken from anybody who holds it", () => {
    const ignore = fc.record({
      roles: fc.subarray(["Cash*", "role_1", "*code*", "role_employee"]),
      members: fc.subarray(["ada@*", "mem_1", "*zoe*"]),
    });
    fc.assert(
      fc.property(both, ignore, ({ want, is }, patterns) => {
        const isIgnored = (globs: readonly string[], ...texts: readonly string[]) =>
          globs.some((glob) => texts.some((text) => matches(glob.toLowerCase(), text.toLowerCase())));
        const roles = new Set(
          is.roles.filter(({ id, name }) => isIgnored(patterns.roles, id, name)).map(({ id }) => id),
        );
        const members = new Set(
          is.members
            .filter(({ id, user, invite }) =>
              isIgnored(patterns.members, id, user?.email ?? "", invite?.email ?? ""),
            )
            .map(({ id }) => id),
        );
        const { changes } = planOf({ ...want, ignore: patterns }, is);
        const touched = new Set(changes.flatMap(({ id }) => id ?? []));
        expect([...roles, ...members].filter((id) => touched.has(id))).toEqual([]);
        for (const change of changes) {
          if (change.resource !== "member" || change.kind !== "update") continue;
          const held =
            is.members.find(({ id }) => id === change.id)?.roles.filter((id) => roles.has(id)) ?? [];
          const kept = new Set(change.after.roles.map(({ id }) => id));
          expect(held.filter((id) => !kept.has(id))).toEqual([]);
        }
      }),
      { numRuns: runs(120) },
    );
  });

  test("what is protected is never touched without a refusal", () => {
    const protect = { roles: ["*"], members: ["*"] };
    fc.assert(
      fc.property(both, ({ want, is }) => {
        const plan = planOf({ ...want, guards: { protect } }, is);
        const replaced = new Set(plan.changes.flatMap((one) => (one.kind === "replace" ? [one.id] : [])));
        // Whoever only gets the successor of a replaced role keeps what they have.
        const deferred = plan.deferred.map(({ change }) => change);
        const touching = [...plan.changes, ...deferred].filter(
          ({ kind, fields, reason }) =>
            kind !== "create" &&
            !(kind === "delete" && reason === "invitation-expired") &&
            !(
              kind === "update" &&
              fields.every(
                (diff) =>
                  diff.field === "roles" &&
                  diff.added.length === diff.removed.length &&
                  diff.removed.every(
                    ({ id, name }) => replaced.has(id ?? "") && diff.added.some((ref) => ref.name === name),
                  ),
              )
            ),
        );
        const refused = plan.refusals.filter(({ code }) => code === "protect");
        expect(refused.map(({ name }) => name).sort()).toEqual(touching.map(({ name }) => name).sort());
      }),
    );
  });

  test("an additive section never removes anybody for being unlisted", () => {
    fc.assert(
      fc.property(both, ({ want, is }) => {
        const plan = planOf({ ...want, sync: { ...SYNC, roles: "additive", members: "additive" } }, is);
        // What is left of expired invitations gives no access, and goes with the invitation that took their place.
        const removed = plan.changes.filter(({ kind }) => kind === "delete");
        expect(removed.filter(({ reason }) => reason !== "invitation-expired")).toEqual([]);
      }),
    );
  });

  test("nobody of a leaver's address is left, and before that day the plan is the same as without the entry", () => {
    const emails = fc.subarray(["ADA@example.com", "zoe@example.com", "cy@example.com"], { minLength: 1 });
    const patterns = { roles: [], members: ["*@example.com"] };
    fc.assert(
      fc.property(both, emails, fc.boolean(), ({ want, is }, leaving, ignores) => {
        const base = ignores ? { ...want, ignore: patterns } : want;
        const at = (starts: number) => ({
          ...base,
          leavers: leaving.map((email) => ({ email, from: { text: "-", starts }, origin: want.origin })),
        });
        const { reviewed, ...before } = planOf(at(NOW + 1), is);
        const { reviewed: same, ...without } = planOf(base, is);
        expect(before).toEqual(without);
        expect({ ...reviewed, dates: [] }).toEqual({ ...same, dates: [] });
        const plan = planOf(at(NOW), is);
        const left = new Set(leaving.map((email) => email.toLowerCase()));
        const going = is.members
          .filter(({ user, invite }) =>
            [user?.email, invite?.email].some((email) => left.has(email?.toLowerCase() ?? "")),
          )
          .map(({ id }) => id);
        const all = [...plan.changes, ...plan.deferred.map(({ change }) => change)];
        const removed = all.filter(({ reason }) => reason === "left");
        expect(removed.map(({ id }) => id).sort()).toEqual(going.sort());
        expect(removed.every(({ kind }) => kind === "delete")).toBe(true);
        expect(all.filter(({ kind, name }) => kind === "create" && left.has(name.toLowerCase()))).toEqual([]);
        expect(removed.map((change) => dueSince(change, at(NOW), NOW))).toEqual(removed.map(() => NOW));
      }),
      { numRuns: runs(120) },
    );
  });

  test("a plan written as JSON and read back is the same plan", () => {
    fc.assert(
      fc.property(both, ({ want, is }) => {
        const plan = planOf(want, is);
        expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      }),
    );
  });
});
