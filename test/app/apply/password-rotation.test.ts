import { expect, test } from "vitest";
import { passwordsFor, rotationsFor, rotationTargets } from "../../../src/app/apply/passwords.ts";
import { planRotation } from "../../../src/kernel/plan/plan-rotation.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveMember, LiveState } from "../../../src/model/live.ts";
import {
  desired,
  live,
  liveMember,
  liveRole,
  matches,
  member,
  NOW,
  planOf,
  role,
} from "../../support/build.ts";

const managed = { passwordEnv: "TILL_7" };

function till(rest: Partial<LiveMember> = {}): LiveMember {
  const user = {
    id: "u",
    email: "Till@example.com",
    mfaOnLogin: false,
    type: "managed_user",
  };
  return liveMember("mem_1", "till@example.com", { user, ...rest });
}

function rotate(emails: readonly string[], state: DesiredState, is: LiveState) {
  const plan = planOf(state, is);
  const planned = {
    session: { state },
    desired: state,
    live: is,
    plan,
    planAt: () => plan,
    judgeAt: () => () => plan,
    planWithout: () => plan,
  };
  return rotationsFor(emails, [planned], NOW).get("MC1") ?? [];
}

function rotationPlan(emails: readonly string[], state: DesiredState, is: LiveState) {
  const input = { desired: state, live: is, service: "https://service.example", now: NOW, matches };
  return planRotation(input, rotationTargets(emails));
}

const IS = live([liveRole("role_1", "A")], [till({ roles: ["role_1"], metadata: { shop: 7 } })]);
const WANT = desired({
  roles: [role("A")],
  members: [member("till@example.com", { roles: ["A"], managed }), member("ada@example.com")],
});

test("a password is set also where nothing else changes, and everything else goes along as it is", () => {
  expect(rotate(["TILL@example.com"], WANT, IS)).toMatchObject([
    {
      kind: "update",
      id: "mem_1",
      passwordEnv: "TILL_7",
      fields: [],
      before: { roles: [{ id: "role_1", name: "A" }], metadata: { shop: 7 } },
      after: { roles: [{ id: "role_1", name: "A" }], metadata: { shop: 7 } },
    },
  ]);
});

test("nothing but the password is set, whatever else a plan would change", () => {
  const want = desired({ ...WANT, members: [member("till@example.com", { roles: [], managed })] });
  expect(planOf(want, IS).changes).not.toEqual([]);
  expect(rotationPlan(["till@example.com"], want, IS)).toMatchObject({
    changes: [],
    deferred: [],
    refusals: [],
    findings: [],
  });
  const roles = [{ id: "role_1", name: "A" }];
  expect(rotate(["till@example.com"], want, IS)).toMatchObject([{ before: { roles }, after: { roles } }]);
});

test("a pattern leaves disabled users out, and says how many and who", () => {
  const tills = [1, 2, 3].map((n) => `till-${n}@shop.example`);
  const state = desired({ members: tills.map((email) => member(email, { managed })) });
  const is = live(
    [],
    tills.map((email, n) => {
      const user = { id: "u", email, mfaOnLogin: false, type: "managed_user" };
      return liveMember(`mem_${n}`, email, { user, status: n === 0 ? "accepted" : "disabled" });
    }),
  );
  expect(rotate(["till-*"], state, is).map(({ name }) => name)).toEqual(["till-1@shop.example"]);
  const { findings, refusals } = rotationPlan(["till-*"], state, is);
  expect(refusals).toEqual([]);
  expect(findings.map(({ message }) => message)).toEqual([
    "Skipped, since a new password would enable them: 2 disabled users (till-2@shop.example, till-3@shop.example).",
  ]);
});

test("a disabled user who is named needs an override, which holds for these users alone", () => {
  const email = "till@example.com";
  const state = desired({
    ...WANT,
    members: [member(email, { managed }), member("b@example.com", { managed })],
  });
  const user = { id: "u", email: "b@example.com", mfaOnLogin: false, type: "managed_user" };
  const other = liveMember("mem_2", "b@example.com", { user, status: "disabled" });
  const is = live(IS.roles, [till({ status: "disabled" }), other]);
  const plan = rotationPlan([email], state, is);
  expect(plan.refusals).toMatchObject([
    {
      rule: "guard",
      code: "password-enables",
      name: email,
      message: "till@example.com is disabled, and a new password would enable this user.",
      override: "password-enables=till@example.com",
    },
  ]);
  expect(rotate([email], state, is)).toMatchObject([
    { name: email, before: { status: "disabled" }, after: { status: "accepted" } },
  ]);
  const both = rotationPlan([email, "b@example.com"], state, is);
  expect(both.refusals).toHaveLength(2);
  expect(both.fingerprint).not.toBe(plan.fingerprint);
});

