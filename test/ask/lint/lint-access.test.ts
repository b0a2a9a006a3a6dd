import { describe, expect, test } from "vitest";
import { declaredSnapshot, liveSnapshot } from "../../../src/ask/access/access-snapshot.ts";
import { lintAccess, lintTable } from "../../../src/ask/lint/lint-access.ts";
import type { LintContext } from "../../../src/ask/lint/lint-context.ts";
import { sensitiveIn } from "../../../src/kernel/rules/settings/sensitive.ts";
import type { Check, DesiredState, Grant } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import {
  desired,
  invited,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  role,
  SYNC,
  until,
} from "../../support/build.ts";
import { processorTime } from "../../support/processor-time.ts";

interface Given {
  readonly states: readonly DesiredState[];
  readonly live?: LiveState;
  /** The content of shop.yaml. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly thorough?: boolean;
}

/** Returns what the rules find, in short: the code, the path and the message. */
function found({ states, live: is, fields = {}, thorough = false }: Given): readonly string[] {
  const context: LintContext = {
    merchants: states.map((state) => ({
      state,
      declared: declaredSnapshot(state, NOW),
      live: is ? { state: is, access: liveSnapshot(is, state, null) } : null,
    })),
    files: [{ file: "shop.yaml", fields }],
    now: NOW,
    timeOf: Date.parse,
    thorough,
    matches,
    isSensitive: sensitiveIn(),
  };
  return lintAccess(context).map(
    ({ code, origin, message }) => `${code} ${origin.file}:${origin.path.join(".")} ${message}`,
  );
}

const at = (...path: readonly (string | number)[]) => ({ origin: { file: "shop.yaml", path } });

describe("roles", () => {
  const roles = (small: readonly string[], large: readonly string[]) => [
    desired({
      roles: [
        role("A", { permissions: large, ...at("roles", 0) }),
        role("B", { permissions: small, ...at("roles", 1) }),
      ],
    }),
  ];

  test("equal ones are found once, at the later one", () => {
    expect(found({ states: roles(["x", "y"], ["y", "x"]) })).toEqual([
      'equal-roles shop.yaml:roles.1 "B" grants the same permissions as "A".',
    ]);
    expect(found({ states: roles([], []) })).toEqual([]);
    expect(found({ states: roles(["x"], ["y"]), thorough: true })).toEqual([]);
  });

  test("a contained one is found if little is missing, and thoroughly always", () => {
    expect(found({ states: roles(["x", "y", "z"], ["w", "x", "y", "z"]) })).toEqual([
      'contained-role shop.yaml:roles.1 "A" grants all that "B" does, and 1 more permission.',
    ]);
    expect(found({ states: roles(["x"], ["x", "y"]) })).toEqual([]);
    expect(found({ states: roles(["x", "y", "z"], ["v", "w", "x", "y", "z"]) })).toEqual([]);
    expect(found({ states: roles(["x"], ["x", "y", "z"]), thorough: true })).toEqual([
      'contained-role shop.yaml:roles.1 "A" grants all that "B" does, and 2 more permissions.',
    ]);
  });

  test("each of many is compared once: with the first that is equal, and with the smallest that contains it", () => {
    const many = (...permissions: readonly (readonly string[])[]) =>
      desired({
        roles: permissions.map((list, index) =>
          role(`R${index}`, { permissions: list, ...at("roles", index) }),
        ),
      });
    const nested = many(["x"], ["x", "y"], ["x", "y", "z"], ["y", "x"], ["x", "y"]);
    expect(found({ states: [nested], thorough: true })).toEqual([
      'contained-role shop.yaml:roles.1 "R2" grants all that "R1" does, and 1 more permission.',
      'contained-role shop.yaml:roles.0 "R1" grants all that "R0" does, and 1 more permission.',
      'equal-roles shop.yaml:roles.3 "R3" grants the same permissions as "R1".',
      'equal-roles shop.yaml:roles.4 "R4" grants the same permissions as "R1".',
    ]);
    const count = 20_000;
    const before = processorTime();
    const alike = many(...Array.from({ length: count }, (_, index) => ["x", `y${index >> 1}`]));
    expect(found({ states: [alike], thorough: true })).toHaveLength(count / 2);
    expect(processorTime() - before).toBeLessThan(5000);
  });

  test("equal ones of several merchants' own files are found once for all of them", () => {
    const own = (code: string, file: string, permissions: readonly string[]) =>
      desired({
        merchant: code,
        origin: { file, path: [] },
        roles: ["A", "B"].map((name, index) =>
          role(name, { permissions: [...permissions, name], origin: { file, path: ["roles", index] } }),
        ),
      });
    expect(found({ states: [own("MC1", "1.yaml", ["x"]), own("MC2", "2.yaml", ["x"])] })).toEqual([
      'shareable-roles 1.yaml:roles.0 2 files declare "A" and 1 more role identically: 1.yaml, 2.yaml.',
    ]);
    expect(found({ states: [own("MC1", "1.yaml", ["x"]), own("MC2", "2.yaml", ["y"])] })).toEqual([]);
  });
});

describe("roles of shared files", () => {
  const shop = (index: number, held: readonly string[], rest: Partial<DesiredState> = {}) =>
    desired({
      merchant: `MC${index}`,
      origin: { file: `${index}.yaml`, path: [] },
      included: ["shop.yaml"],
      roles: [role("Lead", at("roles", 0))],
      members: [member("ada@x", { roles: held })],
      ...rest,
    });

  test("one that nobody holds is found, if that is known of every merchant", () => {
    expect(found({ states: [shop(1, []), shop(2, [])] })).toEqual([
      'unheld-shared-role shop.yaml:roles.0 Nobody holds "Lead" at any of the 2 merchants.',
    ]);
    expect(found({ states: [shop(1, []), shop(2, ["Lead"])] })).toEqual([]);
    expect(found({ states: [shop(1, []), shop(2, [], { sync: { ...SYNC, members: "additive" } })] })).toEqual(
      [],
    );
    expect(found({ states: [shop(1, [], { origin: { file: "shop.yaml", path: [] } })] })).toEqual([]);
  });
});

describe("grants", () => {
  const roles = [role("Lead", { permissions: ["a", "b", "c"] }), role("Desk", { permissions: ["a"] })];
  const holding = (...held: readonly (string | Grant)[]) => [
    desired({ roles, members: [member("ada@x", { roles: held, ...at("members", 0) })] }),
  ];

  test("one whose role another one contains is found", () => {
    expect(found({ states: holding("Lead", "Desk") })).toEqual([
      'redundant-grant shop.yaml:members.0.roles.1 This member also holds "Lead", which grants everything that "Desk" does.',
    ]);
    expect(found({ states: holding("Lead") })).toEqual([]);
  });

  test("of equal ones all but the first that lasts longest are", () => {
    const equal = ["A", "B", "C"].map((name) => role(name, { permissions: ["a"] }));
    const held = [{ role: "A", until: until("2026-07-01") }, "B", "C"];
    const state = desired({ roles: equal, members: [member("ada@x", { roles: held, ...at("members", 0) })] });
    expect(found({ states: [state] }).filter((finding) => finding.startsWith("redundant-grant"))).toEqual([
      'redundant-grant shop.yaml:members.0.roles.0 This member also holds "B", which grants everything that "A" does.',
      'redundant-grant shop.yaml:members.0.roles.2 This member also holds "B", which grants everything that "C" does.',
    ]);
  });

  test("one that lasts longer than the other, or is not in force, is none", () => {
    expect(found({ states: holding({ role: "Lead", until: until("2026-07-01") }, "Desk") })).toEqual([]);
    expect(found({ states: holding({ role: "Lead", until: until("2026-05-01") }, "Desk") })).toEqual([]);
    expect(found({ states: holding("Lead", { role: "Desk", until: until("2026-07-01") }) })).toHaveLength(1);
  });
});

describe("members", () => {
  const roles = [
    role("Admin", { permissions: ["members_update", "view"] }),
    role("Clerk", { permissions: ["view"] }),
  ];

  test("the only one with a sensitive permission is found, where nobody else can have it", () => {
    const one = desired({
      roles,
      members: [
        member("ada@x", { roles: ["Admin"], ...at("members", 0) }),
        member("bob@x", { roles: ["Clerk"] }),
      ],
    });
    expect(found({ states: [one] })).toEqual([
      "sole-holder shop.yaml:members.0 Only ada@x can use members_update, according to the files.",
    ]);
    const two = desired({
      roles,
      members: [member("ada@x", { roles: ["Admin"] }), member("bob@x", { roles: ["Admin"] })],
    });
    expect(found({ states: [two] })).toEqual([]);
    const unknown = desired({
      roles,
      members: [member("ada@x", { roles: ["Admin"] }), member("bob@x", { roles: ["role_owner"] })],
    });
    expect(found({ states: [unknown] })).toEqual([]);
    expect(found({ states: [{ ...one, sync: { ...SYNC, members: "additive" } }] })).toEqual([]);
    expect(found({ states: [{ ...one, ignore: { roles: [], members: ["*@y"] } }] })).toEqual([]);
  });

  const state = desired({
    roles,
    members: [
      member("ada@x", { roles: ["Admin"], ...at("members", 0) }),
      member("bob@x", { roles: ["Admin"] }),
    ],
  });
  const admin = liveRole("r1", "Admin", { permissions: ["members_update"] });
  const bob = liveMember("m2", "bob@x", {
    roles: ["r1"],
    user: { id: "u2", email: "bob@x", mfaOnLogin: true, type: "user" },
  });

  test("one with control and without MFA is found; not one of whom it is unknown", () => {
    const with2 = (mfaOnLogin: boolean | null) =>
      live(
        [admin],
        [
          liveMember("m1", "ada@x", {
            roles: ["r1"],
            user: { id: "u1", email: "ada@x", mfaOnLogin, type: "user" },
          }),
          bob,
        ],
      );
    expect(found({ states: [state], live: with2(false) })).toEqual([
      'no-mfa shop.yaml:members.0 This member holds "Admin", which controls access or money, but has no MFA on login.',
    ]);
    expect(found({ states: [state], live: with2(null) })).toEqual([]);
    expect(found({ states: [state], live: with2(true) })).toEqual([]);
  });

  test("an invitation that has expired or soon will is found", () => {
    const other = liveMember("m3", "cy@x", {
      roles: ["r1"],
      user: { id: "u3", email: "cy@x", mfaOnLogin: true, type: "user" },
    });
    const waiting = (status: "pending" | "expired", expiresAt: string) =>
      live(
        [admin],
        [
          invited("m1", "ada@x", { roles: ["r1"], status, invite: { email: "ada@x", expiresAt } }),
          bob,
          other,
        ],
      );
    expect(found({ states: [state], live: waiting("expired", "2026-06-01T00:00:00Z") })).toEqual([
      "expiring-invitation shop.yaml:members.0 The invitation of this member has expired.",
    ]);
    expect(found({ states: [state], live: waiting("pending", "2026-06-17T00:00:00Z") })).toEqual([
      "expiring-invitation shop.yaml:members.0 The invitation of this member expires soon, at 2026-06-17T00:00:00Z.",
    ]);
    expect(found({ states: [state], live: waiting("pending", "2026-06-30T00:00:00Z") })).toEqual([]);
  });
});

describe("rules", () => {
  const roles = [role("A", { permissions: ["x"] }), role("B", { permissions: ["y"] })];
  const members = [member("ada@x.example", { roles: ["A"] }), member("bob@x.example", { roles: ["A", "B"] })];
  const state = desired({ roles, members });
  test("guards that refuse nothing are found", () => {
    const guards = { max_removals: "100%", min_holders: { A: 0, B: 1 } };
    expect(found({ states: [state], fields: { guards } })).toEqual([
      "idle-guard shop.yaml:guards.max_removals A limit of 100% lets a plan remove everything.",
      'idle-guard shop.yaml:guards.min_holders.A A minimum of 0 has no effect on "A".',
    ]);
    expect(found({ states: [state], fields: { guards: { max_removals: "99%" } } })).toEqual([]);
  });

  test("limits of holders that nobody can exceed are found, if all members are known", () => {
    const fields = { policies: { max_holders: { A: 2, B: 1 } } };
    expect(found({ states: [state], fields })).toEqual([
      'idle-policy shop.yaml:policies.max_holders.A At most 2 may hold "A", and the files list only 2 members.',
    ]);
    expect(found({ states: [{ ...state, sync: { ...SYNC, members: "additive" } }], fields })).toEqual([]);
  });

  test("a domain of nobody is found, if no merchant with the file has one", () => {
    const fields = { policies: { email_domains: ["X.example", "*.example", "y.example", "*.x.example"] } };
    expect(found({ states: [state], fields })).toEqual([
      'unused-domain shop.yaml:policies.email_domains.2 No member of the files has an address of "y.example", which is allowed.',
      'unused-domain shop.yaml:policies.email_domains.3 No member of the files has an address of "*.x.example", which is allowed.',
    ]);
    const other = desired({
      merchant: "MC2",
      origin: { file: "other.yaml", path: [] },
      included: ["shop.yaml"],
      members: [member("eve@y.example"), member("eve@a.x.example")],
    });
    expect(found({ states: [state, other], fields })).toEqual([]);
  });

  test("patterns that match nothing are found, where everything is live", () => {
    const fields = {
      ignore: { roles: ["Old*"], members: ["*@gone.example", "*@live.example"] },
      guards: { protect: { roles: ["A", "Z*"], members: ["ADA@*"] } },
    };
    expect(found({ states: [state], fields })).toEqual([]);
    const is = live([liveRole("r1", "A")], [liveMember("m1", "cy@live.example")]);
    expect(found({ states: [state], fields, live: is })).toEqual([
      'unmatched-pattern shop.yaml:ignore.roles.0 "Old*" matches no role, live or declared.',
      'unmatched-pattern shop.yaml:ignore.members.0 "*@gone.example" matches no member, live or declared.',
      'unmatched-pattern shop.yaml:guards.protect.roles.1 "Z*" matches no role, live or declared.',
    ]);
  });

  const checked = (check: Check, rest: Partial<DesiredState> = {}) =>
    found({ states: [{ ...state, checks: [check], ...rest }] });

  test("checks that cannot fail are found", () => {
    const atMost = (most: number): Check => ({ kind: "at-most", can: "x", atMost: most, ...at("checks", 0) });
    expect(checked(atMost(2))).toEqual([
      "idle-check shop.yaml:checks.0.at_most At most 2 may use x, and the files list only 2 members.",
    ]);
    expect(checked(atMost(1))).toEqual([]);
    const only = (...names: readonly string[]): Check => ({
      kind: "only",
      can: "x",
      only: names,
      ...at("checks", 0),
    });
    expect(checked(only("ada@x.example", "role:A"))).toEqual([
      'idle-check shop.yaml:checks.0.only.1 Everybody holds "A", so everybody may use x.',
    ]);
    expect(checked(only("ada@x.example", "role:B"))).toEqual([]);
    const none: Check = { kind: "only", can: "z", only: [], ...at("checks", 0) };
    // Unless it is live, nobody knows what predefined roles grant.
    expect(checked(none)).toEqual([]);
    const is = live([
      liveRole("r1", "A", { permissions: ["x"] }),
      liveRole("r2", "B", { permissions: ["y"] }),
    ]);
    expect(found({ states: [{ ...state, checks: [none] }], live: is })).toContain(
      "idle-check shop.yaml:checks.0.can No role grants z, so nobody has it.",
    );
    const cannot = (...names: readonly string[]): Check => ({
      kind: "cannot",
      member: "ada@x.example",
      cannot: names,
      ...at("checks", 0),
    });
    expect(checked(cannot("y", "z"))).toEqual([
      "idle-check shop.yaml:checks.0.cannot.1 No role grants z, so nobody has it.",
    ]);
    expect(checked(cannot("y"))).toEqual([]);
    expect(checked(cannot("z"), { sync: { ...SYNC, roles: "additive" } })).toEqual([]);
    expect(
      checked(cannot("z"), { members: [...members, member("eve@x.example", { roles: ["role_owner"] })] }),
    ).toEqual([]);
  });
});

test("a finding in a shared file names the merchants, unless it holds for all that have the file", () => {
  const shared = [role("Lead", { permissions: ["a", "b", "c"] }), role("Desk", { permissions: ["a"] })];
  const shop = (index: number, isRedundant: boolean) =>
    desired({
      merchant: `MC${index}`,
      origin: { file: `${index}.yaml`, path: [] },
      included: ["shop.yaml"],
      roles: shared,
      members: [member("ada@x", { roles: isRedundant ? ["Lead", "Desk"] : ["Desk"], ...at("members", 0) })],
    });
  const hints = (states: readonly DesiredState[]) =>
    lintAccess({
      merchants: states.map((state) => ({ state, declared: declaredSnapshot(state, NOW), live: null })),
      files: [],
      now: NOW,
      timeOf: Date.parse,
      thorough: false,
      matches,
      isSensitive: sensitiveIn(),
    }).map(({ hint }) => hint);
  const all = Array.from({ length: 300 }, (_, index) => index);
  expect(hints(all.map((index) => shop(index, true)))).toEqual(['Without "Desk", they can do the same.']);
  expect(hints(all.map((index) => shop(index, index < 5)))).toEqual([
    'Without "Desk", they can do the same. Found at MC0, MC1, MC2 and 2 more merchants: 5 of the 300 merchants that include this file.',
  ]);
});

test("every code has a summary that ends like a sentence", () => {
  expect(lintTable().filter(({ summary }) => !/^[A-Z].*\.$/.test(summary))).toEqual([]);
});

describe("a list", () => {
  const people = (...names: readonly string[]) => ({
    members: names.map((name) => ({ email: `${name}@example.com` })),
  });
  const states = [desired({ members: [], ...at() })];
  const unsorted = (fields: Readonly<Record<string, unknown>>): readonly string[] =>
    found({ states, fields }).filter((text) => text.startsWith("unsorted-entry"));

  test("that was sorted has an entry that is not in its place", () => {
    expect(unsorted(people("a", "b", "C", "d", "e", "f", "g", "bo"))).toEqual([
      'unsorted-entry shop.yaml:members.7 "bo@example.com" is out of order in "members"; the rest of the list is sorted.',
    ]);
    const permissions = ["c_x", "a_x", "b_x", "d_x", "e_x", "f_x", "g_x", "h_x"];
    expect(unsorted({ roles: [{ name: "A", permissions }] })).toEqual([
      'unsorted-entry shop.yaml:roles.0.permissions.0 "c_x" is out of order in "permissions"; the rest of the list is sorted.',
    ]);
    expect(unsorted({ roles: [{ name: "A", adjust: { add: permissions } }] }).length).toBe(1);
    expect(unsorted({ members: [{ email: "a@example.com", roles: permissions }] }).length).toBe(1);
  });

  test("that is sorted, short, or in an order of the user's has none", () => {
    expect(unsorted(people("a", "b", "C", "d", "e", "f", "g", "h"))).toEqual([]);
    expect(unsorted(people("b", "a", "c"))).toEqual([]);
    expect(unsorted(people("h", "g", "f", "e", "d", "c", "b", "a"))).toEqual([]);
    expect(unsorted({ include: ["z", "a", "b", "c", "d", "e", "f", "g"], members: "x" })).toEqual([]);
  });
});
