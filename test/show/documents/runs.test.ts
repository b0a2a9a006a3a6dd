import { describe, expect, test } from "vitest";
import { runStatus } from "../../../src/app/journal/read-journals.ts";
import type { MerchantNote, PastRun, PastWrite, RunEnded, RunStatus } from "../../../src/model/apply.ts";
import { documentText } from "../../../src/show/blocks/text-blocks.ts";
import { journalsText } from "../../../src/show/documents/next-step.ts";
import { undoNotes, unfinishedDocument } from "../../../src/show/documents/run-notes.ts";
import { runDocument, runsDocument } from "../../../src/show/documents/runs.ts";
import { PLAIN, type Verbosity } from "../../../src/show/style.ts";
import type { KnownRun, ShownRun } from "../../../src/show/view/run-view.ts";
import { image } from "../../support/build.ts";
import { runStarted } from "../../support/past-run.ts";

const renderRun = (run: ShownRun, isVerbose = false): string =>
  documentText(runDocument(run, isVerbose), PLAIN);
const renderRuns = (runs: readonly ShownRun[]): string => documentText(runsDocument(runs), PLAIN);
const renderUnfinished = (runs: readonly KnownRun[]): string => documentText(unfinishedDocument(runs), PLAIN);
const renderUndoNotes = (notes: readonly MerchantNote[], verbosity: Verbosity): string =>
  documentText(undoNotes(notes, verbosity), PLAIN);

const AT = "2026-06-15T12:00:00.000Z";
const NAME = "2026-06-15T12-00-00-000Z-MC1";

function write(
  number: number,
  name: string,
  status: NonNullable<PastWrite["outcome"]>["status"] | null,
): PastWrite {
  const failure =
    status === "failed" ? ({ code: "forbidden", message: "The service said no." } as const) : null;
  return {
    intent: {
      at: AT,
      type: "intent",
      write: number,
      phase: "write-members",
      part: "whole",
      resource: "member",
      kind: "create",
      name,
      id: null,
      reason: "declared",
      fingerprint: "0123",
      before: null,
      after: image(name),
    },
    outcome:
      status === null
        ? null
        : { at: AT, type: "outcome", write: number, status, id: null, adopted: false, failure },
  };
}

function ended(status: "done" | "stopped"): PastRun["end"] {
  const outcomes: RunEnded["outcomes"] = {
    done: 1,
    failed: status === "stopped" ? 1 : 0,
    unknown: 0,
    stale: 0,
    unfinished: 0,
    "not-started": 0,
  };
  return {
    at: AT,
    type: "end",
    status,
    cause: status === "stopped" ? "the service said no" : null,
    outcomes,
  };
}

function failedEnd(cause: string): NonNullable<PastRun["end"]> {
  return { ...(ended("stopped") as NonNullable<PastRun["end"]>), cause };
}

/** A run of one merchant. */
function alone(journal: KnownRun): ShownRun {
  return { name: journal.name, status: journal.status, journals: [journal] };
}

function past(rest: Partial<PastRun> = {}): PastRun {
  return {
    run: { at: AT, ...runStarted({ changes: 2 }) },
    writes: [write(1, "ada@example.com", "done")],
    end: ended("done"),
    verified: { at: AT, type: "verified", left: [], deferred: [] },
    torn: false,
    ...rest,
  };
}

test("a new password counts as a change, and is shown as such", () => {
  const one = write(1, "till@example.com", "done");
  const rotated = past({
    run: { at: AT, ...runStarted({ changes: 0 }) },
    writes: [{ ...one, intent: { ...one.intent, kind: "update", id: "mem_1", password: true } }],
  });
  const run = { name: NAME, past: rotated, status: "done" } as const;
  expect(renderRuns([alone(run)])).toContain("1 of 1 change ");
  expect(renderRun(alone(run))).toContain("✓ set the password of member till@example.com");
});

test("a write that was not needed is shown as such", () => {
  const done = write(1, "ada@example.com", "done");
  const writes = done.outcome ? [{ ...done, outcome: { ...done.outcome, already: true as const } }] : [];
  const text = renderRun(alone({ name: NAME, past: past({ writes }), status: "done" }));
  expect(text).toContain("✓ create member ada@example.com  already up to date; nothing was sent\n");
});

