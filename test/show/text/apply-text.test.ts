import { expect, test } from "vitest";
import type { Outcome } from "../../../src/model/apply.ts";
import type { Change, Plan } from "../../../src/model/plan.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderApplyEvent, renderDoneChanges, renderPasswords } from "../../../src/show/text/apply-text.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { richPlan } from "../../support/rich-plan.ts";

test("a password that was set, or was not, is told by its variable only", () => {
  const change = richPlan().changes.find((one) => one.resource === "member" && one.kind === "update");
  if (change?.resource !== "member" || change.kind !== "update") throw new Error("no update");
  const rotation = { ...change, fields: [], passwordEnv: "TILL_7" };
  const done = { status: "done", change: rotation, id: null, adopted: false } as const;
  const event = { type: "change-ended", merchant: "MC1", phase: "set-passwords", outcome: done } as const;
  expect(renderApplyEvent(event, PLAIN)).toBe(`✓ MC1  member ${change.name} password set from TILL_7`);
  const plan = { merchant: "MC1" };
  expect(renderPasswords([{ plan, passwords: [rotation] }], PLAIN)).toBe(
    `MC1: the password of ${change.name} will be set from TILL_7.\n\n`,
  );
  const many = { plan, passwords: Array.from({ length: 30 }, () => rotation) };
  expect(renderPasswords([many, { plan: { merchant: "MC2" }, passwords: [] }], PLAIN)).toBe(
    `The passwords of 30 managed users at MC1 will be set: ${change.name},\n  ${change.name}, ${change.name} and 27 more.\n\n`,
  );
  expect(renderPasswords([many, many], PLAIN)).toContain(
    "The passwords of 60 managed users at 2 merchants will",
  );
});

/** The end of an apply at a merchant where these people get a role, up to a failure. */
function endAt(merchant: string, people: number, done = people) {
  const emails = Array.from({ length: people }, (_, index) => `p${index}@example.com`);
  const is = live(
    [liveRole("role_1", "Auditor")],
    emails.map((email, index) => liveMember(`mem_${index}`, email)),
  );
  const plan: Plan = {
    ...planOf(desired({ members: emails.map((email) => member(email, { roles: ["Auditor"] })) }), is),
    merchant,
  };
  const outcomes = plan.changes.map(
    (change: Change, index): Outcome =>
      index < done
        ? { status: "done", change, id: null, adopted: false }
        : { status: "failed", change, failure: { code: "conflict", message: "No." } },
  );
  const result = { status: "done" as const, outcomes, writes: done, journalFailure: null, unrecorded: [] };
  return { plan, result, verification: null };
}

test("equal changes that are done share a line, those that failed are not among them", () => {
  expect(renderDoneChanges([endAt("MC1", 300)], PLAIN)).toBe("✓ updated 300 members: + Auditor\n");
  const ends = Array.from({ length: 60 }, (_, index) => endAt(`MC${index + 1}`, 5, index === 3 ? 4 : 5));
  expect(renderDoneChanges(ends, PLAIN)).toBe(
    [
      ...[0, 1, 2, 3].map((at) => `✓ updated p${at}@example.com: + Auditor in all 60 merchants\n`),
      "✓ updated p4@example.com: + Auditor in 59 merchants (all but MC4)\n",
    ].join(""),
  );
});

test("a large apply of different changes is cut, with a count", () => {
  const plan = planOf(
    desired({
      roles: Array.from({ length: 100 }, (_, index) => role(`Role ${index}`, { permissions: [`p${index}`] })),
    }),
    live(),
  );
  const outcomes = plan.changes.map(
    (change) => ({ status: "done", change, id: null, adopted: false }) as const,
  );
  const result = { status: "done" as const, outcomes, writes: 100, journalFailure: null, unrecorded: [] };
  const lines = renderDoneChanges([{ plan, result, verification: null }], PLAIN)
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(21);
  expect(lines[0]).toBe("✓ created role Role 0");
  expect(lines.at(-1)).toBe("  … and 80 more");
});
