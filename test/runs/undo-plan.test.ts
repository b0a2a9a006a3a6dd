import { describe, expect, test } from "vitest";
import { unrestoredMembers } from "../../src/kernel/diff/lost-state.ts";
import type { PastRun } from "../../src/model/apply.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import { RolecallError } from "../../src/model/errors.ts";
import type { LiveMember, LiveState } from "../../src/model/live.ts";
import { type Undo, undoPlan } from "../../src/runs/undo-plan.ts";
import {
  brief,
  briefRefusals,
  desired,
  invited,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NO_POLICIES,
  NOW,
  OWNER,
  planOf,
  role,
  SYNC,
  until,
} from "../support/build.ts";
import { beginning, type ModelService, modelService } from "../support/model-service.ts";
import { type Cut, runOf } from "../support/past-run.ts";

const CASHIER = liveRole("role_1", "Cashier", { permissions: ["catalog_view"], metadata: { owner: "a" } });
const CLERK = liveRole("role_2", "Clerk", { permissions: ["stock_edit"], description: "Counts" });
const IS = live(
  [CASHIER, CLERK, OWNER],
  [
    liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] }),
    liveMember("mem_2", "ben@example.com", { roles: ["role_1"], metadata: { desk: 1, team: "till" } }),
    liveMember("mem_3", "cy@example.com", { roles: ["role_2"] }),
  ],
);
const ROLES = [
  role("Cashier", { permissions: ["catalog_view"], metadata: { owner: "a" } }),
  role("Clerk", { permissions: ["stock_edit"] }),
];

/** Applies a file to the state, and lets somebody change things afterwards. */
async function ran(want: Partial<DesiredState>, is: LiveState = IS, cut?: Cut) {
  const service = modelService(is);
  const run = await runOf(
    planOf(desired({ sync: { ...SYNC, replaceRoles: true }, ...want }), is),
    service,
    cut,
  );
  return { run, service };
}

function undo(run: PastRun, service: ModelService, file: Partial<DesiredState> = {}): Undo {
  const input = { desired: desired(file), live: service.state(), service: "https://service.example" };
  return undoPlan(run, { ...input, now: NOW, matches });
}

const codes = ({ notes }: Undo) => notes.map(({ code, name }) => `${code} ${name}`);