const CASES: readonly (readonly [RunStatus, PastRun, boolean])[] = [
  ["done", past(), false],
  [
    "incomplete",
    past({ verified: { at: AT, type: "verified", left: ["delete role X"], deferred: [] } }),
    false,
  ],
  ["stopped", past({ end: ended("stopped"), verified: null }), false],
  [
    "unknown-outcome",
    past({ writes: [write(1, "ada@example.com", "unknown")], end: ended("stopped") }),
    false,
  ],
  ["interrupted", past({ end: null }), false],
  ["running", past({ end: null }), true],
];

test.each(CASES)("the status of a run is shown: %s", (status, run, alive) => {
  expect(runStatus(run, alive)).toBe(status);
});

test("runs are listed in columns, also those that cannot be read", () => {
  const runs = [
    alone({ name: NAME, past: past(), status: "done" }),
    alone({ name: `${NAME}-2`, past: past({ end: null }), status: "interrupted" }),
    {
      name: "broken",
      status: null,
      journals: [{ name: "broken", unreadable: ".rolecall/runs/broken.jsonl:1: it is not JSON" }],
    },
  ];
  expect(renderRuns(runs)).toBe(
    [
      `${NAME}    MC1  -  done         1 of 1 change  by ada@till at 0a1b2c3d4e`,
      `${NAME}-2  MC1  -  interrupted  1 write done   by ada@till at 0a1b2c3d4e`,
      "broken                          -    -  unreadable   -              .rolecall/runs/broken.jsonl:1: it is not JSON",
      "",
    ].join("\n"),
  );
});

/** A run of two merchants and a third whose journal cannot be read. */
function several(): ShownRun {
  const at = (merchant: string, rest: Partial<PastRun>): PastRun =>
    past({
      ...rest,
      run: { at: AT, ...runStarted({ run: "RUN", merchant, changes: 2, environment: "test" }) },
    });
  return {
    name: "RUN",
    status: "stopped",
    journals: [
      { name: "RUN-MC1", past: at("MC1", {}), status: "done" },
      { name: "RUN-MC2", past: at("MC2", { end: ended("stopped"), verified: null }), status: "stopped" },
      { name: "RUN-MC3", unreadable: ".rolecall/runs/RUN-MC3.jsonl: it is empty" },
    ],
  };
}

test("a run of several merchants is one line, with the changes of all", () => {
  expect(renderRuns([several()])).toBe(
    "RUN  3 merchants  test  stopped  2 of 3 changes  by ada@till at 0a1b2c3d4e (1 journal unreadable)\n",
  );
});

test("a run of several merchants is shown with what all have in common once, then merchant by merchant", () => {
  expect(renderRun(several())).toMatchInlineSnapshot(`
    "RUN  stopped
      at       3 merchants
      service  https://service.example
      started  2026-06-15T12:00:00.000Z
      ended    2026-06-15T12:00:00.000Z
      by       ada@till, rolecall 0.0.0, process 4711
      commit   0a1b2c3d4e5f60718293a4b5c6d7e8f901234567

      MC1, test  done
        plan     0123456789ab, 2 changes

        Writes:
          ✓ create member ada@example.com

        Changes: 1 done.
        Verified: no changes remained.

      MC2, test  stopped
        plan     0123456789ab, 2 changes

        Writes:
          ✓ create member ada@example.com

        Stopped: the service said no

        Changes: 1 done, 1 failed.

      RUN-MC3  unreadable  .rolecall/runs/RUN-MC3.jsonl: it is empty
    "
  `);
});

