import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import type { Outcome } from "../../../src/model/apply.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { LiveMember, LiveRole, LiveState } from "../../../src/model/live.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import {
  briefChange,
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
} from "../../support/build.ts";
import { beginning, type ModelService, modelService } from "../../support/model-service.ts";

type Edit = Parameters<ModelService["edit"]>[0];

/** Plans, lets somebody else change something, and applies. */
async function applyAfter(want: DesiredState, is: LiveState, edit: Edit) {
  const service = modelService(is);
  const plan = planOf(want, is);
  service.edit(edit);
  const result = await applyPlan(plan, applyPorts(service));
  return { result, service, told: result.outcomes.map(tell) };
}

function tell(outcome: Outcome): string {
  const rest =
    "failure" in outcome ? ` (${outcome.failure.message})` : "already" in outcome ? " (already)" : "";
  return `${outcome.status}: ${briefChange(outcome.change)}${rest}`;
}

const role1 = (rest: Partial<LiveRole>): Edit => {
  return ({ roles }) => void roles.set("role_1", { ...liveRole("role_1", "Cashier"), ...rest });
};
const mem1 = (rest: Partial<LiveMember>): Edit => {
  return ({ members }) => {
    const one = members.get("mem_1");
    if (one) members.set("mem_1", { ...one, ...rest });
  };
};

describe("a role that is to be updated", () => {
  const IS = live([liveRole("role_1", "Cashier", { permissions: ["a"], description: "Till" })]);
  const WANT = desired({ roles: [role("Cashier", { permissions: ["a", "b"] })] });
  const planned: Partial<LiveRole> = { permissions: ["a"], description: "Till" };

  test.each<[what: string, rest: Partial<LiveRole>, says: string]>([
    ["other permissions", { permissions: ["x", "y y"] }, 'permissions: now also x, "y y" and no longer a'],
    ["another name", { name: "Till\u001b[2J\n" }, 'name: "Cashier" in the plan, "Till\\u001b[2J\\n" now'],
    ["another description", { description: "Desk" }, 'description: "Till" in the plan, "Desk" now'],
    ["other metadata", { metadata: { owner: "x" } }, 'metadata owner: nothing in the plan, "x" now'],
  ])("that has %s meanwhile is stale: nothing is sent, and it says what differs", async (_, rest, says) => {
    const { told, service } = await applyAfter(WANT, IS, role1({ ...planned, ...rest }));
    expect(told).toEqual([
      `stale: update role Cashier (role Cashier has changed since it was planned: ${says}.)`,
    ]);
    expect(service.calls).toEqual([]);
  });

  test("that is as it was planned is written, whoever holds it by now", async () => {
    const { told, service } = await applyAfter(WANT, IS, ({ members }) => {
      members.set("mem_9", liveMember("mem_9", "new@example.com", { roles: ["role_1"] }));
    });
    expect(told).toEqual(["done: update role Cashier"]);
    expect(service.looks).toEqual(["role_1"]);
  });

  test("that is already as declared needs no write, and is reported so", async () => {
    const { told, service, result } = await applyAfter(
      WANT,
      IS,
      role1({ ...planned, permissions: ["b", "a"] }),
    );
    expect(told).toEqual(["done: update role Cashier (already)"]);
    expect(service.calls).toEqual([]);
    expect(result).toMatchObject({ status: "done", writes: 0 });
  });

  test("that is gone is stale, not an error of the service", async () => {
    const { told } = await applyAfter(WANT, IS, ({ roles }) => void roles.delete("role_1"));
    expect(told).toEqual(["stale: update role Cashier (role Cashier no longer exists.)"]);
  });

  test("is written without a recheck with --no-recheck", async () => {
    const service = modelService(IS);
    service.edit(role1({ permissions: ["x"] }));
    const { status } = await applyPlan(planOf(WANT, IS), applyPorts(service, { recheck: false }));
    expect(status).toBe("done");
    expect(service.looks).toEqual([]);
  });

  test("that cannot be rechecked has failed, and nothing is sent", async () => {
    const service = modelService(IS);
    const lookup = {
      ...service.lookup,
      getRole: async () => {
        throw new RolecallError("forbidden", "The key may not.", { hint: "It needs roles_view." });
      },
    };
    const result = await applyPlan(planOf(WANT, IS), applyPorts({ ...service, lookup }));
    expect(result.outcomes).toMatchObject([
      {
        status: "failed",
        failure: {
          code: "forbidden",
          message: "The recheck before the write failed: The key may not.",
        },
      },
    ]);
    expect(result.writes).toBe(0);
    expect(service.calls).toEqual([]);
  });
});

