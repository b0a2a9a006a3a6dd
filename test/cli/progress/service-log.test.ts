import { expect, test } from "vitest";
import { serviceLog } from "../../../src/cli/progress/service-log.ts";
import { testIo } from "../../support/io.ts";

function logging(verbose = false) {
  const clock = { now: 1000 };
  const { io, written } = testIo({ monotonic: () => clock.now });
  const log = serviceLog(io, verbose);
  const wait = (ms: number, reason = "the service asks for fewer requests (429)") =>
    log({
      type: "wait",
      method: "GET",
      path: "/v0.1/merchants/MC1/members",
      attempt: 1,
      status: 429,
      reason,
      ms,
      until: clock.now + ms,
      retryAfter: true,
      leftMs: 300_000,
    });
  return { clock, wait, lines: () => written.stderr.split("\n").slice(0, -1) };
}

test("a wait that many requests share is told once", () => {
  const { clock, wait, lines } = logging();
  for (let request = 0; request < 5; request += 1) {
    wait(1000);
    clock.now += 20;
  }
  expect(lines()).toEqual(["waiting 1.0 s: the service asks for fewer requests (429)"]);
});

test("the next wait is told again where it is another one, and an equal one after a while", () => {
  const { clock, wait, lines } = logging();
  wait(1000);
  clock.now += 1000;
  wait(1000);
  expect(lines()).toHaveLength(1);
  wait(5000);
  expect(lines()).toHaveLength(2);
  clock.now += 10_000;
  wait(5000);
  expect(lines()).toHaveLength(3);
});

test("waits for different reasons are told apart", () => {
  const { wait, lines } = logging();
  wait(1000);
  wait(1000, "the service could not be reached");
  expect(lines()).toHaveLength(2);
});

test("a short wait is told with --verbose only", () => {
  const quiet = logging();
  quiet.wait(200);
  expect(quiet.lines()).toEqual([]);
  const verbose = logging(true);
  verbose.wait(600);
  verbose.wait(600);
  expect(verbose.lines()).toEqual(["waiting 0.6 s: the service asks for fewer requests (429)"]);
});