test("of a run of many writes, equal ones are a line, and only merchants with more to say are shown", () => {
  const auditor = (number: number, name: string): PastWrite => {
    const { intent, outcome } = write(number, name, "done");
    const [before, after] = [image(name), image(name, { roles: [{ id: "role_1", name: "Auditor" }] })];
    return { intent: { ...intent, kind: "update", id: `mem_${number}`, before, after }, outcome };
  };
  const journals = Array.from({ length: 30 }, (_, index): KnownRun => {
    const writes = [1, 2, 3].map((number) => auditor(number, `p${number}@example.com`));
    const run = { at: AT, ...runStarted({ changes: 3 }), merchant: `MC${index + 1}` };
    const failure = {
      code: "forbidden",
      message: `POST /merchants/MC${index + 1}/members returned 422.`,
    } as const;
    const failed = write(4, `ben${index + 1}@example.com`, "failed");
    const more: Readonly<Record<number, Partial<KnownRun> & Partial<PastRun>>> = {
      9: {
        status: "stopped",
        writes: failed.outcome ? [{ ...failed, outcome: { ...failed.outcome, failure } }] : [],
        end: failedEnd(failure.message),
        verified: null,
      },
      10: { status: "stopped", writes: [], end: failedEnd("The run was stopped by SIGINT."), verified: null },
      11: { status: "done", writes: [], end: ended("done"), verified: null },
      12: {
        status: "unknown-outcome",
        writes: [write(4, "cy@example.com", "unknown")],
        end: ended("done"),
        verified: null,
      },
    };
    const { status = "done", writes: own = [], ...rest } = more[index === 8 ? 9 : index] ?? {};
    return {
      name: `RUN-MC${index + 1}`,
      past: past({ run, writes: [...writes, ...own], ...rest }),
      status,
    };
  });
  const shown: ShownRun = { name: "RUN", status: "stopped", journals };
  const text = renderRun(shown);
  expect(text.slice(text.indexOf("\n\n") + 1)).toMatchInlineSnapshot(`
    "
      Writes that are done; --verbose shows each:
        ✓ update 90 members: + Auditor at all 30 merchants

      Done and verified, no changes remained: 25 merchants (MC1, MC2, MC3, MC4, MC5
        and 20 more).

      Writes that are not done:
        ✗ failed: create 2 members at 2 merchants (MC9, MC10)
            ben9@example.com, ben10@example.com
            POST /merchants/…/members returned 422.

      Stopped at MC11: The run was stopped by SIGINT.
      Done, not verified at MC12

      Changes: 30 done, 3 failed.

      MC13  outcome unknown
        plan     0123456789ab, 3 changes

        Outcome unknown; these may have taken effect:
          ? create member cy@example.com  unknown
        → To find out, run "rolecall plan": it reads the live state, and shows what
          remains.

        Changes: 1 done.
    "
  `);
  const verbose = renderRun(shown, true);
  expect(verbose.match(/✓ update member p\d@example.com/g)).toHaveLength(90);
});

test("one run is shown with what is unknown first, why it stopped, and what was left", () => {
  const run = past({
    writes: [
      write(1, "ada@example.com", "done"),
      write(2, "ben@example.com", "failed"),
      write(3, "cy@example.com", null),
    ],
    end: ended("stopped"),
    verified: {
      at: AT,
      type: "verified",
      left: ["delete role X"],
      deferred: ["delete member di@example.com"],
    },
  });
  const text = renderRun(alone({ name: NAME, past: run, status: "unknown-outcome" }));
  expect(text.indexOf("cy@example.com")).toBeLessThan(text.indexOf("ada@example.com"));
  expect(text).toContain('To find out, run "rolecall plan"');
  expect(text).toContain("✗ create member ben@example.com  failed · The service said no.");
  expect(text).toContain("Stopped: the service said no");
  expect(text).toContain("Changes: 1 done, 1 failed.");
  expect(text).toContain("Verified; these changes remained:\n    delete role X\n");
  expect(text).toContain("Deferred until others have accepted:\n    delete member di@example.com\n");
});

test("a run tells whose fields may be empty at which merchant, and what they held", () => {
  const run = past({ end: null, writes: [write(1, "ada@example.com", null)] });
  const before = { email: "ada@example.com", roles: [], metadata: { desk: 1 }, managed: null, status: null };
  const unrestored = [{ name: "ada@example.com", fields: ["metadata"], before }];
  const text = renderRun(alone({ name: NAME, past: run, status: "interrupted", unrestored }));
  expect(text).toContain(
    "  The service may have cleared fields that an update did not send:\n" +
      "    ada@example.com at MC1: metadata; before: metadata desk: 1\n" +
      "  → Restore what is empty now at the service, or list it in the file and apply.\n",
  );
});

