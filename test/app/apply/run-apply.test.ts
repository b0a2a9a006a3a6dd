import { expect, test } from "vitest";
import { createCancellation } from "../../../src/app/apply/cancellation.ts";
import { applyReporter } from "../../../src/app/apply/reporter.ts";
import type { PendingApply } from "../../../src/app/apply/run-apply.ts";
import { type RunOptions, runApply } from "../../../src/app/apply/run-apply.ts";
import { applyExitCode, type StopSignal } from "../../../src/app/io/io.ts";
import type { OnError } from "../../../src/model/apply.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { LiveState } from "../../../src/model/live.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf } from "../../support/build.ts";
import { type TestIo, testIo } from "../../support/io.ts";
import { type MemoryJournal, memoryJournal } from "../../support/memory-journal.ts";
import { beginning, modelService } from "../../support/model-service.ts";

const ADDRESSES = ["ada@example.com", "bob@example.com", "cleo@example.com"];

/** A merchant where three members are to be invited, each after `before`. */
function merchant(
  code: string,
  before: () => Promise<void> = async () => undefined,
  {
    state = desired({ merchant: code, members: ADDRESSES.map((email) => member(email)) }),
    is = live(),
  }: { readonly state?: DesiredState; readonly is?: LiveState } = {},
) {
  const service = modelService({ ...is, merchant: code });
  const plan = (): Plan => planOf(state, service.state());
  const writer: typeof service.writer = beginning({
    ...service.writer,
    createMember: async (draft) => {
      await before();
      return service.writer.createMember(draft);
    },
  });
  const session = {
    state,
    environment: null,
    writer,
    lookup: service.lookup,
    keySource: "ROLECALL_API_KEY",
    findDenied: async () => [],
    checkAccount: async () => undefined,
    plan: async () => ({
      desired: state,
      live: service.state(),
      plan: plan(),
      planAt: () => plan(),
      judgeAt: () => () => plan(),
      planWithout: () => plan(),
    }),
  };
  return { due: { session, plan: plan() }, calls: service.calls, service };
}

interface Given {
  readonly journal?: MemoryJournal;
  readonly openJournal?: RunOptions["openJournal"];
  readonly format?: "text" | "json";
  readonly onError?: OnError;
}

async function run(
  due: readonly PendingApply[],
  { io, written }: TestIo,
  { journal = memoryJournal(), format = "text", ...rest }: Given = {},
) {
  const reporter = applyReporter({ format, color: false }, () => null, io);
  const cancellation = createCancellation(reporter.say, io);
  const openJournal = async ({ merchant: code }: Plan) => ({
    run: "RUN",
    file: `.rolecall/runs/RUN-${code}.jsonl`,
    write: journal.write,
    close: async () => undefined,
  });
  const { sleep } = io;
  const options = {
    password: () => "",
    concurrency: 1,
    recheck: true,
    openJournal,
    cancellation,
    sleep,
    ...rest,
  };
  const outcomes = await runApply(due, options, reporter);
  const code = applyExitCode(outcomes);
  reporter.ended({ outcomes, leftOut: 0 }, code);
  return { code, outcomes, ...written, entries: journal.entries };
}

/** A world in which signals come when a test says so; leaving is an error that it can see. */
function signalled(): { readonly world: TestIo; readonly send: (signal: StopSignal) => void } {
  let listen: (signal: StopSignal) => void = () => undefined;
  const world = testIo({
    onStopSignal: (listener) => {
      listen = listener;
      return () => undefined;
    },
    exit: (code) => {
      throw new Error(`left with ${code}`);
    },
  });
  return { world, send: (signal) => listen(signal) };
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
  const { code, stderr } = await run([one.due, two.due], testIo());
  expect(stderr).toContain("✗ Apply stopped at 2 merchants: 1 change done, 1 failed, 4 not started.\n");
  expect(stderr).toContain("\n  Merchants: 1 partly applied, 1 failed.\n");
  expect(stderr).toContain("failed: create member ada@example.com at MC2\nerror: The key may not do that.\n");
  expect(stderr).toContain("The failure at MC2 stopped the run at every merchant.");
  expect(code).toBe(4);
});

test("where others go on, a failure stops its own merchant alone, and the others are made and read again", async () => {
  const one = merchant("MC1", turn);
  const two = merchant("MC2", async () => {
    throw new RolecallError("unprocessable", "There is no role role_9.");
  });
  const three = merchant("MC3", turn);
  const all = [one.due, two.due, three.due];
  const { code, stderr, outcomes } = await run(all, testIo(), { onError: "continue" });
  expect(one.calls).toHaveLength(3);
  expect(two.service.calls).toEqual([]);
  expect(three.calls).toHaveLength(3);
  expect(outcomes).toEqual([
    { merchant: "MC1", status: "applied", reasons: [] },
    {
      merchant: "MC2",
      status: "failed",
      reasons: ["create member ada@example.com: There is no role role_9."],
    },
    { merchant: "MC3", status: "applied", reasons: [] },
  ]);
  expect(stderr).toContain(
    "✗ Apply incomplete at 3 merchants: 6 changes done, 1 failed, 2 not started.\n  Merchants: 2 applied, 1 failed.\n",
  );
  expect(stderr).toContain("failed: create member ada@example.com at MC2\n");
  expect(code).toBe(4);
});

