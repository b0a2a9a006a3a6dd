import { expect, test } from "vitest";
import { OPERATIONS, type Operation } from "../../src/service/http/problem-details.ts";
import { connectTo, problem } from "./support.ts";

const WRITES = (Object.keys(OPERATIONS) as Operation[]).filter((one) =>
  /^(?:create|update|delete|retrieve) /.test(one),
);

test.each([undefined, "1", "2", "60"])(
  "a service that asks for a wait (Retry-After: %s) is asked for permissions for seconds only, and denies nothing",
  async (after) => {
    const { findDenied, clock } = connectTo(() =>
      problem(429, {}, after === undefined ? {} : { "retry-after": after }),
    );
    const began = clock.now();
    expect(await findDenied("MC1", WRITES)).toEqual([]);
    expect(clock.now() - began).toBeLessThan(10_000);
  },
);
