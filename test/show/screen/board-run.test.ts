import stringWidth from "string-width";
import { beforeAll, describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { unknownPutSemantics } from "../../../src/kernel/apply/update-member.ts";
import { mapConcurrent } from "../../../src/lib/map-concurrent.ts";
import type { ApplyResult, StopCause } from "../../../src/model/apply.ts";
import type { LiveEvent } from "../../../src/model/events.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { createSandbox } from "../../../src/sandbox/create-sandbox.ts";
import { connect } from "../../../src/service/service.ts";
import { applyProgress, type ProgressView, readingProgress } from "../../../src/show/view/progress.ts";
import { boardLines } from "../../support/board-lines.ts";
import { desired, member, planOf, role } from "../../support/build.ts";
import { createClock } from "../../support/clock.ts";
import { inProcess } from "../../support/in-process.ts";
import { type MemoryJournal, memoryJournal } from "../../support/memory-journal.ts";

/** Sixty merchants of different sizes at a slow service with a rate limit, on a clock that tests move on. */
const COUNT = 60;
const CONCURRENCY = 10;
const CODES = Array.from({ length: COUNT }, (_, index) => {
  const number = String(index + 1).padStart(2, "0");
  return `MC${number}SHOP${number}`;
});
const peopleAt = (index: number): readonly string[] =>
  Array.from({ length: 4 + ((index * 37) % 60) }, (_, at) => `p${index + 1}.${at}@example.com`);
const newAt = (index: number): readonly string[] =>
  Array.from({ length: 2 + (index % 5) }, (_, at) => `new${index + 1}.${at}@example.com`);

const SEED = [
  "merchants:",
  ...CODES.flatMap((code, index) => [
    `  - code: ${code}`,
    "    roles: [{ name: Cashier, permissions: [catalog_view] }]",
    "    members:",
    "      - { email: owner@example.com, roles: [role_owner] }",
    ...peopleAt(index).map((email) => `      - { email: ${email}, roles: [Cashier] }`),
  ]),
  "keys:",
  "  - { key: sk_test_sandbox, owner: owner@example.com }",
].join("\n");

const stateOf = (index: number) =>
  desired({
    merchant: CODES[index] ?? "",
    roles: [role("Cashier", { permissions: ["catalog_view", "refunds_create"] })],
    members: [
      member("owner@example.com", { roles: ["role_owner"] }),
      ...[...peopleAt(index).slice(1), ...newAt(index)].map((email) => member(email, { roles: ["Cashier"] })),
    ],
  });

interface Run {
  readonly reading: readonly ProgressView[];
  readonly applying: readonly ProgressView[];
  /** The progress at the end. */
  readonly end: ProgressView;
  readonly results: readonly ApplyResult[];
  readonly journals: readonly MemoryJournal[];
}

/** Reads and applies all merchants, and takes a view of the progress every second; `stopAt` is Ctrl-C at that second. */
async function runAll(stopAt = Number.POSITIVE_INFINITY): Promise<Run> {
  const clock = createClock();
  const sandbox = createSandbox({
    ...clock,
    seed: SEED,
    rateLimit: 14,
    latency: 120,
    jitter: 60,
    faults: {
      seed: 3,
      rules: [
        {
          kind: "status",
          effect: "before",
          status: 403,
          operation: "members.create",
          nth: 40,
          detail: "The key may not invite.",
        },
      ],
    },
  });
  let listen: (event: LiveEvent) => void = () => undefined;
  const cancelling = new AbortController();
  const service = connect({
    baseUrl: "http://127.0.0.1:4010",
    key: "sk_test_sandbox",
    userAgent: "rolecall",
    keySource: "ROLECALL_API_KEY",
    concurrency: CONCURRENCY,
    now: clock.now,
    monotonic: clock.now,
    sleep: clock.sleep,
    later: () => () => undefined,
    random: () => 0.5,
    emit: (event) => listen(event),
    transport: inProcess(sandbox.fetch),
    signal: cancelling.signal,
  });
  const everySecond = async <View>(view: () => View, work: Promise<unknown>): Promise<View[]> => {
    const views: View[] = [];
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      views.push(view());
      await clock.sleep(1000);
    }
    await over;
    return views;
  };

  const reading = readingProgress(CODES, clock.now());
  listen = (event) => reading.live(event, clock.now());
  const plans: Plan[] = [];
  const readAll = mapConcurrent([...CODES.entries()], 24, async ([index, code]) => {
    const live = await service.reader.read(code, []);
    plans[index] = planOf(stateOf(index), live);
    reading.read(code, null, clock.now());
  });
  const readingViews = await everySecond(() => reading.view(clock.now()), readAll);

  const applying = applyProgress(
    plans.map(({ merchant, changes }) => ({ merchant, changes: changes.length })),
    clock.now(),
  );
  listen = (event) => applying.live(event, clock.now());
  const stopping = new AbortController();
  const cause: StopCause = { by: "signal", signal: "SIGINT" };
  const putSemantics = unknownPutSemantics();
  const journals = plans.map(() => memoryJournal());
  const results: ApplyResult[] = [];
  const applyAll = async (): Promise<void> => {
    const applied = await Promise.all(
      plans.map((plan, index) =>
        applyPlan(plan, {
          writer: service.writer(plan.merchant),
          lookup: service.lookup(plan.merchant),
          recheck: true,
          putSemantics,
          journal: journals[index] as MemoryJournal,
          password: () => "",
          emit: (event) => applying.apply(event, clock.now()),
          concurrency: CONCURRENCY,
          stop: stopping.signal,
          cause: () => (stopping.signal.aborted ? cause : null),
        }),
      ),
    );
    results.push(...applied);
    if (stopping.signal.aborted) return;
    await Promise.all(
      applied.map(async ({ status }, index) => {
        const code = CODES[index] ?? "";
        if (status !== "done") return;
        await service.reader.read(code, []);
        applying.read(code, null, clock.now());
      }),
    );
  };
  let second = 0;
  const applyingViews = await everySecond(() => {
    if (second === stopAt) {
      stopping.abort();
      applying.stop();
      cancelling.abort();
    }
    second += 1;
    return applying.view(clock.now());
  }, applyAll());
  await service.close();
  const end = applying.view(clock.now());
  return { reading: readingViews, applying: applyingViews, end, results, journals };
}

