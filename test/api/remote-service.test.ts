import { inspect } from "node:util";
import { expect, test } from "vitest";
import { applyToService } from "../../src/api/apply-to-service.ts";
import { openService } from "../../src/api/remote-service.ts";
import { parseMerchantFile } from "../../src/index.ts";
import type { Plan } from "../../src/model/plan.ts";

const env = { ROLECALL_API_KEY: "sk_test_secret", ROLECALL_BASE_URL: "http://127.0.0.1:9" };

test("a logged service does not show its keys", async () => {
  const service = openService({ env });
  expect(inspect(service, { depth: 9 }) + JSON.stringify(service)).not.toContain("secret");
  await service.close();
});

test("the plan of another merchant is not applied", async () => {
  const { state } = parseMerchantFile("a.yaml", "version: 1\nmerchant: MCA\nmembers: []\n");
  if (state === null) throw new Error("the file is invalid");
  const service = openService({ env });
  const plan = { merchant: "MCB", changes: [{}] } as unknown as Plan;
  await expect(applyToService(service, state, plan)).rejects.toMatchObject({
    code: "usage",
    message: "The plan is for MCB, not for MCA.",
  });
  await service.close();
});

test.each([
  [{ concurrency: 0 }, "concurrency must be a whole number from 1, not 0"],
  [{ concurrency: Number.NaN }, "concurrency must be a whole number from 1, not NaN"],
  [{ retryFor: -1 }, "retryFor must be a number of ms from 0, not -1"],
])("options with which nothing could be sent are refused: %o", (options, message) => {
  expect(() => openService({ env, ...options })).toThrow(new RangeError(message));
});
