import { expect, test } from "vitest";
import { applyExitCode } from "../../../src/app/io/io.ts";
import type { MerchantOutcome } from "../../../src/model/apply.ts";

test.each<readonly [code: number, statuses: readonly MerchantOutcome["status"][]]>([
  [0, []],
  [0, ["unchanged"]],
  [0, ["applied", "unchanged"]],
  [4, ["partial"]],
  [4, ["applied", "partial"]],
  [4, ["applied", "refused"]],
  [4, ["applied", "failed"]],
  [4, ["refused", "partial"]],
  [3, ["refused", "unchanged"]],
  [1, ["failed", "unchanged"]],
  [1, ["failed", "refused"]],
])("an apply exits with %d after %j", (code, statuses) => {
  expect(applyExitCode(statuses.map((status) => ({ status })))).toBe(code);
});
