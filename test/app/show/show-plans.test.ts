import { expect, test } from "vitest";
import { showPlans } from "../../../src/app/show/show-plans.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import { testIo } from "../../support/io.ts";

test("failures stand above the plans, whose totals otherwise look like the whole answer", () => {
  const { io } = testIo();
  const written: string[] = [];
  const sink = { ...io.stderr, write: (text: string) => void written.push(text) };
  const error = new RolecallError("forbidden", "GET /v0.1 returned 403 Forbidden.");
  const shown = showPlans(
    [{ status: "failed", merchant: "MC1", error }],
    () => void written.push("64 merchants: no changes\n"),
    { color: false },
    { ...io, stderr: sink },
  );
  expect(shown.complete).toBe(false);
  expect(written[0]).toContain("MC1 could not be planned.");
  expect(written[1]).toBe("64 merchants: no changes\n");
});