const ROWS = { 120: 30, 80: 24, 60: 20, 40: 15 } as const;
const WIDTHS = [120, 80, 60, 40] as const;

let run: Run;
let stopped: Run;

beforeAll(async () => {
  run = await runAll();
  stopped = await runAll(12);
}, 60_000);

describe.each(WIDTHS)("on a terminal of %i columns", (columns) => {
  const size = { columns, rows: ROWS[columns] };
  const golden = (name: string): string => `golden/${name}-${columns}.txt`;
  const screen = (lines: readonly string[]): string => `${lines.map((text) => text.trimEnd()).join("\n")}\n`;

  test("reading, applying with waits and a failure, verifying and stopping look as recorded", async () => {
    const { reading, applying } = run;
    const wait = applying.find(
      (view) => view.metrics.waits.length > 0 && view.jobs.some(({ state }) => state === "failed"),
    );
    const verifying = applying.filter(({ phase }) => phase === "verifying");
    const views: readonly (readonly [string, readonly string[]])[] = [
      ["board-reading", boardLines(reading[5] as ProgressView, size)],
      ["board-applying", boardLines(wait as ProgressView, size)],
      ["board-verifying", boardLines(verifying[Math.floor(verifying.length / 2)] as ProgressView, size)],
      ["board-stopping", boardLines(stopped.applying[12] as ProgressView, size)],
    ];
    for (const [name, lines] of views) await expect(screen(lines)).toMatchFileSnapshot(golden(name));
  });

  test("every second's screen differs from the one before, and fits the window", () => {
    const screens = [
      ...run.reading.map((view) => boardLines(view, size)),
      ...run.applying.map((view) => boardLines(view, size)),
    ];
    expect(screens.length).toBeGreaterThan(30);
    const texts = screens.map(screen);
    for (const [index, text] of texts.entries()) expect(text).not.toBe(texts[index - 1]);
    for (const lines of screens) {
      expect(lines.length).toBeLessThan(size.rows);
      for (const text of lines) expect(stringWidth(text)).toBeLessThan(columns);
    }
  });
});

