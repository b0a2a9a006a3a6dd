import { expect, test } from "vitest";
import { driftOf } from "../../../src/plan/report/detect-drift.ts";
import { PLAIN } from "../../../src/render/style.ts";
import { renderDrifts } from "../../../src/render/text/drift-text.ts";
import { driftView } from "../../../src/render/view/drift-view.ts";
import { desired, live, liveRole, planOf, role } from "../../support/build.ts";

test("there is not said to be no drift where an error keeps the files from being compared", () => {
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
