import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { JournalEntry, WriteIntended } from "../../../src/model/apply.ts";
import { type ErrorCode, RolecallError } from "../../../src/model/errors.ts";
import type { LiveMember, LiveRole, LiveState } from "../../../src/model/live.ts";
import type { LiveLookup, LiveWriter } from "../../../src/model/ports.ts";
import { isApplicable } from "../../support/applicable.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desiredStates, liveStates } from "../../support/arbitrary.ts";
import { planOf } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { beginning, modelService } from "../../support/model-service.ts";
import { runs } from "../../support/property-runs.ts";

const roleLies: readonly ((role: LiveRole) => LiveRole | null)[] = [
  () => null,
  (role) => ({ ...role, name: `${role.name}!` }),
  (role) => ({ ...role, description: `${role.description ?? ""}!` }),
  (role) => ({ ...role, permissions: [...role.permissions, "lie"] }),
  (role) => ({ ...role, metadata: { ...role.metadata, lie: true } }),
];
const memberLies: readonly ((member: LiveMember) => LiveMember | null)[] = [
  () => null,
  (member) => ({ ...member, roles: [...member.roles, "role_lie"] }),
  (member) => ({ ...member, status: member.status === "unknown" ? "disabled" : "unknown" }),
  (member) => ({ ...member, metadata: { ...member.metadata, lie: [1] } }),
  ({ user, invite, ...member }) => ({
    ...member,
    ...(user && { user: { ...user, email: "eve@example.com" } }),
    ...(invite && { invite: { ...invite, email: "eve@example.com" } }),
    ...(!user && !invite && { invite: { email: "eve@example.com", expiresAt: "" } }),
  }),
];

const choices = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 8 });

/** Records of which some, as chosen, tell something else than the truth; and the ids that they lied about last. */
function lying(truth: LiveLookup, picks: readonly number[]): { lookup: LiveLookup; lied: Set<string> } {
  const lied = new Set<string>();
  let turn = 0;
  const tell = <T>(id: string, is: T | null, lies: readonly ((one: T) => T | null)[]): T | null => {
    const lie = lies[picks[turn++ % picks.length] ?? 0];
    lied.delete(id);
    if (lie === undefined || is === null) return is;
    lied.add(id);
    return lie(is);
  };
  const lookup: LiveLookup = {
    getRole: async (id) => tell(id, await truth.getRole(id), roleLies),
    getMember: async (id) => tell(id, await truth.getMember(id), memberLies),
    getHolder: truth.getHolder,
  };
  return { lookup, lied };
}

test("writes nothing to a resource that differs from the plan, in any way", async () => {
  const input = fc.record({ want: desiredStates, is: liveStates, picks: choices });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is, picks }) => {
      const plan = planOf(want, is);
      fc.pre(isApplicable(plan));
      const service = modelService(is);
      const { lookup, lied } = lying(service.lookup, picks);
      const touched = (id: string): void => expect(lied).not.toContain(id);
      const writer: LiveWriter = beginning({
        ...service.writer,
        updateRole: async (id, patch) => {
          touched(id);
          await service.writer.updateRole(id, patch);
        },
        deleteRole: async (id) => {
          touched(id);
          await service.writer.deleteRole(id);
        },
        updateMember: async (id, update) => {
          touched(id);
          return service.writer.updateMember(id, update);
        },
        deleteMember: async (id) => {
          touched(id);
          await service.writer.deleteMember(id);
        },
      });
      const result = await applyPlan(plan, applyPorts({ writer, lookup }, { concurrency: 3 }));
      const last = result.outcomes.filter(({ status }) => status === "stale");
      if (result.status === "done") expect(last).toEqual([]);
    }),
    { numRuns: runs(200) },
  );
});

type Fault = { readonly at: number; readonly kind: "stop" | "no" | "lost" | "intent" | "outcome" | "none" };

const faults: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 8 }),
  kind: fc.constantFrom("stop", "no", "lost", "intent", "outcome", "none"),
});

const failure = (code: ErrorCode, uncertain: boolean): RolecallError =>
  new RolecallError(code, "It went wrong.", {
    request: { method: "PUT", path: "/", attempts: 1, ...(uncertain && { uncertain }) },
  });

/** Whether an intent is about this call of the model service. */
function sent({ resource, id, part, after, name }: WriteIntended): string {
  if (id === null || part === "create")
    return `create ${resource} ${after && "name" in after ? after.name : name}`;
  return `${after === null ? "delete" : "update"} ${resource} ${id}`;
}