describe("before the next plan", () => {
  test("an interrupted run is reported, with its unknown outcomes", () => {
    const run = past({ writes: [write(1, "ada@example.com", null)], end: null });
    expect(renderUnfinished([{ name: NAME, past: run, status: "interrupted" }])).toBe(
      "note: the last apply of MC1, 2026-06-15T12-00-00-000Z-MC1, was interrupted.\n" +
        "  Outcome unknown: create member ada@example.com.\n" +
        "  This plan is made from the live state, so it shows what remains.\n",
    );
  });

  test("a list of many unknown outcomes is wrapped", () => {
    const writes = Array.from({ length: 9 }, (_, at) =>
      write(at + 1, `somebody-${at}@shops.example.com`, null),
    );
    const run = past({ writes, end: null });
    const text = renderUnfinished([{ name: NAME, past: run, status: "interrupted" }]);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(PLAIN.columns);
    expect(text).toContain("and 4 more.");
  });

  test("another apply that still runs is reported, with its process", () => {
    const text = renderUnfinished([{ name: NAME, past: past({ end: null }), status: "running" }]);
    expect(text).toBe(
      "note: another apply of MC1 has been running since 2026-06-15T12:00:00.000Z:\n" +
        "  ada@till, process 4711.\n",
    );
  });
});

test("a new invitation that was refused is not told with the id of the expired one", () => {
  const refused = write(1, "ada@example.com", "failed");
  const intent = { ...refused.intent, kind: "replace", part: "create", id: "mem_old" } as const;
  const journal: KnownRun = {
    name: NAME,
    past: past({ writes: [{ ...refused, intent }], end: ended("stopped") }),
    status: "stopped",
  };
  expect(renderRun(alone(journal))).not.toContain("mem_old");
});

test("text from a journal cannot act on a terminal or a CI log", () => {
  const evil = "\u001b[2J::error::x\n::warning::\u202e";
  const run = past({
    run: {
      at: evil,
      ...runStarted({
        merchant: evil,
        service: evil,
        version: evil,
        fingerprint: evil,
        user: evil,
        host: evil,
        job: evil,
        undoes: evil,
        commit: { id: evil, clean: false },
      }),
    },
    writes: [write(1, evil, null), { ...write(2, evil, "failed") }],
    end: { ...(ended("stopped") as NonNullable<PastRun["end"]>), at: evil, cause: evil },
    verified: { at: AT, type: "verified", left: [evil], deferred: [evil] },
  });
  const known = { name: evil, past: run, status: "unknown-outcome" as const };
  const unreadable = { name: evil, unreadable: evil };
  const both: ShownRun = { name: evil, status: "unknown-outcome", journals: [known, unreadable] };
  const notes = ["MC1", evil].map(
    (merchant) => ({ code: "new-id", resource: "role", name: evil, message: evil, merchant }) as const,
  );
  const texts = [
    renderRuns([alone(known), { name: evil, status: null, journals: [unreadable] }, both]),
    renderRun(alone(known)),
    renderRun(both),
    renderUnfinished([known]),
    renderUnfinished([known, known]),
    journalsText(evil, [evil]),
    journalsText(evil, [evil, evil]),
    renderUndoNotes(notes.slice(0, 1), "normal"),
    renderUndoNotes(notes, "verbose"),
  ];
  for (const text of texts) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).not.toMatch(/^\s*::/m);
  }
});

test("what an undo cannot restore is said once for all people and merchants, and with --verbose for each", () => {
  const notes = ["MC1", "MC2", "MC3"].flatMap((merchant) =>
    ["ada", "bob"].map((name) => ({
      code: "invited-again" as const,
      resource: "member" as const,
      name,
      message: `${name} is invited again.`,
      merchant,
    })),
  );
  expect(renderUndoNotes(notes, "normal")).toBe(
    [
      "Cannot be fully restored",
      "  ! In all 3 merchants: ada is invited again. The same applies to bob.",
      "",
    ].join("\n"),
  );
  expect(renderUndoNotes(notes.slice(0, 2), "normal")).toContain(
    "  ! ada is invited again. The same applies to bob.\n",
  );
  expect(renderUndoNotes(notes, "verbose").split("\n").slice(1, 4)).toEqual([
    "  ! In MC1: ada is invited again.",
    "  ! In MC1: bob is invited again.",
    "  ! In MC2: ada is invited again.",
  ]);
});
