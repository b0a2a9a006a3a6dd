import { describe, expect, test } from "vitest";
import { temporaryName } from "../../../src/kernel/fields/temporary-name.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

test("a role that is not there yet is created", () => {
  const plan = planOf(desired({ roles: [role("Cashier", { permissions: ["b", "a", "b"] })] }), live());
  expect(brief(plan)).toEqual(["create role Cashier"]);
  expect(plan.changes[0]?.after).toMatchObject({
    name: "Cashier",
    description: null,
    permissions: ["a", "b"],
    metadata: {},
  });
});

const ASSUMED = liveRole("role_cashier", "role_cashier", { predefined: true, idOnly: true });

test("a role that the service does not return is given by its id, with a warning unless it is documented", () => {
  const special = liveRole("role_special", "role_special", { predefined: true, idOnly: true });
  const other = desired({ members: [member("ada@example.com", { roles: ["role_special"] })] });
  const holding = live([special], [liveMember("mem_1", "ada@example.com", { roles: ["role_special"] })]);
  expect(briefFindings(planOf(other, holding))).toEqual(["warning role-not-retrieved role_special"]);
  const want = desired({ members: [member("ada@example.com", { roles: ["role_cashier"] })] });
  const plan = planOf(want, live([ASSUMED], [liveMember("mem_1", "ada@example.com")]));
  expect(plan.changes[0]?.after).toMatchObject({ roles: [{ id: "role_cashier", name: "role_cashier" }] });
  expect(briefFindings(plan)).toEqual([]);
  expect(plan.impact.members).toMatchObject([{ name: "ada@example.com", unknownGained: ["role_cashier"] }]);
});

test.each(["role_owner", "role_admin"])("a new grant of %s is a warning, one that is there is none", (id) => {
  const role = liveRole(id, id, { predefined: true });
  const want = desired({
    members: [member("ada@example.com", { roles: [id] }), member("bob@example.com", { roles: [id] })],
  });
  const is = live([role], [liveMember("mem_1", "ada@example.com", { roles: [id] })]);
  const warning = (name: string) => `warning member-role-unassignable ${name}`;
  expect(briefFindings(planOf(want, is))).toEqual([warning("bob@example.com")]);
  const two = live([role], [...is.members, liveMember("mem_2", "bob@example.com")]);
  expect(briefFindings(planOf(want, two))).toEqual([warning("bob@example.com")]);
});

test("a role that the service does not return is not reported if no file names it", () => {
  const is = live([ASSUMED], [liveMember("mem_1", "ada@example.com", { roles: ["role_cashier"] })]);
  const plan = planOf(desired({ roles: [], members: [] }), is);
  expect([brief(plan), briefFindings(plan)]).toEqual([["delete member ada@example.com"], []]);
});

test("a pin to a role that the service does not return matches nothing", () => {
  const plan = planOf(desired({ roles: [role("Cashier", { id: "role_cashier" })] }), live([ASSUMED]));
  expect(briefFindings(plan)).toContain("error role-pin-missing Cashier");
});

test("a role that is not there yet needs its permissions", () => {
  const { permissions: _, ...bare } = role("Cashier");
  const plan = planOf(desired({ roles: [bare] }), live());
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["error role-needs-permissions Cashier"]);
});

test("permissions are compared as a set", () => {
  const is = live([liveRole("role_1", "Cashier", { permissions: ["b", "a"] })]);
  expect(brief(planOf(desired({ roles: [role("Cashier", { permissions: ["a", "b"] })] }), is))).toEqual([]);
  const changed = planOf(desired({ roles: [role("Cashier", { permissions: ["a", "c"] })] }), is);
  expect(changed.changes[0]?.fields).toEqual([{ field: "permissions", added: ["c"], removed: ["b"] }]);
});

test("a description that the file leaves out keeps its live value, an empty one clears it", () => {
  const is = live([liveRole("role_1", "Cashier", { description: "Old" })]);
  expect(brief(planOf(desired({ roles: [role("Cashier")] }), is))).toEqual([]);
  const cleared = planOf(desired({ roles: [role("Cashier", { description: "" })] }), is);
  expect(cleared.changes[0]?.fields).toEqual([{ field: "description", before: "Old", after: "" }]);
});