test("wherever a run stops, the journal agrees with what the service saw", async () => {
  const input = fc.record({ want: desiredStates, is: liveStates, fault: faults });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is, fault }) => {
      const plan = planOf(want, is);
      fc.pre(isApplicable(plan));
      const service = modelService(is);
      const stop = new AbortController();
      let writes = 0;
      /** What the service has, or may have, done. */
      const carriedOut: string[] = [];
      const around = async <T>(call: string, send: () => Promise<T>): Promise<T> => {
        writes += 1;
        const hit = writes === fault.at;
        if (hit && fault.kind === "stop") stop.abort();
        if (hit && fault.kind === "no") throw failure("conflict", false);
        const answer = await send();
        carriedOut.push(call);
        if (hit && fault.kind === "lost") throw failure("timeout", true);
        return answer;
      };
      const { writer: real } = service;
      const writer: LiveWriter = beginning({
        createRole: (role) => around(`create role ${role.name}`, () => real.createRole(role)),
        updateRole: (id, patch) => around(`update role ${id}`, () => real.updateRole(id, patch)),
        deleteRole: (id) => around(`delete role ${id}`, () => real.deleteRole(id)),
        createMember: (one) => around(`create member ${one.email}`, () => real.createMember(one)),
        updateMember: (id, update) => around(`update member ${id}`, () => real.updateMember(id, update)),
        deleteMember: (id) => around(`delete member ${id}`, () => real.deleteMember(id)),
      });
      let written = 0;
      const journal = memoryJournal(({ type }) => {
        if (type === fault.kind && ++written === fault.at) {
          throw new RolecallError("journal-unwritable", "No space.");
        }
      });
      const ports = applyPorts({ ...service, writer }, { journal, stop: stop.signal, concurrency: 3 });
      const result = await applyPlan(plan, ports);

      const of = <Type extends JournalEntry["type"]>(type: Type) =>
        journal.entries.filter((one): one is JournalEntry & { type: Type } => one.type === type);
      const intents = of("intent");
      const outcomes = new Map(of("outcome").map((one) => [one.write, one]));
      // One intent for each request, and none without.
      expect(intents).toHaveLength(writes);
      expect(new Set(intents.map(({ write }) => write)).size).toBe(intents.length);
      // Whatever was carried out is told as done, unknown, or not told at all where the journal broke.
      const mayBe = intents.filter(({ write }) => outcomes.get(write)?.status !== "failed");
      expect(mayBe.map(sent).sort()).toEqual(carriedOut.sort());
      const missing = intents.filter(({ write }) => !outcomes.has(write)).length;
      expect(missing).toBeLessThanOrEqual(fault.kind === "outcome" ? 1 : 0);
      expect(result.writes).toBe(carriedOut.length);
      // Every failed change has told so; the rest of the plan waits.
      const whole = result.outcomes.every(({ status }) => status === "done");
      expect(of("end")).toMatchObject([{ status: whole && missing === 0 ? "done" : "stopped" }]);
      expect(result.status).toBe(whole && missing === 0 ? "done" : "stopped");
    }),
    { numRuns: runs(200) },
  );
});

test("wherever a run stops, nobody holds what neither the former access nor the plan gives", async () => {
  type Holdings = ReadonlyMap<string, ReadonlySet<string>>;
  const held = ({ roles, members }: LiveState): Holdings => {
    const granted = new Map(roles.map(({ id, permissions }) => [id, permissions]));
    return new Map(
      members.map(({ id, roles: ids, user, invite }) => [
        user?.email ?? invite?.email ?? id,
        new Set(ids.flatMap((role) => granted.get(role) ?? [])),
      ]),
    );
  };
  const input = fc.record({ want: desiredStates, is: liveStates });
  await fc.assert(
    fc.asyncProperty(input, async ({ want, is }) => {
      const plan = planOf(want, is);
      fc.pre(isApplicable(plan));
      const service = modelService(is);
      const states: Holdings[] = [];
      const after =
        <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
        async (...args: Args): Promise<Result> => {
          const result = await write(...args);
          states.push(held(service.state()));
          return result;
        };
      const { writer: real } = service;
      const writer = beginning({
        createRole: after(real.createRole),
        updateRole: after(real.updateRole),
        deleteRole: after(real.deleteRole),
        createMember: after(real.createMember),
        updateMember: after(real.updateMember),
        deleteMember: after(real.deleteMember),
      });
      await applyPlan(plan, applyPorts({ ...service, writer }));
      const [former, last] = [held(is), held(service.state())];
      for (const state of states) {
        for (const [name, permissions] of state) {
          const allowed = new Set([...(former.get(name) ?? []), ...(last.get(name) ?? [])]);
          expect([...permissions].filter((permission) => !allowed.has(permission))).toEqual([]);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});
