import { expect, test } from "vitest";
import { driftOf } from "../../../src/ask/report/detect-drift.ts";
import { PLAIN } from "../../../src/show/style.ts";
import { renderDrifts } from "../../../src/show/text/drift-text.ts";
import { driftView } from "../../../src/show/view/drift-view.ts";
import { desired, live, liveMember, liveRole, planOf, role } from "../../support/build.ts";

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
