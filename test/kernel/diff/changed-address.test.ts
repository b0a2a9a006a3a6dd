import { describe, expect, test } from "vitest";
import { planDue } from "../../../src/kernel/plan/due.ts";
import type { DesiredMember } from "../../../src/model/desired.ts";
import type { LiveMember } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  from,
  invited,
  leaver,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const CASHIER = liveRole("role_1", "Cashier");
const PAYER = liveRole("role_2", "Payer");
const [OLD, NEW] = ["ada@old.example", "ada@new.example"];

/** The leavers that are read from a file that lists either address. */
const GONE = [leaver(NEW, "2026-06-01"), leaver(OLD, "2026-06-01")];

type Entry = Omit<Partial<DesiredMember>, "roles"> & NonNullable<Parameters<typeof member>[1]>;

function plan(entry: Entry, members: readonly LiveMember[], rest: Parameters<typeof desired>[0] = {}): Plan {
  const want = desired({ members: [member(NEW, { previously: [OLD], ...entry })], ...rest });
  return planOf(want, live([CASHIER, PAYER], members));
}

function waits({ deferred }: Plan): readonly string[] {
  return deferred.map(
    ({ change, role, waitsFor }) => `${change.kind} ${change.name} until ${waitsFor.join()} ${role ?? ""}`,
  );
}

const ada = (rest: Partial<LiveMember> = {}): LiveMember =>
  liveMember("mem_1", OLD, { roles: ["role_1"], metadata: { badge: "7" }, ...rest });

