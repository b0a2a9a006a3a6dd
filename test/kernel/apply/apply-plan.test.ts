import { expect, test } from "vitest";
import { type ApplyPorts, applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { ApplyResult } from "../../../src/model/apply.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { Plan } from "../../../src/model/plan.ts";
import type { LiveWriter } from "../../../src/model/ports.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import {
  briefChange,
  desired,
  leaver,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
} from "../../support/build.ts";
import { beginning, modelService } from "../../support/model-service.ts";

/** Without looks, where a test does not give lookup: what is asked of the service are the writes alone. */
async function run(
  plan: Plan,
  { writer, ...rest }: Partial<ApplyPorts> & { readonly writer: LiveWriter },
): Promise<{ result: ApplyResult; events: ApplyEvent[] }> {
  const events: ApplyEvent[] = [];
  const emit = (event: ApplyEvent): void => void events.push(event);
  const ports = applyPorts(modelService(live()), { writer, recheck: false, emit, ...rest });
  return { result: await applyPlan(plan, ports), events };
}

const IS = live(
  [liveRole("role_1", "Old"), liveRole("role_2", "Cashier")],
  [
    liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
    liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
  ],
);
const WANT = desired({
  roles: [role("Cashier", { permissions: ["a"] }), role("New")],
  members: [
    member("ada@example.com", { roles: ["New"] }),
    member("cy@example.com", { roles: ["New", "Cashier"] }),
  ],
});

test("additions go before removals, and a role goes when nobody holds it any more", async () => {
  const service = modelService(IS);
  const { result } = await run(planOf(WANT, IS), { writer: service.writer });
  expect(result.status).toBe("done");
  expect(service.calls).toEqual([
    "create role New",
    "update role role_2 permissions",
    "update member mem_1",
    "create member cy@example.com",
    "delete member mem_2",
    "delete role role_1",
  ]);
});

test("two removed roles of one name make room for a third that takes it", async () => {
  const is = live(
    ["role_1", "role_2", "role_3"].map((id) => liveRole(id, id === "role_3" ? "Till" : "Cashier")),
  );
  const service = modelService(is);
  const plan = planOf(desired({ roles: [role("Cashier", { id: "role_3" })] }), is);
  const { result } = await run(plan, { writer: service.writer });
  expect(result.status).toBe("done");
  expect(service.state().roles.map(({ id, name }) => [id, name])).toEqual([["role_3", "Cashier"]]);
});

test("the member of a leaver's entry goes before the invitation of another entry to the address, and after others", async () => {
  const want = desired({
    members: [
      member("ada@old.example", { id: "mem_1" }),
      member("Ada@example.com", { roles: ["Cashier"] }),
      member("bob@example.com", { roles: ["role_1"] }),
      member("cy@example.com", { roles: ["Cashier"] }),
    ],
    leavers: [leaver("ada@old.example", "2026-06-01")],
  });
  const service = modelService(IS);
  await run(planOf(want, IS), { writer: service.writer });
  expect(service.calls).toEqual([
    "create member cy@example.com",
    "delete member mem_1",
    "create member Ada@example.com",
  ]);
});

test("a role gains permissions only when those who are to lose it have lost it", async () => {
  const want = desired({
    roles: [role("Old", { permissions: ["payouts_edit"] }), role("Cashier")],
    members: [member("ada@example.com", { roles: ["Old"] })],
  });
  const service = modelService(IS);
  await run(planOf(want, IS), { writer: service.writer });
  expect(service.calls).toEqual(["delete member mem_2", "update role role_1 permissions"]);

  const failing = modelService(IS);
  const writer = beginning({
    ...failing.writer,
    deleteMember: async () => {
      throw new RolecallError("service-failed", "It went wrong.");
    },
  });
  expect((await run(planOf(want, IS), { writer })).result.status).toBe("stopped");
  expect(failing.calls).toEqual([]);
});

test("the user of the key goes last, and only when the others have gone", async () => {
  const service = modelService(IS);
  const calls: string[] = [];
  const writer = beginning({
    ...service.writer,
    deleteMember: async (id) => {
      calls.push(`${id} begins`);
      await service.writer.deleteMember(id);
      calls.push(`${id} ends`);
    },
  });
  const plan = planOf(desired({ members: [] }), IS);
  await run(plan, { writer, caller: { id: "mem_1", roles: [] }, concurrency: 10 });
  expect(calls).toEqual(["mem_2 begins", "mem_2 ends", "mem_1 begins", "mem_1 ends"]);
});

test("a member gets the id of a role that was created in the same run", async () => {
  const service = modelService(IS);
  await run(planOf(WANT, IS), { writer: service.writer });
  const created = service.state().roles.find(({ name }) => name === "New");
  expect(service.state().members.find(({ id }) => id === "mem_1")?.roles).toEqual([created?.id]);
});

