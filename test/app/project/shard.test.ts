import fc from "fast-check";
import { expect, test } from "vitest";
import { jobMatrix } from "../../../src/app/project/job-matrix.ts";
import type { DesiredState, Environment } from "../../../src/model/desired.ts";
import { desired } from "../../support/build.ts";

const merchant = (code: string, environment?: Environment): DesiredState =>
  desired({
    merchant: code,
    ...(environment && { environment }),
    origin: { file: `access/${code}.yaml`, path: [] },
  });

test("a few merchants are a job each, with environment and file", () => {
  expect(jobMatrix([merchant("MC1", "live"), merchant("MC2")], 256)).toEqual({
    include: [
      { name: "MC2", merchants: "MC2", environment: "", files: "access/MC2.yaml" },
      { name: "MC1", merchants: "MC1", environment: "live", files: "access/MC1.yaml" },
    ],
  });
});

test("300 merchants fit into the 256 jobs that a matrix may have", () => {
  const { include } = jobMatrix(
    Array.from({ length: 300 }, (_, index) => merchant(`MC${index}`, "live")),
    256,
  );
  expect(include).toHaveLength(150);
  expect(include[0]).toMatchObject({ name: "MC0 and 1 more", merchants: "MC0 MC1" });
});

test("every merchant is in exactly one part, no part has two environments, and there are not too many parts", () => {
  const kinds = fc.array(fc.constantFrom("live", "test", undefined), { maxLength: 60 });
  fc.assert(
    fc.property(kinds, fc.integer({ min: 3, max: 40 }), (environments, jobs) => {
      const states = environments.map((one, index) => merchant(`MC${index}`, one));
      const { include } = jobMatrix(states, jobs);
      const codes = include.flatMap(({ merchants }) => merchants.split(" "));
      expect(codes.sort()).toEqual(states.map((state) => state.merchant).sort());
      expect(include.length).toBeLessThanOrEqual(jobs);
      const kindOf = new Map(states.map((state) => [state.merchant, state.environment ?? ""]));
      for (const { merchants, environment } of include)
        expect(new Set(merchants.split(" ").map((code) => kindOf.get(code)))).toEqual(new Set([environment]));
    }),
  );
});