test("a role that somebody has got since the plan is not removed", async () => {
  const is = live([liveRole("role_1", "Old")], [liveMember("mem_1", "zoe@example.com")]);
  const want = desired({ roles: [], sync: { ...SYNC, members: "additive" } });
  const { told, service } = await applyAfter(want, is, ({ members }) => {
    members.set("mem_1", liveMember("mem_1", "zoe@example.com", { roles: ["role_1"] }));
  });
  expect(told).toEqual([
    "stale: delete role Old (role Old has changed since it was planned: now held by zoe@example.com.)",
  ]);
  expect(service.calls).toEqual([]);
});

test("a removal of what is gone right after the recheck is done", async () => {
  const is = live([], [liveMember("mem_1", "ada@example.com")]);
  const service = modelService(is);
  const writer = beginning({
    ...service.writer,
    deleteMember: async () => {
      service.edit(({ members }) => void members.delete("mem_1"));
      throw new RolecallError("not-found", "no such member", {
        request: { method: "DELETE", path: "/members/mem_1", status: 404, attempts: 1 },
      });
    },
  });
  const plan = planOf(desired({ members: [] }), is);
  const result = await applyPlan(plan, applyPorts(service, { writer }));
  expect(result.outcomes.map(tell)).toEqual(["done: delete member ada@example.com (already)"]);
});

describe("what is to be removed", () => {
  const IS = live(
    [liveRole("role_1", "Cashier", { permissions: ["a"] })],
    [liveMember("mem_1", "ada@example.com"), invited("mem_2", "bob@example.com")],
  );
  const WANT = desired({ roles: [], members: [] });

  test("and is gone already is done, without a request", async () => {
    const { told, service } = await applyAfter(WANT, IS, ({ roles, members }) => {
      roles.clear();
      members.clear();
    });
    expect(told).toEqual([
      "done: delete role Cashier (already)",
      "done: delete member ada@example.com (already)",
      "done: delete member bob@example.com (already)",
    ]);
    expect(service.calls).toEqual([]);
  });

  test("and grants something else by now stays", async () => {
    const { told, service } = await applyAfter(WANT, IS, role1({ permissions: ["a", "b"] }));
    expect(told[0]).toBe(
      "stale: delete role Cashier (role Cashier has changed since it was planned: permissions: now also b.)",
    );
    expect(service.calls).toEqual(["delete member mem_1", "delete member mem_2"]);
  });

  test("an invitation that is accepted by now stays: removing it would take more than the plan said", async () => {
    const accepted = liveMember("mem_2", "bob@example.com");
    const { told, service } = await applyAfter(
      WANT,
      IS,
      ({ members }) => void members.set("mem_2", accepted),
    );
    expect(told).toContain(
      "stale: delete member bob@example.com (member bob@example.com has changed since it was planned: status: pending in the plan, accepted now.)",
    );
    expect(service.calls).not.toContain("delete member mem_2");
  });

  test("an invitation that has expired by now goes all the same", async () => {
    const { told } = await applyAfter(WANT, IS, ({ members }) => {
      members.set("mem_2", invited("mem_2", "bob@example.com", { status: "expired" }));
    });
    expect(told).toContain("done: delete member bob@example.com");
  });
});