test("where others go on, a signal and a journal that cannot be written still stop all of them", async () => {
  const { world, send } = signalled();
  const one = merchant("MC1", async () => send("SIGINT"));
  const stopped = await run([one.due, merchant("MC2", turn).due], world, { onError: "continue" });
  expect(stopped.outcomes.map(({ status }) => status)).toEqual(["partial", "partial"]);
  expect(stopped.outcomes[1]?.reasons).toEqual(["The run was stopped by SIGINT."]);

  const full = memoryJournal();
  const openJournal = async ({ merchant: code }: Plan) => ({
    run: "RUN",
    file: code,
    write: async (entry: Parameters<typeof full.write>[0]) => {
      if (code === "MC1") throw new RolecallError("journal-unwritable", "No space.");
      await full.write(entry);
    },
    close: async () => undefined,
  });
  const two = merchant("MC2", turn);
  const lost = await run([merchant("MC1").due, two.due], testIo(), { onError: "continue", openJournal });
  expect(lost.outcomes[0]).toMatchObject({ status: "failed", reasons: ["No space."] });
  expect(two.calls.length).toBeLessThan(3);
});

test("a verification reads again if a list lags behind the latest changes", async () => {
  for (const lag of [1, 2]) {
    const one = merchant("MC1");
    const before = one.due.plan;
    const slept: number[] = [];
    const world = testIo({ sleep: async (ms) => void slept.push(ms) });
    let looks = 0;
    const plan: PendingApply["session"]["plan"] = async () => {
      looks += 1;
      return looks <= lag
        ? {
            desired: one.due.session.state,
            live: one.service.state(),
            plan: before,
            planAt: () => before,
            judgeAt: () => () => before,
            planWithout: () => before,
          }
        : one.due.session.plan();
    };
    const { code, stdout, stderr } = await run(
      [{ ...one.due, session: { ...one.due.session, plan } }],
      world,
    );
    expect(slept).toEqual([2000]);
    expect(looks).toBe(2);
    expect(stdout + stderr).toContain(
      lag === 1 ? "Verified: no changes remain." : "found 3 remaining changes",
    );
    expect(code).toBe(lag === 1 ? 0 : 4);
  }
});

test("Ctrl-C lets the change in flight end, starts none after it, and says so", async () => {
  const { world, send } = signalled();
  const one = merchant("MC1", async () => send("SIGINT"));
  const { code, stderr } = await run([one.due], world);
  expect(one.calls).toEqual(["create member ada@example.com"]);
  expect(stderr).toContain("✗ Apply stopped at MC1: 1 change done, 2 not started.");
  expect(stderr).toContain(
    "The run was stopped by SIGINT. Completed changes remain. To continue, run the\ncommand again.",
  );
  expect(stderr).toContain("SIGINT: nothing new starts; requests in flight finish first.");
  expect(code).toBe(4);
});

test("a second Ctrl-C leaves at once with 4, and the intent of what is in flight is in the journal", async () => {
  const { world, send } = signalled();
  const journal = memoryJournal();
  const one = merchant("MC1", async () => {
    send("SIGTERM");
    send("SIGTERM");
  });
  await expect(run([one.due], world, { journal })).rejects.toThrow("left with 4");
  expect(world.written.stderr).toContain(
    'Exited at once: requests in flight may have taken effect. Run "rolecall plan" to see the difference.\njournal: .rolecall/runs/RUN-MC1.jsonl\n',
  );
  expect(journal.entries.map(({ type }) => type)).toEqual(["intent"]);
});

test("a second Ctrl-C before anything was sent leaves with 1", async () => {
  const { world, send } = signalled();
  const openJournal = async () => ({
    run: "RUN",
    file: "j",
    write: async () => {
      send("SIGINT");
      send("SIGINT");
    },
    close: async () => undefined,
  });
  const nothing = { ...merchant("MC1").due, plan: planOf(desired(), live()) };
  await expect(run([nothing], world, { openJournal })).rejects.toThrow("left with 1");
  expect(world.written.stderr).toContain("Exited before anything was changed.");
});