test("merchants are ticked off from the start, in about the order in which they are named", () => {
  const read = run.reading.map(({ jobs }) => jobs.filter(({ state }) => state === "done").length);
  expect(read[3]).toBeGreaterThan(2);
  // The seconds in which nothing ends are those of a wait.
  expect(read.filter((count, index) => count === read[index - 1]).length).toBeLessThan(read.length / 3);
  const half = run.applying[Math.floor(run.applying.length / 3)] as ProgressView;
  const done = half.jobs.flatMap(({ state }, index) => (state === "done" ? [index] : []));
  expect(done.length).toBeGreaterThan(5);
  expect(Math.max(...done)).toBeLessThan(done.length + 2 * CONCURRENCY);
});

test("rows on the wire and those left out are as many as the head says, in windows of any height", () => {
  for (const rows of [8, 12, 24, 50]) {
    const size = { columns: 100, rows };
    const screens = [
      ...run.reading.map((view) => boardLines(view, size)),
      ...run.applying.filter(({ phase }) => phase !== "verifying").map((view) => boardLines(view, size)),
    ];
    for (const lines of screens) {
      const [, head] = /▶ +(\d+) under way/.exec(lines[2] ?? "") ?? [];
      const [, more = 0] = /and (\d+) more under way/.exec(lines.join("\n")) ?? [];
      expect(Number(head)).toBe(lines.filter((text) => text.startsWith("▶")).length + Number(more));
      expect(Number(head)).toBeLessThanOrEqual(CONCURRENCY);
    }
  }
});

test("no more merchants are on the wire than requests are allowed, and numbers add up", () => {
  for (const { metrics, jobs, phase, counts, changes } of [...run.reading, ...run.applying]) {
    expect(metrics.onWire.size).toBeLessThanOrEqual(CONCURRENCY);
    // The merchant where an invitation failed is not verified.
    expect(jobs).toHaveLength(phase === "verifying" ? COUNT - 1 : COUNT);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(jobs.length);
    const ended = jobs.reduce((sum, { done }) => sum + done, 0);
    if (phase === "applying") expect(changes.done + changes.failed + changes.unknown).toBe(ended);
  }
  const last = run.applying.at(-1) as ProgressView;
  expect(last.changes.failed).toBe(1);
});

test("the board counts what the results and the journals count, also after a stop", () => {
  for (const { end, results, journals } of [run, stopped]) {
    const statuses = results.flatMap(({ outcomes }) => outcomes.map(({ status }) => status));
    const inJournals = journals.flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.type === "end" ? [entry.outcomes] : [])),
    );
    expect(inJournals).toHaveLength(COUNT);
    const { done, failed, unknown, total } = end.changes;
    expect([done, failed, unknown, total]).toEqual([
      statuses.filter((status) => status === "done").length,
      statuses.filter((status) => status === "failed" || status === "stale").length,
      statuses.filter((status) => status === "unknown").length,
      statuses.length,
    ]);
    const sum = (key: keyof (typeof inJournals)[number]): number =>
      inJournals.reduce((all, outcomes) => all + outcomes[key], 0);
    expect([done, failed, unknown]).toEqual([sum("done"), sum("failed") + sum("stale"), sum("unknown")]);
  }
  expect(stopped.end.changes.done).toBeLessThan(run.end.changes.done);
});