test("permissions that the file leaves out keep their live value", () => {
  const { permissions: _, ...bare } = role("Cashier", { description: "New" });
  const is = live([liveRole("role_1", "Cashier", { permissions: ["a"] })]);
  const plan = planOf(desired({ roles: [bare] }), is);
  expect(plan.changes[0]?.fields).toEqual([{ field: "description", before: null, after: "New" }]);
  expect(plan.changes[0]?.after).toMatchObject({ permissions: ["a"] });
});

test("a pinned role is renamed in place", () => {
  const is = live([liveRole("role_1", "Team Lead")]);
  const plan = planOf(desired({ roles: [role("Shift Lead", { id: "role_1" })] }), is);
  expect(brief(plan)).toEqual(["update role Shift Lead"]);
  expect(plan.changes[0]?.fields).toEqual([{ field: "name", before: "Team Lead", after: "Shift Lead" }]);
});

test("a pin that no role has is an error, and the role of that name is not removed for it", () => {
  const is = live([liveRole("role_1", "Cashier")]);
  const plan = planOf(desired({ roles: [role("Cashier", { id: "role_9" })] }), is);
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["error role-pin-missing Cashier"]);
});

test("grants of a role with a wrong pin are not reported as unknown roles", () => {
  const members = [member("ada@example.com", { roles: ["Cashier"] })];
  const pinned = desired({ roles: [role("Cashier", { id: "role_9" })], members });
  expect(briefFindings(planOf(pinned, live()))).toEqual(["error role-pin-missing Cashier"]);
  const twice = live([liveRole("role_1", "Cashier"), liveRole("role_2", "Cashier")]);
  const ambiguous = planOf(desired({ roles: [role("Cashier")], members }), twice);
  expect(briefFindings(ambiguous)).toEqual(["error role-ambiguous Cashier"]);
});

test("a pin to a role that the service provides is an error", () => {
  const is = live([liveRole("role_owner", "Owner", { predefined: true })]);
  const plan = planOf(desired({ roles: [role("Boss", { id: "role_owner" })] }), is);
  expect(briefFindings(plan)).toEqual(["error role-pin-predefined Boss"]);
});

test("two live roles of one name are an error that names both ids, and neither is touched", () => {
  const is = live([liveRole("role_2", "Cashier"), liveRole("role_1", "Cashier")]);
  const plan = planOf(desired({ roles: [role("Cashier", { permissions: ["a"] })] }), is);
  expect(brief(plan)).toEqual([]);
  expect(plan.findings[0]?.message).toContain("role_1, role_2");
  expect(plan.findings[0]?.hint).toContain("id: role_1");
});

test("one of two live roles of one name can be pinned; the other is then unlisted", () => {
  const is = live([liveRole("role_2", "Cashier"), liveRole("role_1", "Cashier")]);
  const plan = planOf(desired({ roles: [role("Cashier", { id: "role_2" })] }), is);
  expect(plan.changes.map((change) => [change.kind, change.id])).toEqual([["delete", "role_1"]]);
});

test("metadata of a role that differs is refused, since the service cannot change it in place; it says what would do", () => {
  const is = live([liveRole("role_1", "Cashier", { metadata: { owner: "x" } })]);
  const plan = planOf(desired({ roles: [role("Cashier", { metadata: { owner: "y" } })] }), is);
  expect(brief(plan)).toEqual([]);
  expect(briefRefusals(plan)).toEqual(["guard role-metadata-fixed Cashier"]);
  expect(plan.refusals[0]?.hint).toContain('{"owner":"x"}');
  expect(plan.refusals[0]?.hint).toContain("sync.replace_roles: true");
});

test("metadata of a role is compared without regard to the order of its keys", () => {
  const is = live([liveRole("role_1", "Cashier", { metadata: { a: 1, b: { c: [1], d: null } } })]);
  const same = role("Cashier", { metadata: { b: { d: null, c: [1] }, a: 1 } });
  expect(briefFindings(planOf(desired({ roles: [same] }), is))).toEqual([]);
});

test("an unlisted role is removed where roles are authoritative, and left alone where they are additive", () => {
  const is = live([liveRole("role_1", "Old"), liveRole("role_owner", "Owner", { predefined: true })]);
  expect(brief(planOf(desired({ roles: [] }), is))).toEqual(["delete role Old"]);
  const additive = desired({ roles: [], sync: { ...SYNC, roles: "additive", members: "authoritative" } });
  const left = planOf(additive, is);
  expect(brief(left)).toEqual([]);
  expect(left.summary.roles).toMatchObject({ unchanged: 0, unmanaged: 1 });
});

