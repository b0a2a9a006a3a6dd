import { expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderDrifts } from "../../../src/show/text/drift-text.ts";
import { driftView } from "../../../src/show/view/drift-view.ts";
import {
  desired,
  from,
  live,
  liveMember,
  liveRole,
  member,
  NO_POLICIES,
  planOf,
  role,
} from "../../support/build.ts";

test("does not claim that there is no drift if an error prevents the comparison", () => {
  const is = live([liveRole("role_1", "Cashier")]);
  const textOf = (roles: readonly ReturnType<typeof role>[]): string => {
    const want = desired({ sync: { ...desired().sync, roles: "additive" }, roles });
    const times = { file: () => 0, live: () => 1_000_000 };
    const drift = driftOf({ desired: want, live: is }, planOf(want, is), times);
    return renderDrifts([driftView(drift)], PLAIN);
  };
  const pinned = role("Till", { id: "role_2" });
  expect(textOf([])).toContain("Drift: none.");
  expect(textOf([pinned])).toContain("Drift: unknown, because of the problems.");
  expect(textOf([pinned, role("Cashier", { permissions: ["p"] })])).toContain(
    "Drift: 1 difference (1 changed outside git); the rest is unknown.",
  );
});

test("no line is longer than a narrow terminal", () => {
  const is = live([liveRole("role_1", "Cashier")]);
  const want = desired({ roles: [] });
  const drift = driftOf({ desired: want, live: is }, planOf(want, is), {
    file: () => null,
    live: () => null,
  });
  const text = renderDrifts([driftView(drift)], { ...PLAIN, columns: 36 });
  expect(text).toContain("Different;");
  expect(text.split("\n").filter((line) => line.length > 36)).toEqual([]);
});

test("does not claim a gain from outside git if it is unknown which side changed the role", () => {
  const is = live(
    [liveRole("role_1", "Cashier", { permissions: ["payouts_edit"] })],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1"] })],
  );
  const want = desired({ roles: [role("Cashier")] });
  const textOf = (file: number | null): string => {
    const times = { file: () => file, live: () => 1_000_000 };
    return renderDrifts([driftView(driftOf({ desired: want, live: is }, planOf(want, is), times))], PLAIN);
  };
  expect(textOf(0)).toContain("! 1 member gained sensitive permissions outside git\n");
  expect(textOf(null)).toContain(
    "! 1 member gained sensitive permissions (outside git, or not applied yet)\n",
  );
});

test.each([
  ["accepted", "+ added ada@example.com\n"],
  ["pending", "+ added ada@example.com (pending)\n"],
] as const)(
  "an entry that begins later tells nothing of an invitation of a member who is %s",
  (status, row) => {
    const is = live([], [liveMember("mem_1", "ada@example.com", { status })]);
    const want = desired({ members: [member("ada@example.com", { from: from("2026-12-20") })] });
    const drift = driftOf({ desired: want, live: is }, planOf(want, is), {
      file: () => null,
      live: () => null,
    });
    expect(renderDrifts([driftView(drift)], PLAIN)).toContain(row);
  },
);

/** The drift of shops where nobody listed has an address of a domain that a shared file requires. */
function strangers(shops: readonly string[], people: number, placeOf = () => "shared.yaml:3:5") {
  return shops.map((merchant) => {
    const emails = Array.from(
      { length: people },
      (_, index) => `p${index}@${merchant.toLowerCase()}.example`,
    );
    const is = live(
      [],
      emails.map((email) => liveMember(`mem_${email}`, email)),
    );
    const want = desired({ merchant, policies: { ...NO_POLICIES, emailDomains: ["shop.example"] } });
    const drift = driftOf({ desired: want, live: is }, planOf(want, is), { file: () => 0, live: () => 0 });
    expect(drift.violations).toHaveLength(people);
    return driftView(drift, placeOf);
  });
}

test("a rule is counted and told once, however many people break it", () => {
  const [view] = strangers(["MC1"], 12);
  const text = renderDrifts(view === undefined ? [] : [view], PLAIN);
  expect(text.match(/policy email-domains/g)).toHaveLength(1);
  expect(text.replaceAll(/\s+/g, " ")).toContain("This also applies to 11 other members: p1@mc1.example,");
  expect(text).toContain("Drift: live access breaks 1 rule.");
});

test("a rule of a shared file is counted and told once, at however many merchants", () => {
  const text = renderDrifts(strangers(["MC1", "MC2", "MC3", "MC4", "MC5"], 2), PLAIN);
  expect(text.match(/policy email-domains/g)).toHaveLength(1);
  expect(text).toContain("5 merchants: live access breaks 1 rule.");
  expect(text).toMatch(/MC1 .*breaks rules$/m);
});

test("equal rules of the merchants' own files are told once, and counted", () => {
  let line = 0;
  const text = renderDrifts(
    strangers(["MC1", "MC2", "MC3", "MC4", "MC5"], 1, () => {
      line += 1;
      return `own.yaml:${line}:5`;
    }),
    PLAIN,
  );
  expect(text.match(/policy email-domains/g)).toHaveLength(1);
  expect(text).toContain("5 merchants: live access breaks 5 rules.");
});