test("what is done is read again, nothing is left, and the journal says so", async () => {
  const { code, stdout, stderr, entries } = await run([merchant("MC1").due], testIo());
  expect(stdout).toContain(
    "✓ Apply complete at MC1: 3 changes done. Verified: no changes remain.\n  To undo it: rolecall undo RUN\n  journal: .rolecall/runs/RUN-MC1.jsonl\n",
  );
  expect(stderr).toBe("");
  expect(entries.at(-1)).toEqual({ type: "verified", left: [], deferred: [] });
  expect(code).toBe(0);
});

test("the journals of one run are named once, however many merchants it has", async () => {
  const { stdout } = await run([merchant("MC1").due, merchant("MC2").due], testIo());
  expect(stdout.match(/journal.*/g)).toEqual(["journals: .rolecall/runs/RUN-*.jsonl (2 merchants)"]);
});

test("dozens of merchants are read again without a warning of a leak", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const due = Array.from({ length: 60 }, (_, index) => merchant(`MC${index}`).due);
  const { code } = await run(due, testIo());
  await turn();
  process.off("warning", warned);
  expect(code).toBe(0);
  expect(warnings).toEqual([]);
});

test("what somebody else has changed meanwhile is named when everything is read again", async () => {
  const one = merchant("MC1");
  const plan = async () => {
    one.service.edit(({ members }) => void members.set("mem_9", liveMember("mem_9", "eve@example.com")));
    return one.due.session.plan();
  };
  const due = { ...one.due, session: { ...one.due.session, plan } };
  const { code, stderr, entries } = await run([due], testIo());
  expect(stderr).toContain("✗ MC1: the verification found 1 remaining change");
  expect(stderr).toContain("    delete member eve@example.com\n");
  expect(entries.at(-1)).toMatchObject({ left: ["delete member eve@example.com"] });
  expect(code).toBe(4);
});

test.each<[what: string, roles: readonly string[]]>([
  ["a removal that waited for a managed user", []],
  ["a removal that the plan did not list beside another change of the old membership", ["role_1"]],
])("%s is left to the next apply, and nobody else is blamed", async (_, held) => {
  const managed = { nickname: "Till", passwordEnv: "TILL_PASSWORD" };
  const renamed = member("till@new.example", { previously: ["till@old.example"], roles: [], managed });
  const { due, service } = merchant("MC1", undefined, {
    state: desired({ merchant: "MC1", members: [renamed] }),
    is: live([liveRole("role_1", "Cashier")], [liveMember("mem_1", "till@old.example", { roles: held })]),
  });
  const { code, stdout, stderr, entries } = await run([due], testIo());
  expect(service.state().members).toHaveLength(2);
  expect(stdout).toMatch(/Verified: no changes remain except 1\s+deferred\./);
  expect(stdout).toContain("delete member till@old.example: the next apply makes it\n");
  expect(stderr).not.toContain("somebody else");
  expect(entries.find(({ type }) => type === "verified")).toMatchObject({
    left: [],
    deferred: ["delete member till@old.example"],
  });
  expect(code).toBe(0);
});

test("exits with 4 if the changes are made but cannot be verified", async () => {
  const one = merchant("MC1");
  const plan = async (): Promise<never> => {
    throw new RolecallError("network", "GET /roles got no answer.");
  };
  const due = { ...one.due, session: { ...one.due.session, plan } };
  const { code, stderr, entries } = await run([due], testIo());
  expect(stderr).toContain("✗ Apply incomplete at MC1: 3 changes done.");
  expect(stderr).toContain("? MC1: applied, not verified: it could not be read again.");
  expect(entries.at(-1)).toMatchObject({ type: "end", status: "done" });
  expect(code).toBe(4);
});

test("Ctrl-C while it reads again does not wait for that, and says that it is not verified", async () => {
  const { world, send } = signalled();
  const one = merchant("MC1");
  const plan = (): Promise<never> => {
    send("SIGINT");
    return new Promise<never>(() => undefined);
  };
  const due = { ...one.due, session: { ...one.due.session, plan } };
  const { code, stderr } = await run([due], world);
  expect(stderr.replaceAll(/\n */g, " ")).toContain("applied, not verified: the run was stopped by SIGINT.");
  expect(code).toBe(4);
});

test("where one journal cannot be opened nothing is changed anywhere, and the others say that nothing was done", async () => {
  const [one, two] = [merchant("MC1"), merchant("MC2")];
  const journal = memoryJournal();
  let closed = 0;
  const openJournal = async ({ merchant: code }: Plan) => {
    if (code === "MC2") throw new RolecallError("journal-unwritable", "No space.", { hint: "Make room." });
    return { run: "RUN", file: "j", write: journal.write, close: async () => void closed++ };
  };
  await expect(run([one.due, two.due], testIo(), { openJournal })).rejects.toMatchObject({
    code: "journal-unwritable",
    hint: "Make room. Nothing was changed.",
  });
  expect([...one.calls, ...two.calls]).toEqual([]);
  expect(journal.entries).toMatchObject([
    { type: "end", status: "stopped", cause: "No space.", outcomes: { "not-started": 3 } },
  ]);
  expect(closed).toBe(1);
});