test("without a roles section no role is touched", () => {
  expect(brief(planOf(desired({ members: [] }), live([liveRole("role_1", "Old")])))).toEqual([]);
});

test("a role that somebody outside the plan still holds cannot be removed; they are named", () => {
  const holders = [
    liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
    liveMember("mem_2", "eve@auditor.example", { roles: ["role_1"] }),
  ];
  const ignore = { roles: [], members: ["*@auditor.example"] };
  const plan = planOf(desired({ roles: [], ignore }), live([liveRole("role_1", "Old")], holders));
  expect(briefRefusals(plan)).toEqual(["guard role-still-held Old"]);
  expect(plan.refusals[0]?.override).toBeNull();
  expect(plan.refusals[0]?.message).toContain("ada@example.com, eve@auditor.example");
});

test("a role is removed when its holders lose it, or leave, in the same plan", () => {
  const is = live(
    [liveRole("role_1", "Old")],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      liveMember("mem_2", "bob@example.com", { roles: ["role_1"] }),
    ],
  );
  const plan = planOf(desired({ roles: [], members: [member("ada@example.com")] }), is);
  expect(brief(plan)).toEqual([
    "delete role Old",
    "update member ada@example.com",
    "delete member bob@example.com",
  ]);
  expect(plan.findings).toEqual([]);
});

const REPLACE = { ...SYNC, replaceRoles: true };

test("a role whose metadata changed is replaced where the file allows it, and every holder moves along", () => {
  const is = live(
    [liveRole("role_1", "Cashier", { metadata: { owner: "x" }, permissions: ["a"], description: "Till" })],
    [
      liveMember("mem_1", "ada@example.com", { roles: ["role_1"] }),
      liveMember("mem_2", "unlisted@example.com", { roles: ["role_1"] }),
    ],
  );
  const want = desired({
    sync: { ...REPLACE, members: "additive" },
    roles: [role("Cashier", { metadata: { owner: "y" }, permissions: ["a"] })],
    members: [member("ada@example.com", { roles: ["Cashier"] })],
  });
  const plan = planOf(want, is);
  expect(brief(plan)).toEqual([
    "replace role Cashier",
    "update member ada@example.com",
    "update member unlisted@example.com",
  ]);
  expect(plan.changes[0]).toMatchObject({
    reason: "immutable-field",
    after: { description: "Till", metadata: { owner: "y" } },
  });
  expect(plan.impact.members).toEqual([]);
  expect(plan.refusals).toEqual([]);
});

test("a pinned role is not replaced, since the pin would point to nothing", () => {
  const is = live([liveRole("role_1", "Cashier", { metadata: { owner: "x" } })]);
  const want = desired({ sync: REPLACE, roles: [role("Cashier", { id: "role_1", metadata: {} })] });
  expect(briefRefusals(planOf(want, is))).toEqual(["guard role-replace-pinned Cashier"]);
});

test("a role that an ignored member holds cannot be replaced", () => {
  const is = live(
    [liveRole("role_1", "Cashier", { metadata: { owner: "x" } })],
    [liveMember("mem_1", "eve@auditor.example", { roles: ["role_1"] })],
  );
  const ignore = { roles: [], members: ["*@auditor.example"] };
  const want = desired({ sync: REPLACE, ignore, roles: [role("Cashier", { metadata: {} })] });
  expect(briefRefusals(planOf(want, is))).toEqual(["guard role-still-held Cashier"]);
});

test("a replacement that was cut short goes on where it stopped, as the same change", () => {
  const old = liveRole("role_1", "Cashier", { metadata: { owner: "x" }, permissions: ["a"] });
  const holder = liveMember("mem_1", "ada@example.com", { roles: ["role_1"] });
  const want = desired({
    sync: REPLACE,
    roles: [role("Cashier", { metadata: { owner: "y" }, permissions: ["a"] })],
  });
  const fresh = planOf(want, live([old], [holder]));
  const aside = { ...old, name: temporaryName("Cashier", old.id) };
  const half = planOf(want, live([aside], [holder]));
  const almost = planOf(want, live([aside, { ...old, id: "role_2", metadata: { owner: "y" } }], [holder]));
  expect(brief(half)).toEqual(brief(fresh));
  expect(half.fingerprint).toBe(fresh.fingerprint);
  expect(almost.fingerprint).toBe(fresh.fingerprint);
  expect(almost.changes[0]).toMatchObject({ kind: "replace", id: "role_1", resumed: "role_2" });
});

