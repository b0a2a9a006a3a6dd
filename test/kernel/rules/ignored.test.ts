import { expect, test } from "vitest";
import type { Check, DesiredRole, DesiredState } from "../../../src/model/desired.ts";
import {
  brief,
  briefFindings,
  briefRefusals,
  desired,
  live,
  liveMember,
  liveRole,
  member,
  ORIGIN,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const ADMIN = liveRole("role_admin", "Admin", { predefined: true, permissions: ["members_delete"] });
const LEGACY = liveRole("role_1", "Legacy A", { permissions: ["pay"] });
const EVE = liveMember("mem_e", "eve@auditor.example", { roles: ["role_admin"] });

const plan = (rest: Partial<DesiredState>) =>
  planOf(
    desired({ ignore: { roles: ["Legacy *"], members: ["*@auditor.example"] }, ...rest }),
    live([ADMIN, LEGACY], [EVE, liveMember("mem_a", "ada@example.com", { roles: ["role_1"] })]),
  );

test("a plan lists what is ignored, with the roles of ignored members", () => {
  const { findings } = plan({});
  expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
    "warning: 1 live member is ignored: Admin (eve@auditor.example).",
    "warning: 1 live role is ignored: Legacy A.",
  ]);
});

test("policies and checks judge what is ignored, too", () => {
  const policies = {
    ...desired().policies,
    requireMfa: ["role_admin"],
    maxHolders: { role_admin: 1 },
    forbidPermissions: ["pay"],
  };
  const checks: Check[] = [{ kind: "only", can: "members_delete", only: [], origin: ORIGIN }];
  const members = [member("ada@example.com", { roles: ["role_admin"] })];
  const is = plan({ policies, checks, members });
  expect(briefRefusals(is)).toEqual([
    "policy max-holders role_admin",
    "policy require-mfa ada@example.com",
    "check check-only ada@example.com",
  ]);
  expect(briefFindings(is)).toEqual([
    "warning member-role-unassignable ada@example.com",
    "warning check-only eve@auditor.example",
    "warning require-mfa eve@auditor.example",
    "warning members-ignored ignore.members",
    "warning forbid-permissions Legacy A",
    "warning roles-ignored ignore.roles",
  ]);
});

test("somebody who keeps a permission through an ignored role does not lose it, and a check knows it", () => {
  const checks: Check[] = [{ kind: "cannot", member: "ada@example.com", cannot: ["pay"], origin: ORIGIN }];
  const want = desired({
    ignore: { roles: ["Legacy *"], members: [] },
    checks,
    roles: [role("Till", { permissions: ["pay"] })],
    members: [member("ada@example.com", { roles: [] })],
  });
  const is = live(
    [LEGACY, liveRole("role_2", "Till", { permissions: ["pay"] })],
    [liveMember("mem_a", "ada@example.com", { roles: ["role_1", "role_2"] })],
  );
  const made = planOf(want, is);
  expect(brief(made)).toEqual(["update member ada@example.com"]);
  expect(made.impact.members).toEqual([]);
  expect(briefFindings(made)).toContain("warning check-cannot ada@example.com");
  expect(briefFindings(made).filter((one) => one.includes("unknown"))).toEqual([]);
});

test("a role that the plan removes grants nothing, not unknown permissions", () => {
  const checks: Check[] = [{ kind: "cannot", member: "ada@example.com", cannot: ["fly"], origin: ORIGIN }];
  const want = desired({ checks, roles: [] });
  const made = planOf(want, live([LEGACY], [liveMember("mem_a", "ada@example.com", { roles: ["role_1"] })]));
  expect(briefFindings(made)).toEqual([]);
  expect(made.impact.members).toMatchObject([{ lost: ["pay"], unknownGained: [], unknownLost: [] }]);
});

test("an included entry without roles creates nobody, and the file's own still has to say which", () => {
  const shared = { email: "bob@example.com", origin: { file: "shared/leavers.yaml", path: [] } };
  const included = planOf(desired({ members: [shared] }), live());
  expect([brief(included), briefFindings(included)]).toEqual([[], []]);
  const own = planOf(desired({ members: [{ ...shared, origin: ORIGIN }] }), live());
  expect(briefFindings(own)).toEqual(["warning member-needs-roles bob@example.com"]);
});

test("a pin to an ignored entry is reported as such, and not as an unknown id", () => {
  const roles = [role("Cashier", { id: "role_1", permissions: ["pay"] })];
  const members = [member("new@example.com", { id: "mem_e", roles: [] })];
  const errors = plan({ roles, members }).findings.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, name }) => [code, name])).toEqual([
    ["member-ignored", "new@example.com"],
    ["role-ignored", "Cashier"],
  ]);
});

test("ignored members who hold several roles are listed one by one", () => {
  const held = [liveMember("mem_b", "bob@auditor.example", { roles: ["role_1", "role_admin"] }), EVE];
  const { findings } = planOf(
    desired({ ignore: { roles: [], members: ["*@auditor.example"] } }),
    live([ADMIN, LEGACY], held),
  );
  expect(findings.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
    "2 live members are ignored: Admin (eve@auditor.example); Admin, Legacy A (bob@auditor.example). " +
      "No plan changes or removes what is ignored, but policies and checks still apply to it.",
  ]);
});

test("a predefined role is suggested by its id to whoever writes its name", () => {
  const members = [member("new@example.com", { roles: ["Admin"] })];
  const { findings } = planOf(desired({ members }), live([ADMIN]));
  expect(findings.map(({ hint }) => hint)).toEqual([
    'Did you mean "role_admin"? Otherwise declare the role under "roles:".',
  ]);
});