describe("a member who is to be updated", () => {
  const IS = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead"), liveRole("role_3", "Audit")],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"], metadata: { a: 1, b: [2] } })],
  );
  const ROLES = ["Cashier", "Lead", "Audit"].map((name) => role(name));
  const WANT = desired({ roles: ROLES, members: [member("ada@example.com", { roles: ["Cashier"] })] });

  test.each<[what: string, rest: Partial<LiveMember>, says: string]>([
    ["holds another role", { roles: ["role_1", "role_2", "role_3"] }, "roles: now also role_3"],
    ["holds a role less", { roles: ["role_2"] }, "roles: no longer Cashier"],
    ["has other metadata", { metadata: { b: [2] } }, "metadata a: 1 in the plan, nothing now"],
    ["is disabled", { status: "disabled" }, "status: accepted in the plan, disabled now"],
    [
      "is somebody else",
      {
        user: { id: "u", email: "eve@example.com", mfaOnLogin: true, type: "user" },
      },
      "address: ada@example.com in the plan, eve@example.com now",
    ],
  ])("and %s by now is stale", async (_, rest, says) => {
    const { told, service } = await applyAfter(WANT, IS, mem1(rest));
    expect(told).toEqual([
      `stale: update member ada@example.com (member ada@example.com has changed since it was planned: ${says}.)`,
    ]);
    expect(service.calls).toEqual([]);
  });

  test("is compared without regard to order and to the case of the address", async () => {
    const user = {
      id: "u",
      email: "ADA@example.com",
      mfaOnLogin: true,
      type: "user",
    };
    const rest = { user, roles: ["role_2", "role_1", "role_1"], metadata: { b: [2], a: 1 } };
    expect((await applyAfter(WANT, IS, mem1(rest))).told).toEqual(["done: update member ada@example.com"]);
  });

  test("and has accepted meanwhile is updated", async () => {
    const pending = live(IS.roles, [invited("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] })]);
    const accepted = liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] });
    const { told } = await applyAfter(WANT, pending, ({ members }) => void members.set("mem_1", accepted));
    expect(told).toEqual(["done: update member ada@example.com"]);
  });

  test("and whose invitation has expired meanwhile is stale: it takes a new one", async () => {
    const pending = live(IS.roles, [invited("mem_1", "ada@example.com", { roles: ["role_2"] })]);
    const { told } = await applyAfter(WANT, pending, mem1({ status: "expired" }));
    expect(told[0]).toContain("status: pending in the plan, expired now");
  });

  test("who is managed, and was called otherwise meanwhile, is stale", async () => {
    const till = {
      id: "u",
      email: "till@example.com",
      mfaOnLogin: false,
      type: "managed_user",
    };
    const is = live([], [liveMember("mem_1", "till@example.com", { user: { ...till, nickname: "Till 1" } })]);
    const managed = { nickname: "Till 2", passwordEnv: "TILL" };
    const want = desired({ members: [member("till@example.com", { managed })] });
    const { told } = await applyAfter(want, is, mem1({ user: { ...till, nickname: "Desk" } }));
    expect(told[0]).toContain('nickname: "Till 1" in the plan, "Desk" now');
  });
});

describe("an expired invitation that is to be replaced", () => {
  const IS = live([], [invited("mem_1", "ada@example.com", { status: "expired" })]);
  const WANT = desired({ members: [member("ada@example.com")] });

  test("is removed when the new one is sent", async () => {
    const { service } = await applyAfter(WANT, IS, () => undefined);
    expect(service.calls).toEqual(["create member ada@example.com", "delete member mem_1"]);
  });

  test("stays where it is no longer expired, and none is sent", async () => {
    const { told, service } = await applyAfter(WANT, IS, mem1({ status: "pending" }));
    expect(told[0]).toContain("status: expired in the plan, pending now");
    expect(service.calls).toEqual([]);
  });

  test("that is gone gets no new one: whoever removed it may have sent one, or meant it", async () => {
    const { told, service } = await applyAfter(WANT, IS, ({ members }) => members.clear());
    expect(told).toEqual([
      "stale: replace member ada@example.com (member ada@example.com no longer exists.)",
    ]);
    expect(service.calls).toEqual([]);
  });
});

describe("what the run itself has changed", () => {
  test("is no reason to stop: a role that waits under another name, a circle of renames, a replaced role", async () => {
    const is = live(
      [
        liveRole("role_1", "A", { permissions: ["a"] }),
        liveRole("role_2", "B", { permissions: ["b"] }),
        liveRole("role_3", "C", { metadata: { owner: "x" } }),
        liveRole("role_4", "D"),
      ],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_3"] })],
    );
    const want = desired({
      sync: { ...SYNC, replaceRoles: true },
      roles: [
        role("B", { id: "role_1", permissions: ["a", "b"] }),
        role("A", { id: "role_2", permissions: ["b"] }),
        role("C", { metadata: { owner: "y" } }),
      ],
      members: [member("ada@example.com", { roles: ["C", "A"] })],
    });
    const { result, service } = await applyAfter(want, is, () => undefined);
    expect(result.status).toBe("done");
    expect(planOf(want, service.state()).changes).toEqual([]);
  });

  test("is a reason if somebody else has taken its temporary name", async () => {
    const is = live([liveRole("role_1", "A", { metadata: { owner: "x" } })]);
    const want = desired({
      sync: { ...SYNC, replaceRoles: true },
      roles: [role("A", { metadata: { owner: "y" } })],
    });
    const service = modelService(is);
    const writer = beginning({
      ...service.writer,
      createRole: async (draft: Parameters<typeof service.writer.createRole>[0]) => {
        service.edit(
          ({ roles }) => void roles.set("role_1", liveRole("role_1", "Z", { metadata: { owner: "x" } })),
        );
        return service.writer.createRole(draft);
      },
    });
    const result = await applyPlan(planOf(want, is), applyPorts({ ...service, writer }));
    expect(result.outcomes).toMatchObject([{ status: "stale" }]);
    expect(result.writes).toBe(2);
    expect(service.calls).not.toContain("delete role role_1");
  });
});