test("previously makes a rename of what would be a removal and a creation", () => {
  const is = live([liveRole("role_1", "Team Lead")]);
  const plan = planOf(desired({ roles: [role("Shift Lead", { previously: ["Team Lead"] })] }), is);
  expect(plan.changes.map(({ kind, id, fields }) => [kind, id, fields])).toEqual([
    ["update", "role_1", [{ field: "name", before: "Team Lead", after: "Shift Lead" }]],
  ]);
});

test("of several previous names the one that is live makes the rename", () => {
  const was = ["Team Lead", "Shift Supervisor"];
  for (const name of was) {
    const plan = planOf(
      desired({ roles: [role("Shift Lead", { previously: was })] }),
      live([liveRole("role_1", name)]),
    );
    expect(plan.changes.map(({ kind, id, name: to }) => [kind, id, to])).toEqual([
      ["update", "role_1", "Shift Lead"],
    ]);
    expect(plan.findings).toEqual([]);
  }
});

test("two live roles with previous names of one role are an error that says how to pin, and neither is removed", () => {
  const is = live([liveRole("role_1", "Team Lead"), liveRole("role_2", "Shift Supervisor")]);
  const entry = { previously: ["Team Lead", "Shift Supervisor"], permissions: [] };
  const plan = planOf(desired({ roles: [role("Shift Lead", entry)] }), is);
  expect(plan.changes).toEqual([]);
  expect(plan.findings.map(({ code, severity, message, hint }) => [code, severity, message, hint])).toEqual([
    [
      "role-ambiguous",
      "error",
      'Several live roles have previous names of "Shift Lead": "Shift Supervisor" (role_2), "Team Lead" (role_1).',
      'To select one, leave only its name in "previously", or add its id to the role, such as "id: role_2". The others are then roles without an entry.',
    ],
  ]);
  const pinned = planOf(desired({ roles: [role("Shift Lead", { ...entry, id: "role_2" })] }), is);
  expect(brief(pinned)).toEqual(["update role Shift Lead", "delete role Team Lead"]);
});

test("an entry with several candidates gives up its own name to the entry that had it", () => {
  const is = live([liveRole("role_b", "B"), liveRole("role_c", "C"), liveRole("role_d", "D")]);
  const roles = [role("A", { previously: ["B"] }), role("B", { previously: ["C", "D"] })];
  const plan = planOf(desired({ roles }), is);
  expect(plan.changes.map(({ kind, id, name }) => [kind, id, name])).toEqual([["update", "role_b", "A"]]);
  expect(briefFindings(plan)).toEqual(["error role-ambiguous B"]);
});

test("a rename that is done is not done again", () => {
  const is = live([liveRole("role_1", "Shift Lead")]);
  expect(brief(planOf(desired({ roles: [role("Shift Lead", { previously: ["Team Lead"] })] }), is))).toEqual(
    [],
  );
});

test("a chain of renames moves every role one name on", () => {
  const is = live([liveRole("role_b", "B"), liveRole("role_c", "C")]);
  const want = desired({ roles: [role("A", { previously: ["B"] }), role("B", { previously: ["C"] })] });
  expect(planOf(want, is).changes.map(({ kind, id, name }) => [kind, id, name])).toEqual([
    ["update", "role_b", "A"],
    ["update", "role_c", "B"],
  ]);
});

test("a name that another entry keeps is not taken for a rename", () => {
  const is = live([liveRole("role_b", "B")]);
  const want = desired({ roles: [role("A", { previously: ["B"] }), role("B")] });
  expect(brief(planOf(want, is))).toEqual(["create role A"]);
});

test("a rename onto a name that a live role has already is explained, not done", () => {
  const is = live([liveRole("role_a", "A"), liveRole("role_b", "B")]);
  const plan = planOf(
    desired({ sync: { ...SYNC, roles: "additive" }, roles: [role("A", { previously: ["B"] })] }),
    is,
  );
  expect(brief(plan)).toEqual([]);
  expect(briefFindings(plan)).toEqual(["warning role-previously-left A"]);
});

