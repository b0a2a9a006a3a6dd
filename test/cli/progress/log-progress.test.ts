import { expect, test } from "vitest";
import { openProgress } from "../../../src/cli/progress/open-progress.ts";
import { eventually } from "../../support/eventually.ts";
import { testIo } from "../../support/io.ts";
import { waitEvent } from "../../support/wait-event.ts";

/** A world in which time passes when it is told to. */
function world() {
  const clock = { now: 0 };
  const sleepers: (() => void)[] = [];
  const { io, written } = testIo({
    monotonic: () => clock.now,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        sleepers.push(resolve);
      }),
  });
  const tenSeconds = async (lines: number): Promise<void> => {
    clock.now += 10_000;
    for (const wake of sleepers.splice(0)) wake();
    await eventually(() => expect(written.stderr.split("\n")).toHaveLength(lines + 1));
  };
  return { io, written, tenSeconds, sleepers };
}

const answer = {
  type: "answer",
  method: "GET",
  path: "/v0.1/merchants/MC1/members",
  status: 200,
  ms: 5,
} as const;

test("without a terminal a long reading is told every ten seconds, in one line", async () => {
  const { io, written, tenSeconds } = world();
  const progress = await openProgress({ color: true }, io);
  progress.reading(["MC1", "MC2", "MC3"]);
  progress.read("MC3", "no key");
  progress.live(answer);
  progress.live({ type: "read", merchant: "MC1", members: 25, total: 2000 });
  await tenSeconds(1);
  progress.live({ type: "read", merchant: "MC1", members: 2000, total: 2000 });
  progress.read("MC1", null);
  await tenSeconds(2);
  await progress.rest();
  expect(written.stderr).toBe(
    "read 0 of 3 merchants, 1 failed; 25 members in 1 request\n" +
      "read 1 of 3 merchants, 1 failed; 2,000 members in 1 request\n",
  );
  expect(written.stdout).toBe("");
});

test("what is over soon is not told, and nothing waits for the next line", async () => {
  const { io, written, sleepers } = world();
  const progress = await openProgress({ color: true }, io);
  progress.reading(["MC1"]);
  progress.read("MC1", null);
  await progress.rest();
  for (const wake of sleepers) wake();
  await Promise.resolve();
  expect(written.stderr).toBe("");
});

test("a long apply is told every ten seconds", async () => {
  const { io, written, tenSeconds } = world();
  const progress = await openProgress({ color: true }, io);
  progress.applying([{ merchant: "MC1", changes: [1, 2, 3] }]);
  await tenSeconds(1);
  await progress.rest();
  expect(written.stderr).toBe("0 of 3 changes done\n");
});

test("--quiet tells neither progress nor waits", async () => {
  const { io, written } = world();
  const progress = await openProgress({ color: true, quiet: true }, io);
  progress.reading(["MC1"]);
  progress.live(waitEvent(60_000, "the service asks for fewer requests (429)"));
  await progress.rest();
  expect(written.stderr).toBe("");
});
