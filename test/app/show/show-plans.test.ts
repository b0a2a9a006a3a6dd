import { expect, test } from "vitest";
import { printUnread } from "../../../src/app/show/show-plans.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import { testIo } from "../../support/io.ts";

test("a merchant without a plan is printed, and the plans are not complete", () => {
  const { io } = testIo();
  const written: string[] = [];
  const sink = { ...io.stderr, write: (text: string) => void written.push(text) };
  const error = new RolecallError("forbidden", "GET /v0.1 returned 403 Forbidden.");
  const shown = printUnread(
    [{ status: "failed", merchant: "MC1", error }],
    { color: false },
    { ...io, stderr: sink },
  );
  expect(shown.complete).toBe(false);
  expect(written[0]).toContain("MC1 could not be planned.");
});
