import { expect, test } from "vitest";
import { passwordsFor, rotationsFor } from "../../../src/app/apply/passwords.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveMember, LiveState } from "../../../src/model/live.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

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
  return (
    rotationsFor(emails, [
      { session: { state }, live: is, plan, planAt: () => plan, planWithout: () => plan },
    ]).get("MC1") ?? []
  );
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

test("where the plan changes that member, the password goes with what the plan makes of it", () => {
  const want = desired({ ...WANT, members: [member("till@example.com", { roles: [], managed })] });
  expect(rotate(["till@example.com"], want, IS)).toMatchObject([
    { before: { roles: [] }, after: { roles: [] } },
  ]);
});

test("who is yet to be created gets the password with that", () => {
  expect(rotate(["till@example.com"], WANT, live(IS.roles))).toEqual([]);
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
  expect(() => names("till-4@shop.example")).toThrow("the plan removes this member from MC1.");
});

test("of merchants that cannot be planned nobody says what their files list", () => {
  expect(() => rotationsFor(["till@example.com"], [], false)).toThrow(
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
    "whom the plan removes",
    "till@example.com",
    desired({
      ...WANT,
      members: [member("till@example.com", { managed, until: { text: "2020-01-01", ends: 1 } })],
    }),
    IS,
    "the plan removes this member from MC1.",
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
});