test("a pinned rename onto a name that another role keeps is an error that names it", () => {
  const is = live([liveRole("role_a", "A"), liveRole("role_b", "B")]);
  const want = desired({ sync: { ...SYNC, roles: "additive" }, roles: [role("A", { id: "role_b" })] });
  expect(planOf(want, is).findings[0]).toMatchObject({ code: "role-name-taken", severity: "error" });
  expect(planOf(want, is).findings[0]?.message).toContain("role_a");
});

test("a removal and a creation with the same permissions, or the same holders, are pointed out as a likely rename", () => {
  const permissions = ["a", "b"];
  const samePermissions = planOf(
    desired({ roles: [role("New", { permissions })] }),
    live([liveRole("role_1", "Old", { permissions })]),
  );
  expect(samePermissions.findings[0]?.hint).toContain('"previously: Old"');
  const sameHolders = planOf(
    desired({
      roles: [role("New", { permissions })],
      members: [member("ada@example.com", { roles: ["New"] })],
    }),
    live([liveRole("role_1", "Old")], [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })]),
  );
  expect(briefFindings(sameHolders)).toEqual(["warning role-likely-renamed New"]);
  const oneLess = planOf(
    desired({ roles: [role("New", { permissions: ["a", "c"] })] }),
    live([liveRole("role_1", "Old", { permissions })]),
  );
  expect(briefFindings(oneLess)).toEqual([]);
});