test("a pinned role is not renamed to the name of an ignored one, which the service would refuse", () => {
  const renamed = role("Legacy", { id: "role_2" });
  const want = desired({ ignore: { roles: ["role_1"], members: [] }, roles: [renamed] });
  const is = live([liveRole("role_1", "Legacy"), liveRole("role_2", "Till")]);
  expect(briefFindings(planOf(want, is))).toContain("error role-ignored Legacy");
});

test("an ignored role without a readable name is named by its id", () => {
  const is = live([{ ...LEGACY, name: " " }]);
  const plan = planOf(desired({ ignore: { roles: [LEGACY.id], members: [] }, roles: [] }), is);
  expect(plan.findings.map(({ message }) => message)).toEqual([`1 live role is ignored: ${LEGACY.id}.`]);
});

test("a role that is live under its own name may still have the name of an ignored one as its previous name", () => {
  const ignoring = (...roles: readonly DesiredRole[]) =>
    planOf(
      desired({ ignore: { roles: ["Legacy A"], members: [] }, roles }),
      live([LEGACY, liveRole("role_2", "Till", { permissions: ["pay"] })]),
    );
  const till = role("Till", { previously: ["Legacy A"], permissions: [] });
  const done = ignoring(till);
  expect([brief(done), briefFindings(done)]).toEqual([
    ["update role Till"],
    ["warning roles-ignored ignore.roles"],
  ]);
  const due = ignoring({ ...till, name: "Desk" });
  expect(briefFindings(due)).toContain("error role-ignored Desk");
  const unknownToo = ignoring({ ...till, name: "Desk", previously: ["Legacy A", "Counter"] });
  expect(briefFindings(unknownToo)).toContain("error role-ignored Desk");
  const visible = ignoring({ ...till, name: "Desk", previously: ["Legacy A", "Till"] });
  expect([brief(visible), briefFindings(visible)]).toEqual([
    ["update role Desk"],
    ["warning roles-ignored ignore.roles"],
  ]);
  const pinnedElsewhere = ignoring(till, role("Desk", { id: "role_2", permissions: [] }));
  expect(briefFindings(pinnedElsewhere)).toContain("error role-ignored Till");
  const chain = ignoring(till, role("Desk", { previously: ["Till"], permissions: [] }));
  expect(briefFindings(chain)).toContain("error role-ignored Till");
});

test("what is declared by name and ignored by id is not created, nobody gains by it, and nobody is told to hold it", () => {
  const made = planOf(
    desired({
      ignore: { roles: ["role_1", "Till*"], members: ["mem_e"] },
      roles: [role("Legacy A", { permissions: ["pay"] }), role("Till", { permissions: ["pay"] })],
      members: [
        member("ada@example.com", { roles: ["Legacy A", "Till"] }),
        member("eve@auditor.example", { roles: ["role_admin"] }),
      ],
    }),
    live([ADMIN, LEGACY], [EVE, liveMember("mem_a", "ada@example.com", { roles: ["role_1"] })]),
  );
  expect(brief(made)).toEqual([]);
  expect(made.impact).toEqual({ members: [], permissions: [], roles: [] });
  expect(briefFindings(made).filter((one) => one.startsWith("error"))).toEqual([
    "error member-role-ignored ada@example.com",
    "error member-role-ignored ada@example.com",
    "error member-ignored eve@auditor.example",
    "error role-ignored Legacy A",
    "error role-ignored Till",
  ]);
});

test("an entry that is ignored by its address still stands for whom it is pinned to, who is not removed", () => {
  const made = planOf(
    desired({
      ignore: { roles: ["Till"], members: ["*@auditor.example"] },
      roles: [role("Till", { id: "role_1", permissions: [] })],
      members: [member("bob@auditor.example", { id: "mem_a", roles: [] })],
    }),
    live([LEGACY], [liveMember("mem_a", "ada@example.com")]),
  );
  expect(brief(made)).toEqual([]);
  expect(made.findings.map(({ code }) => code)).toEqual(["member-ignored", "role-ignored"]);
});

test("a predefined role is suggested by its id to a rule that writes its name", () => {
  const policies = { ...desired().policies, maxHolders: { Admin: 1 } };
  const { findings } = planOf(desired({ policies }), live());
  expect(findings.map(({ code, hint }) => `${code} ${hint}`)).toEqual([
    'rule-role-unknown Did you mean "role_admin"?',
  ]);
});

test("an expired invitation is not renewed to the address of somebody ignored, which the service would refuse", () => {
  const old = liveMember("mem_old", "old@example.com", { status: "expired", roles: ["role_1"] });
  const entry = member("eve@auditor.example", { id: "mem_old", roles: ["role_admin"] });
  const of = (rest: Partial<DesiredState>, eve = EVE) =>
    planOf(
      desired({ ignore: { roles: [], members: ["mem_e"] }, members: [entry], ...rest }),
      live([ADMIN, LEGACY], [old, eve]),
    );
  const refused = of({});
  expect(brief(refused)).toEqual([]);
  expect(briefFindings(refused)).toContain("error member-ignored eve@auditor.example");
  const unrenewed = of({ sync: { ...SYNC, reinvite: false } });
  expect(briefFindings(unrenewed).filter((one) => one.startsWith("error"))).toEqual([]);
  const ended = of({ members: [{ ...entry, until: until("1970-01-01") }] });
  expect([brief(ended), briefFindings(ended).filter((one) => one.startsWith("error"))]).toEqual([
    ["delete member old@example.com"],
    [],
  ]);
  const beside = of({}, { ...EVE, status: "expired" });
  expect(briefFindings(beside).filter((one) => one.startsWith("error"))).toEqual([]);
});