test("who is not live yet has to be created first", () => {
  expect(() => rotate(["till@example.com"], WANT, live(IS.roles))).toThrow(
    "--rotate-password till@example.com: MC1 has no such member: apply first.",
  );
});

test("a glob takes the managed members that are there and stay, and has to match one", () => {
  const tills = [1, 2, 3, 4].map((n) => `Till-${n}@shop.example`);
  const state = desired({
    roles: [role("A")],
    members: [
      ...tills.map((email, n) =>
        member(email, { managed, ...(n === 3 && { until: { text: "2020-01-01", ends: 1 } }) }),
      ),
      member("till-9@shop.example"),
    ],
  });
  const is = live(
    [],
    tills
      .slice(1)
      .map((email, n) =>
        liveMember(`mem_${n}`, email, { user: { id: "u", email, mfaOnLogin: false, type: "managed_user" } }),
      ),
  );
  const names = (...wanted: readonly string[]) => rotate(wanted, state, is).map(({ name }) => name);
  expect(names("till-*@shop.example")).toEqual([tills[1], tills[2]]);
  expect(names("TILL-[23]*", "till-2@shop.example")).toEqual([tills[1], tills[2]]);
  expect(() => names("till-*", "kiosk-*")).toThrow(
    "--rotate-password kiosk-*: no file lists an address that it matches as managed.",
  );
  expect(() => names("till-9*")).toThrow("no file lists an address that it matches as managed.");
  expect(() => names("till-4@shop.example")).toThrow(
    "according to the files, it is not a member of MC1 now.",
  );
});

test("of merchants that cannot be planned nobody says what their files list", () => {
  expect(() => rotationsFor(["till@example.com"], [], NOW, false)).toThrow(
    "no file of a merchant that could be planned lists this address as managed.",
  );
});

test.each<[what: string, email: string, state: DesiredState, is: LiveState, says: string]>([
  [
    "who is in no file",
    "eve@example.com",
    WANT,
    IS,
    "eve@example.com: no file lists this address as managed.",
  ],
  ["whom the file does not manage", "ada@example.com", WANT, IS, "no file lists this address as managed."],
  [
    "who is no user of the merchant's own",
    "till@example.com",
    WANT,
    live(IS.roles, [liveMember("mem_1", "till@example.com", { roles: ["role_1"] })]),
    "it is not a managed user at MC1.",
  ],
  [
    "whose membership has ended",
    "till@example.com",
    desired({
      ...WANT,
      members: [member("till@example.com", { managed, until: { text: "2020-01-01", ends: 1 } })],
    }),
    IS,
    "according to the files, it is not a member of MC1 now.",
  ],
])("nobody's password is set %s", (_, email, state, is, says) => {
  expect(() => rotate([email], state, is)).toThrow(says);
});

test("a password that is to be set has to be there, and long enough, before anything is asked", () => {
  const rotations = rotate(["till@example.com"], WANT, IS);
  const plan = planOf(desired(), live());
  expect(() => passwordsFor([plan], rotations, {})).toThrow(
    "Passwords of --rotate-password come from the environment: TILL_7 is not set.",
  );
  expect(() => passwordsFor([plan], rotations, { TILL_7: "seven77" })).toThrow("TILL_7 has fewer than 8");
  expect(passwordsFor([plan], rotations, { TILL_7: "eight888" })("TILL_7")).toBe("eight888");
  // Characters as the service counts them, not UTF-16 code units.
  expect(() => passwordsFor([plan], rotations, { TILL_7: "🔑".repeat(7) })).toThrow(
    "TILL_7 has fewer than 8",
  );
  expect(passwordsFor([plan], rotations, { TILL_7: "🔑".repeat(8) })("TILL_7")).toBe("🔑".repeat(8));
  for (const untypeable of [
    "eight888\n",
    "eight888\r\n",
    "one\nline 2",
    "esc\u001b[31mape",
    "bytes\uFFFD\uFFFD\uFFFD",
  ]) {
    expect(() => passwordsFor([plan], rotations, { TILL_7: untypeable })).toThrow(
      "TILL_7 has a line break, a control character or invalid UTF-8.",
    );
  }
});
