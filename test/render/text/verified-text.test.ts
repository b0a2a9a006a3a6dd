import { describe, expect, test } from "vitest";
import type { MerchantOutcome } from "../../../src/model/apply.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { PLAIN } from "../../../src/render/style.ts";
import { renderOutcomes, renderUnverified, renderVerified } from "../../../src/render/text/verified-text.ts";
import { desired, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";

const IS = live([liveRole("role_1", "Till\u001b[2J")], [liveMember("mem_1", "ada@example.com")]);
const WANT = desired({
  roles: [role("Till\u001b[2J", { permissions: ["a"], description: "x" })],
  members: [],
});

const clean = (): Plan => planOf(desired(), IS);

/** A removal that waits for somebody to accept. */
function deferred(plan: Plan): Plan {
  const change = planOf(WANT, IS).changes.find(({ resource }) => resource === "member");
  if (!change) throw new Error("no change");
  return { ...plan, deferred: [{ change, role: "Owner", waitsFor: ["bob@example.com", "cy@example.com"] }] };
}

test("reports that no changes remain", () => {
  expect(renderVerified(clean(), 0, PLAIN)).toBe("✓ MC1: verified, no changes remain.\n");
});

test("what was left out is no difference, and is not forgotten", () => {
  expect(renderVerified(clean(), 2, PLAIN)).toBe("✓ MC1: verified, no changes remain except 2 left out.\n");
});

test("a member who cannot be created is named, though no request could change that", () => {
  const { roles: _, ...bare } = member("bob\u001b[2J@example.com");
  expect(renderVerified(planOf(desired({ members: [bare] }), live()), 0, PLAIN)).toBe(
    [
      "✓ MC1: verified, no changes remain except 1 that cannot be created.",
      "    member bob\\u{1b}[2J@example.com: not created, since the file declares no roles for it",
      "",
    ].join("\n"),
  );
});

test("deferred changes are no difference, and are listed with whom they wait for", () => {
  expect(renderVerified(deferred(clean()), 0, PLAIN)).toBe(
    [
      "✓ MC1: verified, no changes remain except 1 deferred.",
      '    delete member ada@example.com: waits until bob@example.com or cy@example.com has accepted, so that "Owner" keeps enough holders',
      "",
    ].join("\n"),
  );
});

test("what is left is named, with its fields, and made safe to show", () => {
  expect(renderVerified(deferred(planOf(WANT, IS)), 0, PLAIN)).toBe(
    [
      "",
      "✗ MC1: verification found 2 remaining changes; somebody else may have changed something in the meantime:",
      "    update role Till\\u{1b}[2J: description, permissions",
      "    delete member ada@example.com",
      "  Deferred:",
      '    delete member ada@example.com: waits until bob@example.com or cy@example.com has accepted, so that "Owner" keeps enough holders',
      'Run "rolecall plan" to see more, and apply again.',
      "",
    ].join("\n"),
  );
});

test("an error in the new plan is reported", () => {
  const twice = live([], [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "ada@example.com")]);
  const text = renderVerified(planOf(desired({ members: [member("ada@example.com")] }), twice), 0, PLAIN);
  expect(text).toContain("✗ MC1: verification found 1 problem");
  expect(text).toContain("    error: ");
});

test("where it could not be read again, the changes are done all the same", () => {
  const failure = { code: "network", message: "GET /x got no answer.", hint: "Check the network." } as const;
  expect(renderUnverified("MC1", failure, PLAIN)).toBe(
    [
      "",
      "? MC1: the changes are done, but not verified: it could not be read again.",
      "error: GET /x got no answer.",
      "  → Check the network.",
      'Run "rolecall plan" to see whether changes remain.',
      "",
    ].join("\n"),
  );
  expect(renderUnverified("MC1", "The run was stopped by SIGINT.", PLAIN)).toContain(
    "but not verified: the run was stopped by SIGINT.\n",
  );
});

test("on a narrow terminal the result breaks between words", () => {
  const lines = renderVerified(clean(), 2, { ...PLAIN, columns: 30 }).split("\n");
  expect(lines).toEqual(["✓ MC1: verified, no changes", "  remain except 2 left out.", ""]);
});

describe("how an apply of several merchants ended", () => {
  test("is said once, with the merchants that are not as their files say and the first reason", () => {
    const outcomes: readonly MerchantOutcome[] = [
      { merchant: "MC1", status: "applied", reasons: [] },
      { merchant: "MC2", status: "unchanged", reasons: [] },
      { merchant: "MC3", status: "refused", reasons: ["5 of 6 members would be removed.", "x", "y"] },
      { merchant: "MC4", status: "failed", reasons: [] },
      { merchant: "MC5\u001b[2J", status: "partial", reasons: ["update member a@example.com: gone."] },
    ];
    expect(renderOutcomes(outcomes, PLAIN)).toBe(
      [
        "",
        "5 merchants: 1 applied, 1 with nothing to do, 1 partly applied, 1 refused, 1 failed.",
        "✗ MC3  refused: 5 of 6 members would be removed. (and 2 more reasons)",
        "✗ MC4  failed",
        "! MC5\\u{1b}[2J  partly applied: update member a@example.com: gone.",
        "",
      ].join("\n"),
    );
  });

  test.each<readonly [what: string, outcomes: readonly MerchantOutcome[]]>([
    [
      "every one is applied",
      ["MC1", "MC2"].map((merchant) => ({ merchant, status: "applied", reasons: [] })),
    ],
    ["there is one merchant only", [{ merchant: "MC1", status: "failed", reasons: ["Gone."] }]],
  ])("is not repeated if %s", (_, outcomes) => {
    expect(renderOutcomes(outcomes, PLAIN)).toBe("");
  });
});