test("a member that somebody else has changed stops the run as stale, and exits 1 where nothing was changed", async () => {
  const ada = liveMember("mem_1", "ada@example.com", { roles: ["role_1"] });
  const is = live([liveRole("role_1", "A"), liveRole("role_2", "B")], [ada]);
  const state = desired({ members: [member("ada@example.com", { roles: ["B"] })] });
  const service = modelService(is);
  const plan = planOf(state, is);
  service.edit(({ members }) => void members.set("mem_1", { ...ada, roles: ["role_2", "role_1"] }));
  const { writer, lookup } = service;
  const session = {
    state,
    environment: null,
    writer,
    lookup,
    keySource: "ROLECALL_API_KEY",
    findDenied: async () => [],
    checkAccount: async () => undefined,
    plan: async () => ({
      desired: state,
      live: service.state(),
      plan: planOf(state, service.state()),
      planAt: () => planOf(state, service.state()),
      judgeAt: () => () => planOf(state, service.state()),
      planWithout: () => planOf(state, service.state()),
    }),
  };
  const stopped = await run([{ session, plan }], testIo());
  expect(stopped.stderr).toContain("roles: now also B.\n  → Check that the file is still what you want");
  expect(stopped.stderr).toContain("Nothing was changed. To continue,");
  expect(stopped.code).toBe(1);
  const json = await run([{ session, plan }], testIo(), { format: "json" });
  const events = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ type }) => type)).toEqual([
    "apply-started",
    "phase-started",
    "change-ended",
    "apply-stopped",
    "apply-ended",
    "journals",
    "summary",
  ]);
  expect(events.at(-2)).toMatchObject({
    type: "journals",
    run: "RUN",
    files: [".rolecall/runs/RUN-MC1.jsonl"],
  });
});

test("an apply that stopped after a first request of several counts as part-way", async () => {
  const expired = invited("mem_1", "ada@example.com", { status: "expired" });
  const is = live([], [expired]);
  const state = desired({ members: [member("ada@example.com")] });
  const service = modelService(is);
  const writer = beginning({
    ...service.writer,
    createMember: async () => {
      throw new RolecallError("conflict", "That address is a member already.");
    },
  });
  const session = {
    state,
    environment: null,
    writer,
    lookup: service.lookup,
    keySource: "ROLECALL_API_KEY",
    findDenied: async () => [],
    checkAccount: async () => undefined,
    plan: async () => ({
      desired: state,
      live: service.state(),
      plan: planOf(state, service.state()),
      planAt: () => planOf(state, service.state()),
      judgeAt: () => () => planOf(state, service.state()),
      planWithout: () => planOf(state, service.state()),
    }),
  };
  const { code, stderr } = await run([{ session, plan: planOf(state, is) }], testIo());
  expect(stderr).toContain("Completed changes remain.");
  expect(code).toBe(4);
});

test("a bug at one merchant is thrown when the others have ended, and their journals are whole", async () => {
  const journal = memoryJournal();
  const one = merchant("MC1", turn);
  const two = merchant("MC2", async () => {
    throw new TypeError("a bug");
  });
  let ended = 0;
  const openJournal = async ({ merchant: code }: Plan) => ({
    run: "RUN",
    file: code,
    write: code === "MC1" ? journal.write : async () => undefined,
    close: async () => {
      ended = journal.entries.length;
    },
  });
  await expect(run([one.due, two.due], testIo(), { openJournal })).rejects.toThrow("a bug");
  expect(journal.entries.map(({ type }) => type)).toEqual(["intent", "outcome", "end"]);
  expect(ended).toBe(3);
});

test("a long log lists ten failures, says that there are more, and goes on with other news", () => {
  const { io, written } = testIo();
  const reporter = applyReporter({ format: "text", color: false }, () => null, io);
  const members = Array.from({ length: 80 }, (_, index) => member(`p${index}@example.com`));
  const plan = planOf(desired({ members }), live());
  reporter.plans([plan]);
  const shown = written.stdout.length;
  const failure = { code: "unprocessable", message: "The service said no." } as const;
  const phase = "write-members";
  for (const change of plan.changes)
    reporter.event({
      type: "change-ended",
      merchant: "MC1",
      phase,
      outcome: { status: "failed", change, failure },
    });
  const [change] = plan.changes;
  if (change?.resource !== "member") throw new Error("it is a member");
  reporter.event({ type: "fields-emptied", merchant: "MC1", phase, change, fields: ["nickname"] });
  const log = written.stdout.slice(shown);
  expect(log.match(/The service said no/g)).toHaveLength(10);
  expect(log.match(/more changes fail/g)).toHaveLength(1);
  expect(log).toContain("the service cleared nickname");
});
