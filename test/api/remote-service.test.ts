import { inspect } from "node:util";
import { expect, test } from "vitest";
import { applyToService } from "../../src/api/apply-to-service.ts";
import { loadMerchantFiles } from "../../src/api/merchant-files.ts";
import { openService, planMerchant, readLive } from "../../src/api/remote-service.ts";
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

test("messages call the base URL's option as the library does", async () => {
  const { state } = parseMerchantFile("a.yaml", "version: 1\nmerchant: MCA\nmembers: []\n");
  if (state === null) throw new Error("the file is invalid");
  const key = { ROLECALL_API_KEY: "sk_test_secret" };
  const failing = async (baseUrl?: string): Promise<string> => {
    const service = openService({ env: key, ...(baseUrl !== undefined && { baseUrl }) });
    const errors = await Promise.all(
      [readLive, planMerchant].map((read) =>
        read(service, state).then(
          () => null,
          ({ message, hint }) => `${message} ${hint}`,
        ),
      ),
    );
    await service.close();
    expect(errors[1]).toBe(errors[0]);
    return errors[0] ?? "";
  };
  expect(await failing()).toBe(
    "No base URL is configured for MCA. Set ROLECALL_BASE_URL, pass baseUrl, or add api.base_url to the file.",
  );
  expect(await failing("shop")).toBe(
    "The base URL is not a valid http or https URL. It comes from baseUrl. For example: https://api.example.com",
  );
});

test("one path needs no list, and what is no path is refused", async () => {
  const { merchants } = await loadMerchantFiles("examples/retail/access/station-road.yaml");
  expect(merchants.map(({ merchant }) => merchant)).toEqual(["MC9Q3T8X"]);
  for (const paths of [{}, [3], null]) {
    await expect(loadMerchantFiles(paths as unknown as string)).rejects.toThrow(
      new TypeError("paths must be a path or a list of paths"),
    );
  }
  await expect(loadMerchantFiles([], { merchants: "MC9Q3T8X" as unknown as [] })).rejects.toThrow(
    new TypeError("merchants must be a list of codes"),
  );
});
