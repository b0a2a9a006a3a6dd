import { expect, test } from "vitest";
import { applyReporter } from "../../src/cli/apply-reporter.ts";
import { runApply } from "../../src/cli/run-apply.ts";
import { RolecallError } from "../../src/model/errors.ts";
import type { Plan } from "../../src/model/plan.ts";
import { desired, live, member, planOf } from "../support/build.ts";
import { type TestIo, testIo } from "../support/io.ts";
import { modelService } from "../support/model-service.ts";

const ADDRESSES = ["ada@example.com", "bob@example.com", "cleo@example.com"];

/** A merchant where three members are to be invited, each after `before`. */
function merchant(code: string, before: () => Promise<void>) {
  const state = desired({ merchant: code, members: ADDRESSES.map((email) => member(email)) });
  const service = modelService({ ...live(), merchant: code });
  const plan = (): Plan => planOf(state, service.state());
  const writer: typeof service.writer = {
    ...service.writer,
    createMember: async (draft) => {
      await before();
      return service.writer.createMember(draft);
    },
  };
  const session = {
    state,
    environment: null,
    writer,
    plan: async () => ({ live: service.state(), plan: plan() }),
  };
  return { due: { session, plan: plan() }, calls: service.calls };
}

async function run(due: Parameters<typeof runApply>[0], { io, written }: TestIo) {
  const reporter = applyReporter({ format: "text", color: false }, () => null, io);
  const code = await runApply(due, () => "", { concurrency: 1 }, reporter, io);
  return { code, ...written };
}

/** Lets everything go on that waits for nothing outside. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a merchant that stops only because another one failed says which", async () => {
  let fail: () => void = () => undefined;
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const one = merchant("MC1", async () => {
    await failed;
    await turn();
  });
  const two = merchant("MC2", async () => {
    fail();
    throw new RolecallError("forbidden", "The key may not do that.");
  });
  const { code, stdout } = await run([one.due, two.due], testIo());
  expect(stdout).toContain("MC1: stopped. 1 change done, 2 not started.");
  expect(stdout).toContain("It stopped because MC2 did");
  expect(stdout).toContain("MC2: stopped. 0 changes done, 1 failed, 2 not started.");
  expect(stdout).toContain("error: The key may not do that.\n\nNothing was changed.");
  expect(code).toBe(4);
});

test("Ctrl-C lets the change in flight end, starts none after it, and says so", async () => {
  let interrupt: () => void = () => undefined;
  const world = testIo({
    onStopSignal: (listener) => {
      interrupt = () => listener("SIGINT");
      return () => undefined;
    },
  });
  const one = merchant("MC1", async () => interrupt());
  const { code, stdout } = await run([one.due], world);
  expect(one.calls).toEqual(["create member ada@example.com"]);
  expect(stdout).toContain("MC1: stopped. 1 change done, 2 not started.");
  expect(stdout).toContain("It was stopped by SIGINT. What was done stays done. To go on, run it again.");
  expect(code).toBe(4);
});

test("what is done is read again, and nothing is left", async () => {
  const { code, stdout } = await run([merchant("MC1", async () => undefined).due], testIo());
  expect(stdout).toContain("MC1: read again, nothing is left to do.");
  expect(code).toBe(0);
});