test("the first change that fails stops the run, and every change has an outcome", async () => {
  const service = modelService(IS);
  const failing: LiveWriter = beginning({
    ...service.writer,
    updateRole: async () => {
      throw new RolecallError("conflict", "the service said no");
    },
  });
  const { result } = await run(planOf(WANT, IS), { writer: failing });
  expect(result.status).toBe("stopped");
  expect(result.outcomes.map(({ status, change }) => `${status}: ${briefChange(change)}`)).toEqual([
    "failed: update role Cashier",
    "done: create role New",
    "not-started: delete role Old",
    "not-started: update member ada@example.com",
    "not-started: delete member bob@example.com",
    "not-started: create member cy@example.com",
  ]);
  expect(service.calls).toEqual(["create role New"]);
});

test("what is in flight when a change fails ends, and nothing new starts", async () => {
  const plan = planOf(desired({ roles: ["A", "B", "C", "D"].map((name) => role(name)) }), live());
  const service = modelService(live());
  const release: (() => void)[] = [];
  const writer: LiveWriter = beginning({
    ...service.writer,
    createRole: async (draft) => {
      if (draft.name === "A") throw new RolecallError("unprocessable", "no");
      await new Promise<void>((resolve) => release.push(resolve));
      return service.writer.createRole(draft);
    },
  });
  const running = run(plan, { writer, concurrency: 2 });
  // B has started beside A and waits; only now may it go on.
  while (release.length === 0) await Promise.resolve();
  for (const go of release) go();
  const { result } = await running;
  expect(result.outcomes.map(({ status }) => status)).toEqual([
    "failed",
    "done",
    "not-started",
    "not-started",
  ]);
});

test("a change whose response was lost is unknown, not failed", async () => {
  const service = modelService(live());
  const writer: LiveWriter = beginning({
    ...service.writer,
    createRole: async () => {
      throw new RolecallError("timeout", "no answer", {
        request: { method: "POST", path: "/roles", attempts: 1, uncertain: true },
      });
    },
  });
  const { result } = await run(planOf(desired({ roles: [role("A")] }), live()), { writer });
  expect(result.outcomes.map(({ status }) => status)).toEqual(["unknown"]);
});

test("an apply that is told to stop before it begins changes nothing", async () => {
  const service = modelService(IS);
  const { result } = await run(planOf(WANT, IS), { writer: service.writer, stop: AbortSignal.abort() });
  expect(result.status).toBe("stopped");
  expect(service.calls).toEqual([]);
});

test("a bug is not a failure: nothing new starts, and it is thrown when the writes in flight have ended", async () => {
  const service = modelService(live());
  const created: string[] = [];
  const writer: LiveWriter = beginning({
    ...service.writer,
    createRole: async ({ name }) => {
      created.push(name);
      throw new TypeError("a bug");
    },
  });
  const plan = planOf(desired({ roles: [role("A"), role("B")] }), live());
  await expect(run(plan, { writer, concurrency: 1 })).rejects.toThrow("a bug");
  expect(created).toEqual(["A"]);
});

test("only the fields that differ are sent for a role", async () => {
  const service = modelService(live([liveRole("role_1", "A", { description: "x", permissions: ["p"] })]));
  const plan = planOf(
    desired({ roles: [role("A", { description: "y", permissions: ["p"] })] }),
    service.state(),
  );
  await run(plan, { writer: service.writer });
  expect(service.calls).toEqual(["update role role_1 description"]);
});

test("a managed user is created with its password, which is in no event", async () => {
  const service = modelService(live());
  const passwords: unknown[] = [];
  const writer: LiveWriter = beginning({
    ...service.writer,
    createMember: async (draft) => {
      passwords.push(draft.managed);
      return service.writer.createMember(draft);
    },
  });
  const managed = { nickname: "Till 7", passwordEnv: "TILL_7_PASSWORD" };
  const plan = planOf(desired({ members: [member("till@example.com", { managed })] }), live());
  const { events } = await run(plan, { writer, password: (name) => `secret of ${name}` });
  expect(passwords).toEqual([{ nickname: "Till 7", password: "secret of TILL_7_PASSWORD" }]);
  expect(JSON.stringify([plan, events])).not.toContain("secret of");
});

test("never makes more changes at once than allowed", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `R${index}`);
  const service = modelService(live());
  let now = 0;
  let most = 0;
  const writer: LiveWriter = beginning({
    ...service.writer,
    createRole: async (draft) => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return service.writer.createRole(draft);
    },
  });
  await run(planOf(desired({ roles: names.map((name) => role(name)) }), live()), { writer, concurrency: 4 });
  expect(most).toBe(4);
  expect(service.state().roles).toHaveLength(20);
});