describe("undo", () => {
  test("counts a member with two spellings of an address once", async () => {
    const twins = live(
      [CASHIER],
      ["ada@example.com", "ADA@example.com"].map((email, at) =>
        liveMember(`mem_${at}`, email, { roles: ["role_1"] }),
      ),
    );
    const { run, service } = await ran(
      { members: [], guards: { protect: { roles: [], members: [] } } },
      twins,
    );
    const { plan } = undo(run, service);
    expect(plan.changes).toHaveLength(2);
    expect(plan.impact.members).toHaveLength(1);
    expect(plan.impact.roles).toMatchObject([{ name: "Cashier", before: 0, after: 1 }]);
  });

  test("has one note for two expired invitations of one address", async () => {
    const expired = { status: "expired", roles: ["role_2"] } as const;
    const is = live(IS.roles, [
      ...IS.members,
      invited("mem_8", "dee@example.com", expired),
      invited("mem_9", "dee@example.com", expired),
    ]);
    const listed = ["ada", "ben", "cy"].map((name) => member(`${name}@example.com`));
    const { run, service } = await ran({ members: listed }, is);
    expect(codes(undo(run, service)).filter((code) => code.endsWith("dee@example.com"))).toEqual([
      "invitation-expired dee@example.com",
    ]);
  });

  test("leaves alone what the run found already applied", async () => {
    const { run, service } = await ran({
      roles: ROLES,
      members: [member("cy@example.com", { roles: ["Cashier"] })],
    });
    expect(undo(run, service).plan.changes).not.toEqual([]);
    const writes = run.writes.map(({ intent, outcome }) => ({
      intent,
      outcome: outcome && { ...outcome, already: true as const },
    }));
    expect(undo({ ...run, writes }, service).plan.changes).toEqual([]);
  });

  test("gives each field back that the run changed, and leaves the others as they are by now", async () => {
    const { run, service } = await ran({
      members: [
        member("ada@example.com", { roles: ["role_owner"] }),
        member("ben@example.com", { roles: ["Clerk"], metadata: { desk: 2, team: "till" } }),
        member("cy@example.com", { roles: ["Clerk"] }),
      ],
    });
    service.edit(({ members }) => {
      const ben = members.get("mem_2");
      if (ben)
        members.set("mem_2", {
          ...ben,
          metadata: { ...ben.metadata, team: "office" },
          roles: ["role_2", "role_owner"],
        });
    });
    const back = undo(run, service);
    expect(brief(back.plan)).toEqual(["update member ben@example.com"]);
    expect(back.plan.changes[0]).toMatchObject({
      reason: "undone",
      after: { roles: [{ name: "Cashier" }, { name: "Owner" }], metadata: { desk: 1, team: "office" } },
    });
    expect(back.notes).toEqual([]);
  });

  test("restores what the service emptied and the run did not get to restore", async () => {
    const service = modelService(IS);
    const { writer } = service;
    let updates = 0;
    const replacing: typeof writer = beginning({
      ...writer,
      updateMember: async (id, update) => {
        updates += 1;
        if (updates > 1) throw new RolecallError("forbidden", "not now");
        return writer.updateMember(id, { roles: [], metadata: {}, ...update });
      },
    });
    const want = desired({
      sync: { ...SYNC, members: "additive" },
      members: [{ ...member("ben@example.com", { roles: ["Clerk"] }) }],
      roles: ROLES,
    });
    const run = await runOf(planOf(want, IS), { ...service, writer: replacing });
    expect(service.state().members[1]).toMatchObject({ roles: ["role_2"], metadata: {} });
    expect(undo(run, service).plan.changes).toMatchObject([
      {
        name: "ben@example.com",
        after: { roles: [{ name: "Cashier" }], metadata: { desk: 1, team: "till" } },
      },
    ]);
  });

  describe("after a run that was killed during its first update of a member", () => {
    const CUT = { at: 1, did: true };
    const WANT = {
      sync: { ...SYNC, members: "additive" as const },
      members: [member("ben@example.com", { roles: ["Clerk"] })],
      roles: ROLES,
    };
    /** The run, without an outcome, after which the service has this. */
    async function killed(after: Partial<LiveMember>) {
      const { run, service } = await ran(WANT, IS, CUT);
      service.edit(({ members }) => {
        const ben = members.get("mem_2");
        if (ben) members.set("mem_2", { ...ben, ...after });
      });
      const writes = run.writes.map((write) => ({ ...write, outcome: null }));
      const cut = { ...run, writes, end: null };
      return { ...undo(cut, service), unrestored: unrestoredMembers(cut) };
    }

    test("leaves a field alone that it did not send and that is empty now, and says so", async () => {
      const { plan, notes, unrestored } = await killed({ metadata: {} });
      expect(unrestored).toMatchObject([
        { name: "ben@example.com", fields: ["metadata"], before: { metadata: { desk: 1, team: "till" } } },
      ]);
      expect(plan.changes).toMatchObject([{ after: { roles: [{ name: "Cashier" }], metadata: {} } }]);
      expect(notes).toMatchObject([{ code: "maybe-cleared", name: "ben@example.com" }]);
    });

    test("leaves a field alone that is not empty, whoever changed it", async () => {
      const { plan, notes } = await killed({ metadata: { team: "office" } });
      expect(plan.changes).toMatchObject([{ after: { metadata: { team: "office" } } }]);
      expect(notes).toEqual([]);
    });
  });

  test("leaves a field alone that somebody has changed since, and says so", async () => {
    const { run, service } = await ran({
      sync: { ...SYNC, members: "additive" },
      members: [member("ben@example.com", { roles: ["Cashier"], metadata: { desk: 2, team: "till" } })],
    });
    service.edit(({ members }) => {
      const ben = members.get("mem_2");
      if (ben) members.set("mem_2", { ...ben, metadata: { desk: 3, team: "till" } });
    });
    const back = undo(run, service);
    expect(back.plan.changes).toEqual([]);
    expect(codes(back)).toEqual(["changed-since ben@example.com"]);
  });

  test("removes the invited, and invites the removed, who have to accept again", async () => {
    const { run, service } = await ran({
      sync: { ...SYNC, roles: "additive" },
      members: [
        member("ada@example.com", { roles: ["role_owner"] }),
        member("ben@example.com", { roles: ["Cashier"] }),
        member("new@example.com", { roles: ["Cashier"] }),
      ],
    });
    const back = undo(run, service);
    expect(brief(back.plan)).toEqual(["create member cy@example.com", "delete member new@example.com"]);
    expect(codes(back)).toEqual(["invited-again cy@example.com"]);
    expect(back.notes[0]?.message).toContain("has no access until the invitation is accepted");
  });

  test.each([true, false])(
    "of a renewal whose last answer was lost leaves one invitation (renewed: %s)",
    async (did) => {
      const held = { roles: ["role_2"], metadata: { desk: 1 } };
      const is = live(IS.roles, [invited("mem_2", "ben@example.com", { status: "expired", ...held })]);
      for (const desk of [1, 2]) {
        const service = modelService(is, "conflict");
        const want = desired({
          members: [member("ben@example.com", { roles: ["Clerk"], metadata: { desk } })],
        });
        const run = await runOf(planOf(want, is), service, { at: 3, did });
        const back = undo(run, service);
        const renewed = desk === 1 ? [] : ["there-again ben@example.com"];
        expect(codes(back)).toEqual(did ? renewed : ["invited-again ben@example.com"]);
        await runOf(back.plan, service);
        expect(service.state().members).toMatchObject([
          { status: "pending", ...held, metadata: { desk: did ? desk : 1 } },
        ]);
        expect(undo(run, service).plan.changes).toEqual([]);
      }
    },
  );

  test("recreates a removed role with a new id, and gives it to its former holders", async () => {
    const { run, service } = await ran({
      roles: [ROLES[0] ?? role("Cashier")],
      members: [
        member("ada@example.com", { roles: ["role_owner"] }),
        member("ben@example.com", { roles: ["Cashier"] }),
        member("cy@example.com", { roles: ["Cashier"] }),
      ],
    });
    const back = undo(run, service);
    expect(brief(back.plan)).toEqual(["create role Clerk", "update member cy@example.com"]);
    expect(back.plan.changes[0]?.after).toMatchObject({
      name: "Clerk",
      description: "Counts",
      permissions: ["stock_edit"],
      metadata: {},
    });
    expect(back.plan.changes[1]?.after).toMatchObject({ roles: [{ id: null, name: "Clerk" }] });
    expect(codes(back)).toEqual(["new-id Clerk"]);
  });

  test("reverts a replacement by another one, with its holders", async () => {
    const { run, service } = await ran({
      roles: [
        role("Cashier", { permissions: ["catalog_view"], metadata: { owner: "b" } }),
        ROLES[1] ?? role("Clerk"),
      ],
    });
    const back = undo(run, service);
    expect(brief(back.plan)).toEqual(["replace role Cashier", "update member ben@example.com"]);
    await runOf(back.plan, service);
    const cashier = service.state().roles.find(({ name }) => name === "Cashier");
    expect(cashier?.metadata).toEqual({ owner: "a" });
    expect(service.state().members.find(({ id }) => id === "mem_2")?.roles).toEqual([cashier?.id]);
    expect(undo(run, service).plan.changes).toEqual([]);
  });

  test("leaves members with a role's successor if the run only finished the replacement", async () => {
    const cashier = role("Cashier", { permissions: ["catalog_view"], metadata: { owner: "b" } });
    const want = { roles: [cashier, ROLES[1] ?? role("Clerk")] };
    // Renamed and created; the answer to the update of its holder is lost.
    const { service } = await ran(want, IS, { at: 3, did: false });
    const second = planOf(desired({ sync: { ...SYNC, replaceRoles: true }, ...want }), service.state());
    expect(brief(second)).toEqual(["replace role Cashier", "update member ben@example.com"]);
    const back = undo(await runOf(second, service), service);
    expect(back.plan.changes).toEqual([]);
    expect(codes(back)).toEqual(["half-replaced Cashier"]);
  });

  test("keeps a role of the run that somebody else holds by now", async () => {
    const { run, service } = await ran({ roles: [...ROLES, role("Auditor")] });
    const auditor = service.state().roles.find(({ name }) => name === "Auditor");
    service.edit(({ members }) => {
      const cy = members.get("mem_3");
      if (cy && auditor) members.set("mem_3", { ...cy, roles: [auditor.id] });
    });
    const back = undo(run, service);
    expect(back.plan.changes).toEqual([]);
    expect(codes(back)).toEqual(["still-held Auditor"]);
  });

  test("does not restore a name that another role has by now", async () => {
    const { run, service } = await ran({
      roles: [
        role("Till", { previously: ["Cashier"], permissions: ["catalog_view"], metadata: { owner: "a" } }),
        ROLES[1] ?? role("Clerk"),
      ],
    });
    service.edit(({ roles }) => roles.set("role_9", liveRole("role_9", "Cashier")));
    const back = undo(run, service);
    expect(back.plan.changes).toEqual([]);
    expect(codes(back)).toEqual(["name-taken Till"]);
  });

  test("restores none of two removed roles of one name, and takes no other role because of that", async () => {
    const twins = live(
      [CLERK, liveRole("role_8", "Till"), liveRole("role_9", "Till", { permissions: ["stock_edit"] })],
      [
        liveMember("mem_1", "ada@example.com", { roles: ["role_8", "role_9"] }),
        liveMember("mem_2", "ben@example.com", { roles: ["role_8", "role_2"] }),
      ],
    );
    const members = ["ada", "ben"].map((name) => member(`${name}@example.com`, { roles: ["Clerk"] }));
    const { run, service } = await ran({ roles: ROLES.slice(1), members }, twins);
    const { plan, notes } = undo(run, service);
    expect(plan.changes).toEqual([]);
    const notRestored = (id: string) =>
      `The role "Till" (${id}) is not restored: the run removed several roles with that name, and a new role needs a name of its own.`;
    expect(notes.map(({ message }) => message)).toEqual([
      notRestored("role_8"),
      notRestored("role_9"),
      'ada@example.com does not get the role "Till" (role_8) again: it no longer exists.',
      'ada@example.com does not get the role "Till" (role_9) again: it no longer exists.',
      'ada@example.com keeps the role "Clerk": no role from before the run can be restored.',
      'ben@example.com does not get the role "Till" again: it no longer exists.',
    ]);
  });

  test("brings a managed user back only with the password that the file names", async () => {
    const till = liveMember("mem_4", "till@example.com", {
      roles: ["role_1"],
      user: {
        id: "u",
        email: "till@example.com",
        mfaOnLogin: false,
        type: "managed_user",
        nickname: "Till",
      },
    });
    const owner = member("ada@example.com", { roles: ["role_owner"] });
    const is = live(IS.roles, [...IS.members.slice(0, 1), till]);
    const { run, service } = await ran({ members: [owner] }, is);
    const without = undo(run, service);
    expect(without.plan.changes).toEqual([]);
    expect(codes(without)).toEqual(["password-needed till@example.com"]);
    const managed = { nickname: "Other", passwordEnv: "TILL" };
    const withFile = undo(run, service, { members: [member("till@example.com", { managed })] });
    expect(withFile.plan.changes[0]?.after).toMatchObject({
      managed: { nickname: "Till", passwordEnv: "TILL" },
    });
  });

  test("gives nothing back to who is suspended, and says so", async () => {
    const away = member("cy@example.com", { roles: ["Clerk"], suspended: {} });
    const others = [
      member("ada@example.com", { roles: ["role_owner"] }),
      member("ben@example.com", { roles: ["Cashier"] }),
    ];
    const { run, service } = await ran({ members: [...others, away] });
    expect(run.writes).toHaveLength(1);
    const back = undo(run, service, { members: [away] });
    expect([back.plan.changes, codes(back)]).toEqual([[], ["suspended cy@example.com"]]);
    expect(brief(undo(run, service).plan)).toEqual(["update member cy@example.com"]);
  });

  test("gives nothing back that has ended by a date in the file, and says so", async () => {
    const past = until("2026-06-01");
    const entries = [
      member("ada@example.com", { roles: ["role_owner"] }),
      member("ben@example.com", { roles: [{ role: "Cashier", until: past }, "Clerk"] }),
      member("cy@example.com", { roles: ["Clerk"], until: past }),
    ];
    const twice = live(
      IS.roles,
      IS.members.map((one) => (one.id === "mem_2" ? { ...one, roles: ["role_1", "role_2"] } : one)),
    );
    const { run, service } = await ran({ members: entries }, twice);
    expect(run.writes).toHaveLength(2);
    const back = undo(run, service, { members: entries });
    expect([back.plan.changes, codes(back)]).toEqual([
      [],
      ["out-of-term ben@example.com", "out-of-term cy@example.com"],
    ]);
    expect(brief(undo(run, service).plan)).toEqual([
      "update member ben@example.com",
      "create member cy@example.com",
    ]);
    const rename = [role("Till", { previously: ["Cashier"] })];
    for (const name of ["Till", "Cashier"]) {
      const ended = member("ben@example.com", { roles: [{ role: name, until: past }, "Clerk"] });
      const members = entries.map((entry) => (entry.email === ended.email ? ended : entry));
      expect(undo(run, service, { roles: rename, members }).plan.changes).toEqual([]);
    }
    const renamed = entries.map((entry) => ({
      ...entry,
      email: `new-${entry.email}`,
      previously: [entry.email],
    }));
    expect(undo(run, service, { members: renamed }).plan.changes).toEqual([]);
  });

  test("takes what a run gave also where its dates have passed since", async () => {
    const want = (end: string) =>
      ["ada", "ben", "cy"].map((name, at) =>
        member(`${name}@example.com`, {
          roles: [["role_owner"], ["Cashier", { role: "Clerk", until: until(end) }], ["Clerk"]][at] ?? [],
        }),
      );
    const { run, service } = await ran({ members: want("2026-12-31") });
    const back = undo(run, service, { members: want("2026-06-01") });
    expect(back.plan.changes).toMatchObject([{ kind: "update", after: { roles: [{ id: "role_1" }] } }]);
    expect(codes(back)).toEqual([]);
  });

  test("invites nobody who has left by then, and says so", async () => {
    const leavers = [leaver("CY@example.com", "2026-06-15")];
    const { run, service } = await ran({ leavers });
    expect(run.writes).toHaveLength(1);
    const back = undo(run, service, { leavers });
    expect([back.plan.changes, codes(back)]).toEqual([[], ["left cy@example.com"]]);
    // Without the entry the file does not stand in the way.
    expect(brief(undo(run, service).plan)).toEqual(["create member cy@example.com"]);
  });

  test.each(["expired", "disabled", "unknown"] as const)(
    "gives nobody more than there was: who was %s is not invited",
    async (status) => {
      const was =
        status === "expired" ? invited("mem_4", "di@example.com") : liveMember("mem_4", "di@example.com");
      const is = live(IS.roles, [...IS.members, { ...was, status }]);
      const { run, service } = await ran(
        {
          members: ["ada", "ben", "cy"].map((name, index) =>
            member(`${name}@example.com`, { roles: [["role_owner"], ["Cashier"], ["Clerk"]][index] ?? [] }),
          ),
        },
        is,
      );
      expect(run.writes).toHaveLength(1);
      const back = undo(run, service);
      expect(back.plan.changes).toEqual([]);
      expect(codes(back)).toEqual([
        `${status === "expired" ? "invitation-expired" : "was-disabled"} di@example.com`,
      ]);
    },
  );

  test.each([true, false])(
    "of a write whose answer was lost looks at what is live (it was done: %s)",
    async (did) => {
      const want = {
        sync: { ...SYNC, members: "additive" as const },
        members: [member("new@example.com", { roles: ["Cashier"] })],
      };
      const { run, service } = await ran(want, IS, { at: 1, did });
      expect(run.writes[0]?.outcome?.status).toBe("unknown");
      expect(brief(undo(run, service).plan)).toEqual(did ? ["delete member new@example.com"] : []);
    },
  );

  test("never removes a restored role if a create with its name stayed unknown", async () => {
    // The clerk gets another name, and a new role just like it the old one: that create is lost. Nobody holds either.
    const is = live([CASHIER, CLERK, OWNER], []);
    const want = {
      sync: { ...SYNC, members: "additive" as const },
      roles: [
        role("Cashier", { permissions: ["catalog_view"], metadata: { owner: "a" } }),
        role("Counter", { permissions: ["stock_edit"], id: "role_2" }),
        role("Clerk", { permissions: ["stock_edit"], description: "Counts" }),
      ],
    };
    const { run, service } = await ran(want, is, { at: 2, did: false });
    expect(run.writes.map(({ outcome }) => outcome?.status)).toEqual(["done", "unknown"]);
    const first = undo(run, service);
    expect(brief(first.plan)).toEqual(["update role Clerk"]);
    await runOf(first.plan, service);
    expect(brief(undo(run, service).plan)).toEqual([]);
  });

  test("touches nothing that is to be ignored", async () => {
    const { run, service } = await ran({
      sync: { ...SYNC, members: "additive" },
      members: [member("ben@example.com", { roles: ["Clerk"] })],
    });
    const ignore = { roles: [], members: ["ben@*"] };
    const back = undo(run, service, { ignore });
    expect(back.plan.changes).toEqual([]);
    expect(codes(back)).toEqual(["ignored ben@example.com"]);
  });

  test("meets the limits on gains, with one override for all of them", async () => {
    const people = Array.from({ length: 11 }, (_, index) => `m${index}@example.com`);
    const payer = liveRole("role_3", "Payer", { permissions: ["payouts_edit"] });
    const is = live(
      [payer],
      people.map((email, index) => liveMember(`mem_${index}`, email, { roles: ["role_3"] })),
    );
    const taken = [
      { members: people.map((email) => member(email, { roles: [] })) },
      { members: [member("m0@example.com", { roles: ["Payer"] })] },
    ];
    for (const want of taken) {
      const { run, service } = await ran(want, is);
      const back = (guards: Partial<DesiredState["guards"]>) =>
        undo(run, service, {
          ...want,
          guards: { ...desired().guards, maxRemovals: { percent: 100 }, ...guards },
        }).plan;
      const gaining = want.members.length === 11 ? 11 : 10;
      expect(back({}).refusals.map(({ override }) => override)).toEqual(
        gaining > 10 ? ["restored-violations=1"] : [],
      );
      const limited = back({ maxGains: { sensitive: { count: 3 }, payouts_edit: { count: 3 } } });
      expect(limited.refusals.map(({ override }) => override)).toEqual(["restored-violations=2"]);
      expect(limited.findings.map(({ code, hint }) => [code, hint])).toEqual(
        ["payouts_edit", "sensitive"].map(() => [
          "restored-violation",
          "Check that this is the right run. To revert only a part of it, use --merchant.",
        ]),
      );
    }
  });

  test("tells of a policy that it breaks again once, with all whom it concerns", async () => {
    const is = live(
      [],
      ["ada", "ben", "cy"].map((name) => liveMember(`mem_${name}`, `${name}@example.com`)),
    );
    const { run, service } = await ran({ members: [] }, is);
    const policies = { ...NO_POLICIES, emailDomains: ["example.org"] };
    const { findings } = undo(run, service, { members: [], policies }).plan;
    const restored = findings.filter(({ code }) => code === "restored-violation");
    expect(restored.map(({ message }) => message)).toEqual([
      "The address ada@example.com is in none of the allowed domains: example.org. The same applies to ben@example.com, cy@example.com.",
    ]);
  });

  test("meets the guards and policies of the file", async () => {
    const { run, service } = await ran({
      sync: { ...SYNC, members: "additive" },
      members: [
        member("ben@example.com", { roles: ["Clerk"] }),
        member("new@example.org", { roles: ["Clerk"] }),
      ],
    });
    const guards = { protect: { roles: [], members: ["ben@*"] } };
    const own = undo(run, service, { guards }).plan;
    expect(briefRefusals(own)).toEqual(["guard protect ben@example.com"]);
    expect(own.refusals[0]?.hint).toBe("Remove the entry from guards.protect.");
    const files = ["hq/policy.yaml"] as const;
    const rules = { guards, policies: NO_POLICIES, checks: [], files };
    expect(undo(run, service, { enforced: [rules] }).plan.refusals).toMatchObject([
      { code: "protect", hint: "Ask those who own hq/policy.yaml." },
    ]);
  });
});