test.each([
  ["a grant", { members: [member("ada@example.com", { roles: ["role_1"] })] }],
  ["a guard", { guards: { protect: { roles: [], members: [] }, minHolders: { role_1: 1 } } }],
  ["a protection", { guards: { protect: { roles: ["Role_1"], members: [] } } }],
  ["a policy", { policies: { ...desired().policies, requireMfa: ["role_1"] } }],
  [
    "a check",
    { checks: [{ kind: "only", can: "p", only: ["role:role_1"], origin: { file: "shop.yaml", path: [] } }] },
  ],
] as const)(
  "a role that %s names by its id is not replaced, since that would name nothing then",
  (_, rest) => {
    const is = live(
      [liveRole("role_1", "Cashier", { metadata: { owner: "x" } })],
      [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
    );
    const plan = planOf(desired({ sync: REPLACE, roles: [role("Cashier", { metadata: {} })], ...rest }), is);
    expect(briefRefusals(plan)).toEqual(["guard role-replace-named Cashier"]);
    expect(plan.refusals[0]?.message).toContain("the file refers to it by role_1");
    expect(plan.changes).toEqual([]);
  },
);

test.each([
  ["a grant", { roles: [{ role: "role_1", until: until("2026-01-31") }] }],
  ["a membership", { roles: ["role_1"], until: until("2026-01-31") }],
])("%s that has ended still names a role by its id", (_, access) => {
  const is = live(
    [liveRole("role_1", "Cashier", { metadata: { owner: "x" } })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const members = [member("ada@example.com", access)];
  const plan = planOf(desired({ sync: REPLACE, roles: [role("Cashier", { metadata: {} })], members }), is);
  expect(briefRefusals(plan)).toContain("guard role-replace-named Cashier");
  expect(brief(plan)).toEqual(["delete member ada@example.com"]);
});

test("a role whose name differs from a live one by case alone is an error that asks which is meant", () => {
  const is = live([liveRole("role_1", "Cashier")]);
  const plan = planOf(desired({ roles: [role("cashier")] }), is);
  expect(briefFindings(plan)).toContain("error role-name-case cashier");
  expect(plan.findings[0]?.hint).toContain('write "Cashier", or add "previously: Cashier"');
  const renamed = planOf(desired({ roles: [role("cashier", { previously: ["Cashier"] })] }), is);
  expect([brief(renamed), briefFindings(renamed)]).toEqual([["update role cashier"], []]);
  const both = planOf(desired({ roles: [role("cashier"), role("Cashier")] }), is);
  expect([brief(both), briefFindings(both)]).toEqual([["create role cashier"], []]);
});

test("a role whose name differs from a live one by the encoding of an accent alone is an error that says so", () => {
  const [composed, decomposed] = ["Caf\u00e9", "Cafe\u0301"];
  const is = live([liveRole("role_1", decomposed)]);
  const { findings } = planOf(desired({ roles: [role(composed)] }), is);
  expect(findings.map(({ code }) => code)).toContain("role-name-case");
  expect(findings[0]?.message).toContain("only in how accents are encoded (Unicode NFC and NFD).");
  const renamed = planOf(desired({ roles: [role(composed, { previously: [decomposed] })] }), is);
  expect([brief(renamed), briefFindings(renamed)]).toEqual([[`update role ${composed}`], []]);
});

describe("a role that a rule names and nobody has", () => {
  const rules = {
    policies: { ...desired().policies, requireUntil: { Seasonl: null }, requireMfa: ["role_7Kq2Zz91"] },
  };
  const is = live([liveRole("role_1", "Seasonal")]);
  const found = (rest: Partial<DesiredState>) =>
    planOf(desired({ ...rules, ...rest }), is).findings.map(({ severity, name, hint }) => ({
      severity,
      name,
      hint,
    }));
  const unknown = { severity: "error", name: "Seasonl", hint: 'Did you mean "Seasonal"?' };

  test("is an error, with a suggestion from what is live", () => {
    const gone = { severity: "error", name: "role_7Kq2Zz91", hint: "Correct the name, or remove it." };
    expect(found({})).toEqual([unknown, gone]);
    expect(found({ sync: { ...SYNC, roles: "additive" }, roles: [] })).toEqual([unknown, gone]);
  });

  test("is reported as removed if it is the id of a role that the plan removes", () => {
    const policies = { ...desired().policies, maxHolders: { role_1: 2 } };
    const { findings } = planOf(desired({ policies, roles: [] }), is);
    expect(findings).toMatchObject([
      {
        severity: "error",
        message:
          'A policy, guard or check names "role_1", the role "Seasonal", which this plan removes: the rule would have no effect.',
        hint: "Also remove the rule, or list the role.",
      },
    ]);
  });

  test("is a warning if a shared file names it, since another merchant may have it", () => {
    const [first, second] = found({ sharedRuleNames: ["Seasonl"] });
    expect([first?.severity, first?.name]).toEqual(["error", "role_7Kq2Zz91"]);
    expect(second).toEqual({ ...unknown, severity: "warning" });
  });

  test("is not reported if another merchant that includes the rule has it", () => {
    const elsewhere = { sharedRuleNames: ["Seasonl"], rolesElsewhere: ["Seasonl"] };
    expect(found(elsewhere).map(({ name }) => name)).toEqual(["role_7Kq2Zz91"]);
    expect(found({ rolesElsewhere: ["Seasonl"] }).map(({ name }) => name)).toContain("Seasonl");
  });

  test("is left to validate if the files list all roles, except for ids", () => {
    expect(found({ roles: [role("Seasonal")] }).map(({ name }) => name)).toEqual(["role_7Kq2Zz91"]);
  });

  test("may be ignored", () => {
    expect(found({ ignore: { roles: ["Seasonl"], members: [] } }).map(({ name }) => name)).toContain(
      "Seasonl",
    );
    const ignored = desired({
      policies: { ...desired().policies, requireMfa: ["Seasonal"] },
      ignore: { roles: ["role_1"], members: [] },
    });
    expect(planOf(ignored, is).findings.map(({ code }) => code)).not.toContain("rule-role-unknown");
  });
});

describe("a member whom a rule names and who is neither declared nor live", () => {
  const check = (email: string, file = "shop.yaml") =>
    ({ kind: "cannot", member: email, cannot: ["p"], origin: { file, path: ["checks", 0] } }) as const;
  const is = live([], [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "till@example.com")]);
  const told = (rest: Partial<DesiredState>) =>
    planOf(
      desired({ sync: { ...SYNC, members: "additive" }, members: [member("bob@example.com")], ...rest }),
      is,
    )
      .findings.filter(({ code }) => code === "rule-member-unknown")
      .map(({ severity, name, hint }) => `${severity} ${name}: ${hint}`);
  const protect = (...members: readonly string[]) => ({ guards: { protect: { roles: [], members } } });

  test("is a warning with a suggestion", () => {
    const checks = [check("adaa@example.com"), check("ADA@example.com"), check("bob@example.com")];
    expect(told({ checks })).toEqual(['warning adaa@example.com: Did you mean "ada@example.com"?']);
    expect(
      told({ ...protect("zoe@example.com", "*@old.example", "Ada@example.com", "mem_2", "mem_3") }),
    ).toEqual([
      "warning mem_3: Correct the address, or remove it.",
      "warning zoe@example.com: Correct the address, or remove it.",
    ]);
    expect(told({ ...protect("ada@example.com"), ignore: { roles: [], members: ["ada@*"] } })).toEqual([]);
  });

  test("may be another merchant's if the rule is shared, and is left to validate if the file lists everybody", () => {
    expect(told({ checks: [check("zoe@example.com", "shared.yaml")] })).toEqual([]);
    expect(told({ ...protect("zoe@example.com"), sharedRuleNames: ["zoe@example.com"] })).toEqual([]);
    expect(told({ checks: [check("zoe@example.com")], sync: SYNC })).toEqual([]);
  });
});

describe("the name of a role that is to be protected", () => {
  const is = live([liveRole("role_1", "Cashier"), liveRole("role_2", "Till")]);
  const unknown = (name: string, rest: Partial<DesiredState> = {}) => {
    const guards = { protect: { roles: [name], members: [] } };
    return planOf(desired({ guards, roles: [role("Cashier")], ...rest }), is)
      .findings.filter(({ code }) => code === "rule-role-unknown")
      .map(({ severity, hint }) => `${severity}: ${hint}`);
  };

  test("is an error where no such role is declared or live, since it would protect nothing", () => {
    expect(unknown("Cashir")).toEqual(['error: Did you mean "Cashier"?']);
    expect(unknown("role_3")).toEqual(["error: Correct the name, or remove it."]);
    expect(unknown("Cashir", { sharedRuleNames: ["Cashir"] })).toEqual(['warning: Did you mean "Cashier"?']);
    expect(unknown("Seasonal", { sharedRuleNames: ["Seasonal"] })).toEqual([
      "warning: If another merchant that includes the rule has the role, keep it; otherwise correct the name.",
    ]);
  });

  test("may be a live role that no file lists, a provided or an ignored one, one to come, and of any case", () => {
    for (const name of ["Till", "role_2", "role_owner", "cashier"]) expect(unknown(name)).toEqual([]);
    expect(unknown("Till", { ignore: { roles: ["T*"], members: [] } })).toEqual([]);
    expect(unknown("New", { roles: [role("New", { permissions: ["p"] })] })).toEqual([]);
  });

  test("may be a previous one, and a glob that matches nobody yet", () => {
    expect(unknown("Former", { roles: [role("Cashier", { previously: ["Former"] })] })).toEqual([]);
    expect(unknown("Season*")).toEqual([]);
  });
});

test("a live role is suggested for an entry without permissions, and for a former name, that differ a little", () => {
  const is = live([liveRole("role_1", "Cashier")]);
  const hints = (entry: Parameters<typeof role>[1] & { readonly name: string }, permitted: boolean) => {
    const { permissions, ...bare } = role(entry.name, entry);
    const roles = [permitted ? { ...bare, permissions: permissions ?? [] } : bare];
    const sync = { ...SYNC, roles: "additive" as const };
    return planOf(desired({ sync, roles }), is).findings.map(({ code, hint }) => `${code} ${hint}`);
  };
  expect(hints({ name: "cashier" }, false)).toEqual([
    'role-needs-permissions Did you mean "Cashier"? Otherwise add "permissions:" to the role; an empty list is allowed.',
  ]);
  expect(hints({ name: "Till", previously: ["cashier"] }, true)).toEqual([
    'role-previously-unknown Did you mean "previously: Cashier"?',
  ]);
  expect(hints({ name: "Till", previously: ["Something else"] }, true)).toEqual([]);
});

test("a chain of renames may be as long as a file", () => {
  const count = 12_000;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const roles = indexes.map((index) => role(`R${index}`, { previously: [`R${index + 1}`] }));
  const is = live(indexes.map((index) => liveRole(`role_${index + 1}`, `R${index + 1}`)));
  const { changes } = planOf(desired({ roles }), is);
  expect(changes).toHaveLength(count);
  expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(["update"]));
});