describe("an entry with a previous address", () => {
  test("invites the new address, and keeps the old membership until it is accepted", () => {
    const made = plan({ roles: ["Cashier"] }, [ada()]);
    expect(brief(made)).toEqual([`create member ${NEW}`]);
    expect(waits(made)).toEqual([`delete ${OLD} until ${NEW} `]);
    expect(briefFindings(made)).toEqual([]);
    const invitation = invited("mem_2", NEW, { roles: ["role_1"], metadata: { badge: "7" } });
    const pending = plan({ roles: ["Cashier"] }, [ada(), invitation]);
    expect(brief(pending)).toEqual([]);
    expect(waits(pending)).toEqual([`delete ${OLD} until ${NEW} `]);
  });

  test("removes the old membership once the new one is accepted", () => {
    const accepted = liveMember("mem_2", NEW, { roles: ["role_1"] });
    const made = plan({ roles: ["Cashier"] }, [ada(), accepted]);
    expect(made.changes).toMatchObject([{ kind: "delete", name: OLD, reason: "address-changed" }]);
    expect(made.deferred).toEqual([]);
    expect(brief(plan({ roles: ["Cashier"] }, [accepted]))).toEqual([]);
  });

  test("takes over the roles and metadata that the file does not manage", () => {
    const bare: DesiredMember = { email: NEW, previously: [OLD], origin: { file: "shared.yaml", path: [] } };
    const made = planOf(desired({ members: [bare] }), live([CASHIER], [ada()]));
    expect(made.changes).toMatchObject([
      { kind: "create", after: { roles: [{ id: "role_1" }], metadata: { badge: "7" } } },
    ]);
    expect(waits(made)).toHaveLength(1);
  });

  test("takes over the nickname of a managed user", () => {
    const user = { id: "user_1", email: OLD, mfaOnLogin: true, type: "managed_user", nickname: "Till 7" };
    const made = plan({ roles: ["Cashier"], managed: { passwordEnv: "TILL" } }, [ada({ user })]);
    expect(made.changes).toMatchObject([
      { kind: "create", after: { managed: { nickname: "Till 7", passwordEnv: "TILL" } } },
    ]);
  });

  test("takes over nothing before it begins, or while suspended: the roles of the old membership may go", () => {
    const bare = { email: NEW, previously: [OLD], origin: { file: "access/shop.yaml", path: [] } };
    for (const dates of [{ from: from("2026-07-01") }, { suspended: {} }]) {
      const made = planOf(desired({ roles: [], members: [{ ...bare, ...dates }] }), live([CASHIER], [ada()]));
      expect(made.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(brief(made)).toContain("delete role Cashier");
    }
  });

  test("ends and suspends the old membership at once", () => {
    const ended = plan({ roles: ["Cashier"], until: until("2026-06-01") }, [ada()]);
    expect(brief(ended)).toEqual([`delete member ${OLD}`]);
    expect(waits(ended)).toEqual([]);
    const away = plan({ roles: ["Cashier"], suspended: {} }, [ada()]);
    expect(away.changes).toMatchObject([
      {
        kind: "update",
        name: OLD,
        id: "mem_1",
        reason: "suspended",
        fields: [{ field: "roles", added: [] }],
      },
    ]);
    expect(waits(away)).toEqual([]);
    const older = liveMember("mem_0", "ada@older.example", { roles: ["role_1"], metadata: { badge: "1" } });
    const previously = [OLD, "ada@older.example"];
    const both = plan({ roles: ["Cashier"], suspended: {}, previously }, [ada(), older]);
    expect(both.changes.map(({ id, fields }) => [id, fields.map(({ field }) => field)])).toEqual([
      ["mem_1", ["roles"]],
      ["mem_0", ["roles"]],
    ]);
  });

  test("removes the old membership before the entry begins, and warns of the time without access", () => {
    const later = plan({ roles: ["Cashier"], from: from("2026-07-01") }, [ada()]);
    expect(brief(later)).toEqual([`delete member ${OLD}`]);
    expect(later.findings).toMatchObject([
      { code: "member-address-gap", severity: "warning", message: expect.stringContaining(OLD) },
    ]);
    const never = plan({ roles: ["Cashier"], from: from("2026-07-01") }, [invited("mem_1", OLD)]);
    expect(never.findings).toEqual([]);
  });

  test("warns where the old membership lacks what the entry declares: it gets nothing any more", () => {
    const entry = { roles: ["Cashier", "Payer"], metadata: { badge: "7" } };
    const pending = invited("mem_2", NEW, { roles: ["role_1", "role_2"], metadata: { badge: "7" } });
    const told = ({ findings }: Plan) => findings.map(({ code, name, message }) => [code, name, message]);
    expect(told(plan(entry, [ada({ roles: ["role_1", "role_2"] }), pending]))).toEqual([]);
    const differing = plan(entry, [ada({ metadata: {} }), pending]);
    expect(waits(differing)).toEqual([`delete ${OLD} until ${NEW} `]);
    expect(told(differing)).toEqual([
      [
        "member-former-differs",
        OLD,
        `${OLD}, the previous address of ${NEW}, lacks what the entry declares: "Payer", its metadata.`,
      ],
    ]);
  });

  test("moves the old membership along with a replaced role", () => {
    const roles = [role("Cashier", { permissions: [], metadata: { till: "1" } })];
    const sync = { ...SYNC, replaceRoles: true };
    const made = plan({ roles: ["Cashier"] }, [ada()], { roles, sync });
    expect(made.changes.filter(({ name }) => name === OLD)).toMatchObject([
      { fields: [{ removed: [{ id: "role_1" }], added: [{ id: null, name: "Cashier" }] }] },
    ]);
    expect(made.findings).toEqual([]);
  });

  test("keeps a role of the old membership that is replaced at the same time", () => {
    const want = desired({
      roles: [role("Cashier", { metadata: { owner: "y" } })],
      members: [member(NEW, { previously: [OLD], roles: ["Cashier"] })],
      sync: { ...SYNC, replaceRoles: true },
    });
    const made = planOf(want, live([CASHIER], [ada()]));
    expect(made.changes).toMatchObject([
      { kind: "replace" },
      { kind: "create", name: NEW },
      { kind: "update", name: OLD, after: { roles: [{ id: null, name: "Cashier" }] } },
    ]);
    expect(briefRefusals(made)).toEqual([]);
  });

  test("removes an old invitation at once: nobody has access through it", () => {
    const made = plan({ roles: ["Cashier"] }, [invited("mem_1", OLD, { roles: ["role_1"] })]);
    expect(brief(made)).toEqual([`create member ${NEW}`, `delete member ${OLD}`]);
  });

  test("must not have the id of the old membership, and removes nobody for it", () => {
    const accepted = liveMember("mem_2", NEW, { roles: ["role_1"] });
    for (const members of [[ada()], [ada(), accepted]]) {
      const made = plan({ id: "mem_1", roles: ["Cashier"] }, members);
      const moved = plan({ roles: ["Cashier"] }, members);
      expect(briefFindings(made)).toEqual([`error member-pin-former ${NEW}`]);
      expect(made.changes).toEqual(moved.changes);
      expect(waits(made)).toEqual(waits(moved));
    }
    const other = liveMember("mem_2", NEW, { roles: ["role_1"] });
    expect(briefFindings(plan({ id: "mem_2", roles: ["Cashier"] }, [ada(), other]))).toEqual([]);
  });

  test("that ends removes both memberships, also with the id of the old one", () => {
    const both = [ada(), liveMember("mem_2", NEW, { roles: ["role_1"] })];
    const ended = plan({ id: "mem_1", roles: ["Cashier"], until: until("2026-01-31") }, both);
    expect(briefFindings(ended)).toEqual([]);
    expect(brief(ended).toSorted()).toEqual([`delete member ${NEW}`, `delete member ${OLD}`]);
    expect(ended.changes.every(({ reason }) => reason === "access-ended")).toBe(true);
  });

  test("of somebody who leaves removes both memberships, also under additive", () => {
    const rest = { leavers: GONE, sync: { ...SYNC, members: "additive" } } as const;
    const made = plan({ roles: ["Cashier"] }, [ada(), invited("mem_2", NEW)], rest);
    expect(brief(made).toSorted()).toEqual([`delete member ${NEW}`, `delete member ${OLD}`]);
  });

  test("counts one person, and not two, for the rules", () => {
    const policies = { ...desired().policies, maxHolders: { Cashier: 1 } };
    expect(briefRefusals(plan({ roles: ["Cashier"] }, [ada()], { policies }))).toEqual([]);
    const guards = { ...desired().guards, minHolders: { Cashier: 1 } };
    const made = plan({ roles: ["Cashier"] }, [ada()], { guards });
    expect(waits(made)).toEqual([`delete ${OLD} until ${NEW} `]);
    expect(briefRefusals(made)).toEqual([]);
  });

  test("takes from the old membership what the entry no longer grants, and adds nothing to it", () => {
    const both = ada({ roles: ["role_1", "role_2"] });
    const pending = invited("mem_2", NEW, { roles: ["role_1"] });
    for (const [roles, reason] of [
      [["Cashier", { role: "Payer", until: until("2026-06-01") }], "access-ended"],
      [["Cashier"], "declared"],
    ] as const) {
      const made = plan({ roles }, [both, pending]);
      expect(made.changes).toMatchObject([
        {
          kind: "update",
          name: OLD,
          id: "mem_1",
          reason,
          fields: [{ field: "roles", added: [], removed: [{ id: "role_2" }] }],
        },
      ]);
      expect(waits(made)).toEqual([`delete ${OLD} until ${NEW} `]);
      expect(made.deferred).toMatchObject([{ change: { before: { roles: [{ id: "role_1" }] } } }]);
    }
    expect(
      brief(
        plan({ roles: ["Cashier", "Payer"] }, [
          ada(),
          invited("mem_2", NEW, { roles: ["role_1", "role_2"] }),
        ]),
      ),
    ).toEqual([]);
  });

  test("whose access dates end or suspend loses it under the old address as well", () => {
    const past = until("2026-06-01");
    const both = ada({ roles: ["role_1", "role_2"] });
    const pending = invited("mem_2", NEW, { roles: ["role_1"] });
    const due = (entry: Entry, rest: Parameters<typeof desired>[0] = {}): Plan => {
      const want = desired({ members: [member(NEW, { previously: [OLD], ...entry })], ...rest });
      const is = live([CASHIER, PAYER], [both, pending]);
      return planDue({ desired: want, live: is, service: "s", now: NOW, matches });
    };
    expect(brief(due({ roles: ["Cashier", "Payer"], until: past })).toSorted()).toEqual([
      `delete member ${NEW}`,
      `delete member ${OLD}`,
    ]);
    expect(
      brief(due({ roles: ["Cashier", "Payer"], suspended: { from: from("2026-06-01") } })).toSorted(),
    ).toEqual([`update member ${NEW}`, `update member ${OLD}`]);
    expect(brief(due({ roles: ["Cashier", { role: "Payer", until: past }] }))).toEqual([
      `update member ${OLD}`,
    ]);
    expect(brief(due({ roles: ["Cashier"] }, { leavers: GONE })).toSorted()).toEqual([
      `delete member ${NEW}`,
      `delete member ${OLD}`,
    ]);
  });

  test("counts one person where the old membership loses something now", () => {
    const policies = { ...desired().policies, maxHolders: { Cashier: 1 } };
    const made = plan({ roles: ["Cashier"] }, [ada({ roles: ["role_1", "role_2"] })], { policies });
    expect(brief(made)).toEqual([`create member ${NEW}`, `update member ${OLD}`]);
    expect(briefRefusals(made)).toEqual([]);
  });

  test("loses all access under the old address once it ends, also if the pin of the entry is gone", () => {
    const made = plan({ roles: ["Cashier"], until: until("2026-06-01"), id: "mem_gone" }, [ada()]);
    expect(brief(made)).toEqual([`delete member ${OLD}`]);
    expect(briefFindings(made)).toEqual([]);
    const heir = invited("mem_2", NEW, { roles: ["role_1"] });
    const renewed = plan({ roles: ["Cashier"], id: "mem_gone" }, [
      ada({ roles: ["role_1", "role_2"] }),
      heir,
    ]);
    expect(brief(renewed)).toEqual([`update member ${OLD}`]);
    expect(waits(renewed)).toEqual([`delete ${OLD} until ${NEW} `]);
  });

  test.each([
    ["a grant that the entry does not have", ["Cashier"]],
    ["a grant that has ended", ["Cashier", { role: "Payer", until: until("2026-06-01") }]],
  ])("keeps a role under the old address until its next holder has accepted, of %s", (_, roles) => {
    const holder = member("h@x.example", { roles: ["Payer"] });
    const handOver = (others: readonly LiveMember[], old = ada({ roles: ["role_1", "role_2"] })): Plan => {
      const guards = { ...desired().guards, minHolders: { Payer: 1 } };
      const entry = member(NEW, { previously: [OLD], metadata: {}, roles });
      const want = desired({ guards, members: [entry, holder] });
      return planOf(want, live([CASHIER, PAYER, liveRole("role_3", "Lead")], [old, ...others]));
    };
    const later = [`update ${OLD} until ${holder.email} Payer`, `delete ${OLD} until ${NEW} `];
    const both = handOver([]);
    expect(brief(both)).toEqual([`create member ${NEW}`, `create member ${holder.email}`]);
    expect([waits(both), briefRefusals(both)]).toEqual([later, []]);
    expect(both.reviewed.people).toContainEqual(expect.objectContaining({ name: OLD, deferred: true }));
    const pending = [NEW, holder.email].map((email) => invited(`mem_${email}`, email, { roles: ["role_2"] }));
    expect([waits(handOver(pending)), briefRefusals(handOver(pending))]).toEqual([later, []]);
    const accepted = liveMember("mem_h", holder.email, { roles: ["role_2"] });
    expect(brief(handOver([accepted]))).toContain(`update member ${OLD}`);
    expect(waits(handOver([accepted]))).toEqual(later.slice(1));
    // What else the old membership loses does not wait.
    const more = handOver([], ada({ roles: ["role_1", "role_2", "role_3"] }));
    expect(more.changes).toContainEqual(
      expect.objectContaining({ name: OLD, after: both.deferred[0]?.change.before }),
    );
    expect(waits(more)).toEqual(later);
  });

  test("keeps roles that the file ignores, also beside those that it grants", () => {
    const both = ada({ roles: ["role_1", "role_2"] });
    const ignore = { roles: ["Payer"], members: [] };
    const bare: DesiredMember = { email: NEW, previously: [OLD], origin: { file: "shared.yaml", path: [] } };
    for (const entry of [bare, member(NEW, { previously: [OLD], roles: ["Cashier"] })]) {
      const made = planOf(desired({ members: [entry], ignore }), live([CASHIER, PAYER], [both]));
      expect(made.changes).toMatchObject([
        { kind: "create", after: { roles: [{ id: "role_1" }, { id: "role_2", name: "Payer" }] } },
      ]);
      expect(waits(made)).toHaveLength(1);
    }
  });

  test("is not what only dates bring", () => {
    const want = desired({ members: [member(NEW, { previously: [OLD], roles: ["Cashier"] })] });
    const input = { desired: want, live: live([CASHIER], [ada()]), service: "s", now: NOW, matches };
    expect(planDue(input)).toMatchObject({ changes: [], deferred: [] });
  });
});

describe("what a rule says of either address", () => {
  const origin = { file: "access/shop.yaml", path: ["checks", 0] };
  const payer = liveRole("role_2", "Payer", { permissions: ["pay"] });
  const refusals = (rules: Parameters<typeof desired>[0], members: readonly LiveMember[] = []) => {
    const entry = member(NEW, { previously: [OLD], roles: ["Payer"] });
    return briefRefusals(planOf(desired({ members: [entry], ...rules }), live([payer], members)));
  };

  test.each([OLD, NEW, OLD.toUpperCase()])("holds for the person under both: %s", (address) => {
    const cannot = [{ kind: "cannot", member: address, cannot: ["pay"], origin } as const];
    expect(refusals({ checks: cannot })).toEqual([`check check-cannot ${NEW}`]);
    const { guards: defaults, policies } = desired();
    const enforced = [{ guards: defaults, policies, checks: cannot, files: ["hq.yaml"] as const }];
    expect(refusals({ enforced })).toEqual([`check check-cannot ${NEW}`]);
    const only = (email: string) => [{ kind: "only", can: "pay", only: [email], origin } as const];
    expect(refusals({ checks: only(address) }, [ada({ roles: ["role_2"] })])).toEqual([]);
    expect(refusals({ checks: only("x@new.example") })).toEqual([`check check-only ${NEW}`]);
    const guards = { ...desired().guards, protect: { roles: [], members: [address] } };
    expect(refusals({ guards }, [liveMember("mem_2", NEW)])).toEqual([`guard protect ${NEW}`]);
  });

  test("does not protect the old membership from the move to a new address", () => {
    const guards = { ...desired().guards, protect: { roles: [], members: [NEW] } };
    expect(
      refusals({ guards }, [ada({ roles: ["role_2"] }), liveMember("mem_2", NEW, { roles: ["role_2"] })]),
    ).toEqual([]);
  });

  test("protects the old membership from losing something before the move", () => {
    const guards = { ...desired().guards, protect: { roles: [], members: [NEW] } };
    expect(refusals({ guards }, [ada({ roles: ["role_2", "role_owner"] })])).toContain(
      `guard protect ${OLD}`,
    );
    expect(refusals({ guards }, [ada({ roles: ["role_2"] })])).toEqual([]);
  });

  test("protects a leaver whom the entry is pinned to", () => {
    const guards = { ...desired().guards, protect: { roles: [], members: [OLD] } };
    const entry = member(NEW, { previously: [OLD], id: "mem_7" });
    const leavers = [leaver("bob@example.com", "2026-06-01")];
    const is = live([payer], [liveMember("mem_7", "bob@example.com")]);
    expect(briefRefusals(planOf(desired({ members: [entry], leavers, guards }), is))).toEqual([
      "guard protect bob@example.com",
    ]);
  });

  test("is known where only the old address is live", () => {
    const checks = [{ kind: "cannot", member: OLD, cannot: ["fly"], origin } as const];
    const made = planOf(
      desired({
        checks,
        members: [member(NEW, { previously: [OLD] })],
        sync: { ...SYNC, members: "additive" },
      }),
      live([payer], [liveMember("mem_2", NEW)]),
    );
    expect(briefFindings(made)).toEqual([]);
  });
});

describe("a disabled member with a new address", () => {
  const disabled = ada({ status: "disabled", roles: ["role_1", "role_2"] });
  const entry = { roles: ["Cashier"] };
  const took = [`update member ${OLD}`];

  test.each([
    ["nobody else", []],
    ["an expired invitation", [invited("mem_2", NEW, { status: "expired", roles: ["role_1"] })]],
  ])("is not invited beside %s, and stays disabled under the old one", (_, others) => {
    for (const managed of [{}, { managed: { passwordEnv: "TILL" } }]) {
      const made = plan({ ...entry, ...managed }, [disabled, ...others]);
      expect(brief(made)).toEqual(took);
      expect(waits(made)).toEqual([]);
      expect(made.findings).toMatchObject([
        {
          code: "member-former-disabled",
          severity: "warning",
          name: NEW,
          hint: expect.stringContaining(`remove "previously: ${OLD}"`),
        },
      ]);
    }
  });

  test("is not invited, and only the latest of several expired invitations stays", () => {
    const expired = ["2026-01-01", "2026-02-01"].map((day, at) =>
      invited(`mem_${at + 2}`, NEW, {
        status: "expired",
        invite: { email: NEW, expiresAt: `${day}T00:00:00Z` },
      }),
    );
    const made = plan(entry, [disabled, ...expired]);
    expect(made.changes.map(({ kind, id }) => [kind, id])).toEqual([
      ["delete", "mem_2"],
      ["update", "mem_1"],
    ]);
  });

  test("is not invited, and a role of the entry that does not exist is an error all the same", () => {
    const later = { role: "Old", from: from("2026-07-01") };
    const made = plan({ roles: ["Cashier", "Gone", later] }, [disabled]);
    expect(briefFindings(made)).toEqual([
      `error member-role-unknown ${NEW}`,
      `error member-role-unknown ${NEW}`,
      `warning member-former-disabled ${NEW}`,
    ]);
    expect(brief(made)).toEqual([]);
  });

  test("keeps the disabled membership until an invitation that was sent before is accepted", () => {
    const made = plan(entry, [disabled, invited("mem_2", NEW, { roles: ["role_1"] })]);
    expect(brief(made)).toEqual(took);
    expect(waits(made)).toEqual([`delete ${OLD} until ${NEW} `]);
    const accepted = plan(entry, [disabled, liveMember("mem_2", NEW, { roles: ["role_1"] })]);
    expect(brief(accepted)).toEqual([`delete member ${OLD}`]);
  });

  test("is invited where another membership of the person is not disabled, with what that one holds", () => {
    const other = liveMember("mem_3", "ada@oldest.example", { roles: ["role_1"], metadata: { badge: "3" } });
    const made = plan({ ...entry, previously: [OLD, "ada@oldest.example"] }, [disabled, other]);
    expect(made.changes).toMatchObject([
      { kind: "create", name: NEW, after: { metadata: { badge: "3" } } },
      { kind: "delete", name: OLD },
    ]);
    expect(waits(made)).toEqual([`delete ada@oldest.example until ${NEW} `]);
  });

  test("leaves when the entry ends", () => {
    const made = plan({ ...entry, until: until("2026-06-01") }, [disabled]);
    expect(brief(made)).toEqual([`delete member ${OLD}`]);
    expect(made.findings).toEqual([]);
  });
});

describe("a new domain of 112 people among 200", () => {
  const moved = Array.from({ length: 112 }, (_, at) => `p${at}`);
  const stay = Array.from({ length: 388 }, (_, at) => `q${at}@old.example`);
  const staying = stay.map((email, at) => liveMember(`mem_q${at}`, email, { roles: ["role_1"] }));
  const before = [
    ...moved.map((name, at) => liveMember(`mem_${at}`, `${name}@old.example`, { roles: ["role_1"] })),
    ...staying,
  ];
  const entries = (previous: boolean, roles: readonly string[] = ["Cashier"]) => [
    ...moved.map((name) =>
      member(`${name}@new.example`, {
        roles: [...roles],
        ...(previous && { previously: [`${name}@old.example`] }),
      }),
    ),
    ...stay.map((email) => member(email, { roles: ["Cashier"] })),
  ];

  test("is refused where it would take access from all at once, below the limit of removals too", () => {
    const made = planOf(desired({ members: entries(false) }), live([CASHIER], before));
    expect(briefRefusals(made)).toEqual(["guard changed-addresses"]);
    expect(made.refusals[0]).toMatchObject({
      override: "changed-addresses=112",
      hint: expect.stringContaining('"previously: p0@old.example" for p0@new.example'),
    });
    expect(made.findings).toHaveLength(112);
  });

  test("takes access from nobody with previous addresses, before and after they accept", () => {
    const want = desired({ members: entries(true) });
    const made = planOf(want, live([CASHIER], before));
    expect(made.summary.members).toMatchObject({ create: 112, delete: 0 });
    expect(made.deferred).toHaveLength(112);
    expect(briefRefusals(made)).toEqual([]);
    const accepted = moved.map((name, at) =>
      liveMember(`mem_n${at}`, `${name}@new.example`, { roles: ["role_1"] }),
    );
    const then = planOf(want, live([CASHIER], [...before, ...accepted]));
    expect(then.summary.members).toMatchObject({ create: 0, delete: 112 });
    expect(briefRefusals(then)).toEqual([]);
  });

  test("counts as removals where the new memberships hold less", () => {
    const want = desired({
      members: entries(true, []),
      guards: { ...desired().guards, maxRemovals: { count: 100 } },
    });
    const accepted = moved.map((name, at) => liveMember(`mem_n${at}`, `${name}@new.example`));
    const then = planOf(want, live([CASHIER], [...before, ...accepted]));
    expect(briefRefusals(then)).toEqual(["guard max-removals"]);
  });
});

describe("a removal and an invitation of probably the same person", () => {
  const found = (entry: Entry, members: readonly LiveMember[]) =>
    planOf(desired({ members: [member("lovelace@firm.example", entry)] }), live([CASHIER], members));

  test("are pointed out with the line to write: equal metadata, or another domain", () => {
    const made = found({ roles: ["Cashier"], metadata: { badge: "7" } }, [ada()]);
    expect(made.findings).toMatchObject([
      {
        code: "member-likely-renamed",
        severity: "warning",
        name: "lovelace@firm.example",
        hint: expect.stringContaining(`Write "previously: ${OLD}" in the entry of lovelace@firm.example`),
      },
    ]);
    const domain = planOf(
      desired({ members: [member(NEW, { roles: ["Cashier"] })] }),
      live([CASHIER], [ada()]),
    );
    expect(briefFindings(domain)).toEqual([`warning member-likely-renamed ${NEW}`]);
    expect(briefRefusals(domain)).toEqual([]);
  });

  test("are, where the removed membership has the user of one that stays", () => {
    const user = { id: "user-1", mfaOnLogin: null, type: "user" };
    const is = [
      ada({ user: { ...user, email: OLD } }),
      liveMember("mem_2", NEW, { user: { ...user, email: NEW } }),
    ];
    const plain = planOf(desired({ members: [member(NEW)] }), live([CASHIER], is));
    expect(briefFindings(plain)).toEqual([`warning member-same-user ${NEW}`]);
    expect(plain.findings[0]?.hint).toContain(`Write "previously: ${OLD}" in the entry of ${NEW}`);
    expect(briefFindings(plan({}, is))).toEqual([]);
  });

  test("are not, where the metadata is empty or several people have it", () => {
    expect(briefFindings(found({ roles: ["Cashier"] }, [ada({ metadata: {} })]))).toEqual([]);
    const two = [ada(), liveMember("mem_2", "bob@old.example", { metadata: { badge: "7" } })];
    expect(briefFindings(found({ roles: ["Cashier"], metadata: { badge: "7" } }, two))).toEqual([]);
  });
});

test("who moves from two addresses gets the roles of both, and keeps them until then", () => {
  const is = live(
    [liveRole("role_1", "Cashier"), liveRole("role_2", "Lead"), liveRole("role_3", "Clerk")],
    [
      liveMember("mem_1", "ada@old.example", { roles: ["role_1"] }),
      liveMember("mem_2", "ada@older.example", { roles: ["role_2", "role_1"] }),
      liveMember("mem_3", "ada@oldest.example", { roles: ["role_3"], status: "disabled" }),
    ],
  );
  const entry: DesiredMember = {
    email: NEW,
    previously: [OLD, "ada@older.example", "ada@oldest.example"],
    origin: { file: "access.yaml", path: [] },
  };
  const made = planOf(desired({ members: [entry] }), is);
  expect(made.changes.filter(({ id }) => id !== "mem_3")).toMatchObject([
    { kind: "create", after: { roles: [{ id: "role_1" }, { id: "role_2" }] } },
  ]);
  expect(made.deferred.map(({ change }) => change.id)).toEqual(["mem_1", "mem_2"]);
});
