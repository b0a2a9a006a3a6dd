import { expect, test } from "vitest";
import type { DesiredMember } from "../../../src/model/desired.ts";
import {
  brief,
  briefFindings,
  desired,
  from,
  live,
  liveMember,
  liveRole,
  member,
  planOf,
  role,
  SYNC,
  until,
} from "../../support/build.ts";

const CASHIER = liveRole("role_1", "Cashier");
const OLD = liveRole("role_2", "Old");
const IS = live([CASHIER, OLD], [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })]);
const LATER = from("2026-07-01");

type Entry = Omit<Partial<DesiredMember>, "roles"> & NonNullable<Parameters<typeof member>[1]>;

/** The findings of a plan for one entry, which the roles of the file delete `Old` for. */
function found(rest: Entry, email = "ada@example.com"): readonly string[] {
  return briefFindings(planOf(desired({ roles: [role("Cashier")], members: [member(email, rest)] }), IS));
}

test.each<readonly [string, Entry, string]>([
  [
    "a grant that begins later",
    { roles: ["Cashier", { role: "role_gone", from: LATER }] },
    "ada@example.com",
  ],
  [
    "the role of a suspended member",
    { roles: ["role_gone"], suspended: { until: until("2026-07-31") } },
    "ada@example.com",
  ],
  ["a role of a membership that begins later", { from: LATER, roles: ["role_gone"] }, "ada@example.com"],
  ["a role of somebody who joins later", { from: LATER, roles: ["role_gone"] }, "new@example.com"],
  [
    "a role of somebody who joins later, with a pin",
    { from: LATER, id: "mem_9", roles: ["role_gone"] },
    "new@example.com",
  ],
])("a role that does not exist is an error before the date comes: %s", (_, rest, email) => {
  expect(found(rest, email)).toContain(`error member-role-unknown ${email}`);
});

test("a later grant of a role that this plan deletes is an error now", () => {
  const entry = { roles: ["Cashier", { role: "role_2", from: LATER }] };
  expect(found(entry)).toEqual(["error member-role-removed ada@example.com"]);
  const kept = { sync: { ...SYNC, roles: "additive" }, members: [member("ada@example.com", entry)] } as const;
  const plan = planOf(desired({ roles: [role("Cashier")], ...kept }), IS);
  expect(briefFindings(plan)).toEqual([]);
  expect(brief(plan)).toEqual([]);
});

test("a role whose grant has ended may be gone", () => {
  expect(found({ roles: ["Cashier", { role: "role_gone", until: until("2026-06-01") }] })).toEqual([]);
  expect(found({ until: until("2026-06-01"), roles: ["role_gone"] })).toEqual([]);
});
