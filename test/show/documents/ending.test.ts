import { describe, expect, test } from "vitest";
import type { ApplyResult, MerchantOutcome, Outcome, StopCause } from "../../../src/model/apply.ts";
import type { Change, Plan } from "../../../src/model/plan.ts";
import { renderEnding } from "../../../src/show/documents/ending.ts";
import { journalsText } from "../../../src/show/documents/next-step.ts";
import { PLAIN } from "../../../src/show/style.ts";
import type { AppliedRun, Ending, MerchantEnd, Verification } from "../../../src/show/view/ending-view.ts";
import { desired, invited, live, liveMember, liveRole, member, planOf, role } from "../../support/build.ts";
import { richPlan } from "../../support/rich-plan.ts";

const CONFLICT = {
  code: "conflict",
  message: "PUT /v0.1/merchants/MC1/members/mem_1 returned 409 Conflict: The member is being changed.",
  hint: 'Somebody else may have changed it: run "rolecall plan" again.',
  request: {
    method: "PUT",
    path: "/v0.1/merchants/MC1/members/mem_1",
    status: 409,
    attempts: 2,
    problem: {
      type: "https://rolecall.invalid/problem/conflict",
      title: "Conflict",
      status: 409,
      detail: "The member is being changed.",
      instance: "urn:request:1",
    },
  },
} as const;
const STALE = { code: "stale", message: "It has other permissions now" } as const;
const LOST = { code: "timeout", message: "no answer within 30 s" } as const;

/** An apply that stopped after these; nothing else of the plan was started. */
function stoppedAfter(...statuses: readonly Outcome["status"][]): ApplyResult {
  const outcomes = richPlan().changes.map((change, index): Outcome => {
    const status = statuses[index] ?? "not-started";
    switch (status) {
      case "done":
        return { status, change, id: null, adopted: false };
      case "failed":
        return { status, change, failure: CONFLICT };
      case "stale":
        return { status, change, failure: STALE };
      case "unknown":
        return { status, change, failure: LOST };
      case "unfinished":
      case "not-started":
        return { status, change };
      default:
        return status satisfies never;
    }
  });
  const writes = statuses.filter((status) => status === "done" || status === "unknown").length;
  return { status: "stopped", outcomes, writes, journalFailure: null, unrecorded: [] };
}

/** The ending of an apply at merchants with these results. */
function endingOf(
  ends: readonly (Partial<MerchantEnd> & Pick<MerchantEnd, "result">)[],
  { cause = null, ...rest }: Partial<Ending> & { readonly cause?: StopCause | null } = {},
): Ending {
  const all = ends.map((end, index) => ({
    plan: { ...richPlan(), merchant: `MC${index + 1}` },
    verification: null,
    ...end,
  }));
  const applied: AppliedRun = {
    run: "RUN",
    journals: all.map(({ plan }) => `.rolecall/runs/RUN-${plan.merchant}.jsonl`),
    cause,
    ends: all,
  };
  const outcomes = all.map(
    ({ plan: { merchant }, result }): MerchantOutcome =>
      result.status === "done"
        ? { merchant, status: "applied", reasons: [] }
        : { merchant, status: result.writes > 0 ? "partial" : "failed", reasons: [] },
  );
  return { command: "apply", applied, outcomes, leftOut: 0, ...rest };
}

const textOf = (...given: Parameters<typeof endingOf>): string => renderEnding(endingOf(...given), PLAIN);

/** What to do next, after all causes. */
function nextOf(result: ApplyResult, cause: StopCause | null = null): string {
  const paragraphs = textOf([{ result }], { cause }).trimEnd().split("\n\n");
  return (
    paragraphs
      .at(-1)
      ?.replace(/\nTo undo it: [\s\S]*|\njournal: .*/, "")
      .replaceAll("\n", " ") ?? ""
  );
}

test("an apply that stopped says what failed, what is unknown and what did not start", async () => {
  const text = textOf([{ result: stoppedAfter("done", "failed", "unknown") }]);
  await expect(text).toMatchFileSnapshot("../golden/stopped-apply.txt");
});

test("after a failure it says whether anything was changed, and what to do", () => {
  expect(nextOf(stoppedAfter("done", "failed"))).toBe(
    'Completed changes remain. To continue, fix the problem, then run "rolecall plan" to see what remains, and apply again.',
  );
  expect(nextOf(stoppedAfter("failed"))).toBe(
    'Nothing was changed. To continue, fix the problem, then run "rolecall plan" to see what would change, and apply again.',
  );
});

test("after a stop, an invitation that is refused for now is no problem to fix", () => {
  const stopped = stoppedAfter("done", "failed");
  const failure = { code: "invitation-limited", message: "ada@example.com: try again later." } as const;
  const outcomes = stopped.outcomes.map((one) => (one.status === "failed" ? { ...one, failure } : one));
  expect(nextOf({ ...stopped, outcomes }, { by: "signal", signal: "SIGINT" })).toContain(
    'Completed changes remain. To continue, run "rolecall plan"',
  );
});

test("does not claim whether a change of unknown outcome was made", () => {
  expect(nextOf(stoppedAfter("done", "failed", "unknown"))).toBe(
    'Completed changes remain. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
  expect(nextOf(stoppedAfter("unknown"))).toBe(
    'It is unknown whether anything was changed. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
});

test("after removed invitations it does not claim that nothing was changed", () => {
  const change = planOf(
    desired({ members: [member("ada@example.com")] }),
    live([], [invited("mem_1", "ada@example.com", { status: "expired" })]),
  ).changes[0] as Change;
  const outcomes = [{ status: "unknown", change, failure: LOST, removed: true }] as const;
  expect(textOf([{ result: { ...stoppedAfter(), outcomes } }])).toContain(
    "Apply stopped at MC1: 1 unknown.\n",
  );
});

test("suggests no next step but the same after Ctrl-C", () => {
  const cause = { by: "signal", signal: "SIGINT" } as const;
  expect(nextOf(stoppedAfter("done"), cause)).toBe(
    "The run was stopped by SIGINT. Completed changes remain. To continue, run the command again.",
  );
  expect(nextOf(stoppedAfter(), cause)).toBe(
    "The run was stopped by SIGINT. Nothing was changed. To continue, run the command again.",
  );
});

test("several merchants that stop say why once, with the sum of all of them", () => {
  const cause = { by: "signal", signal: "SIGINT" } as const;
  const text = textOf([{ result: stoppedAfter("done") }, { result: stoppedAfter() }], { cause });
  expect(text).toContain("✗ Apply stopped at 2 merchants: 1 change done, 23 not started.\n");
  expect(text.match(/SIGINT/g)).toHaveLength(1);
});

test("a merchant that stops because of another one names it", () => {
  const ends = [{ result: stoppedAfter("done") }, { result: stoppedAfter("failed") }];
  const cause = { by: "merchant", merchant: "MC2" } as const;
  expect(textOf(ends, { cause })).toContain("The failure at MC2 stopped the run at every merchant.");
  expect(nextOf(stoppedAfter("failed"), { by: "merchant", merchant: "MC1" })).not.toContain("MC1");
});

test("what somebody else has changed since is stale: it is left, and the message says what differs", () => {
  const text = textOf([{ result: stoppedAfter("done", "stale") }]);
  expect(text).toContain("Apply stopped at MC1: 1 change done, 1 stale, 10 not started.\n");
  expect(text).toContain("stale (changed since it was planned; left as it is): delete role Legacy\n");
  expect(text).toContain("error: It has other permissions now\n  → Check that the file");
  expect(nextOf(stoppedAfter("done", "stale"))).toBe(
    'Completed changes remain. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
});

test("a failure's own hint replaces the next step", () => {
  const text = textOf([{ result: stoppedAfter("failed") }]);
  expect(text).not.toContain(CONFLICT.hint);
  expect(text.match(/rolecall plan/g)).toHaveLength(1);
});

test("one cause is told once, with the number of changes and merchants that it hit", () => {
  const ends = Array.from({ length: 60 }, (_, at): { result: ApplyResult } => {
    const { outcomes, ...rest } = stoppedAfter("done", "failed");
    const path = `/v0.1/merchants/MC${at + 1}/members/mem_${at}`;
    const failure = {
      ...CONFLICT,
      message: CONFLICT.message.replace(CONFLICT.request.path, path),
      request: {
        ...CONFLICT.request,
        path,
        attempts: 4 + (at % 3),
        problem: { ...CONFLICT.request.problem, instance: `urn:request:${at}` },
      },
    };
    const own = outcomes.map((one) => (one.status === "failed" ? { ...one, failure } : one));
    return { result: { ...rest, outcomes: own } };
  });
  const text = textOf(ends);
  expect(text).toContain("failed: 60 changes at 60 merchants (MC1, MC2, MC3, MC4, MC5 and 55 more)\n");
  expect(text.match(/^error.*$/gm)).toEqual([
    "error, 60 times: PUT /v0.1/merchants/MC1/members/mem_0 returned 409 Conflict.",
  ]);
  expect(text).toContain("\n  sent     4 to 6 times\n");
  expect(text).toContain("\n    delete role Legacy at 60 merchants\n");
  expect(text.split("\n").length).toBeLessThan(45);
});

test("the merchants add up, and one whose changes nothing has looked at is applied, not verified", () => {
  const { outcomes } = stoppedAfter();
  const done = outcomes.map(({ change }) => ({ status: "done", change, id: null, adopted: false }) as const);
  const result = { ...stoppedAfter(), status: "done", outcomes: done, writes: done.length } as const;
  const cause = { by: "signal", signal: "SIGINT" } as const;
  const interrupted = { status: "unverified", why: "The run was stopped by SIGINT." } as const;
  const ends = [
    { result },
    { result, verification: interrupted },
    { result: stoppedAfter("done", "failed") },
  ] as const;
  const ending = endingOf(ends, { cause });
  const refused = { merchant: "MC4", status: "refused", reasons: ["x"] } as const;
  const text = renderEnding({ ...ending, outcomes: [...ending.outcomes, refused] }, PLAIN);
  expect(text).toMatch(/^\n✗ Apply stopped at 4 merchants: 25 changes done/);
  expect(text).toContain("\n  Merchants: 2 applied, not verified; 1 partly applied; 1 refused.\n");
  expect(text).toContain("? MC2: applied, not verified: the run was stopped by SIGINT.\n");
  expect(text).not.toContain("done, but");
});

test("what is cut is said to be in the record of the run, once", () => {
  const many = Array.from({ length: 60 }, () => ({ result: stoppedAfter("done", "failed") }));
  const text = textOf(many);
  expect(text.match(/and [\d,]+ more/g)?.length).toBeGreaterThan(1);
  expect(text.match(/^To see all: rolecall runs RUN$/gm)).toHaveLength(1);
  expect(text).not.toContain("shows all");
  expect(textOf(many.slice(0, 1))).not.toContain("To see all");
  expect(textOf(many.slice(0, 1), { isCutAbove: true })).toContain("\nTo see all: rolecall runs RUN\n");
});

test("where all is done and only the record is not whole, it says so", () => {
  const { outcomes } = stoppedAfter();
  const done = outcomes.map(({ change }) => ({ status: "done", change, id: null, adopted: false }) as const);
  const journalFailure = {
    code: "journal-unwritable",
    message: "The journal cannot be written.",
    hint: "The disk is full: free some space.",
  } as const;
  const result = {
    status: "stopped",
    outcomes: done,
    writes: done.length,
    journalFailure,
    unrecorded: [],
  } as const;
  const text = textOf([{ result }]);
  expect(text).toContain("Apply stopped at MC1: 12 changes done.\n");
  expect(text).toContain("error: The journal cannot be written.\n  → The disk is full: free some space.\n");
  expect(nextOf(result)).toBe('Completed changes remain. Run "rolecall plan" to see whether changes remain.');
  expect(text).not.toContain("without a record");
  const unrecorded = outcomes.slice(0, 1).map(({ change }) => change);
  const named = `${unrecorded[0]?.kind} ${unrecorded[0]?.resource} ${unrecorded[0]?.name}: done\n`;
  expect(textOf([{ result: { ...result, unrecorded } }])).toContain(
    `not recorded (the outcome is not in the journal):\n    ${named}`,
  );
});

test("a password that was not set is told without its variable", () => {
  const change = richPlan().changes.find((one) => one.resource === "member" && one.kind === "update");
  if (change?.resource !== "member" || change.kind !== "update") throw new Error("no update");
  const rotation = { ...change, fields: [], passwordEnv: "TILL_7" };
  const left = { status: "not-started", change: rotation } as const;
  const result = {
    status: "stopped",
    outcomes: [left],
    writes: 0,
    journalFailure: null,
    unrecorded: [],
  } as const;
  expect(textOf([{ result }])).toContain(`set the password of member ${change.name}`);
});

test("what an expired invitation held is told where it is gone and no new one was sent", () => {
  const change = richPlan().changes.find(({ reason }) => reason === "invitation-expired");
  if (change?.resource !== "member" || change.before === null) throw new Error("no invitation");
  const outcome = { status: "unfinished", change, failure: CONFLICT, removed: true } as const;
  const result: ApplyResult = {
    status: "stopped",
    outcomes: [outcome],
    writes: 1,
    journalFailure: null,
    unrecorded: [],
  };
  const text = textOf([{ result }]);
  expect(text).toContain("Apply stopped at MC1: 1 unfinished.");
  expect(text).toContain("The expired invitation was deleted, and no new one was sent. It held: ");
  for (const { name } of change.before.roles) expect(text).toContain(name);
  expect(text).toContain("invites them with all of this");
  expect(nextOf(result)).toContain("Completed changes remain.");
  const unsure = { status: "unknown", change, failure: LOST, removed: "unknown" } as const;
  expect(textOf([{ result: { ...result, outcomes: [unsure] } }])).toContain(
    "It is unknown whether the expired invitation was deleted; no new one was sent. It held: ",
  );
});

describe("the verification", () => {
  const IS = live([liveRole("role_1", "Till\u001b[2J")], [liveMember("mem_1", "ada@example.com")]);
  const WANT = desired({
    roles: [role("Till\u001b[2J", { permissions: ["a"], description: "x" })],
    members: [],
  });
  const clean = (): Plan => planOf(desired(), IS);
  const done = (): ApplyResult => {
    const outcomes = richPlan().changes.map(
      (change) => ({ status: "done", change, id: null, adopted: false }) as const,
    );
    return { status: "done", outcomes, writes: 12, journalFailure: null, unrecorded: [] };
  };
  const verified = (plan: Plan): Verification => ({
    status: "verified",
    plan,
    leftOut: 0,
    refused: 0,
    unrecorded: null,
  });
  const OPEN: readonly MerchantOutcome[] = [{ merchant: "MC1", status: "partial", reasons: ["x"] }];

  /** A removal that waits for somebody to accept. */
  function deferred(plan: Plan): Plan {
    const change = planOf(WANT, IS).changes.find(({ resource }) => resource === "member");
    if (!change) throw new Error("no change");
    return {
      ...plan,
      deferred: [{ change, role: "Owner", waitsFor: ["bob@example.com", "cy@example.com"] }],
    };
  }

  test("ends a complete apply with what was done, how to undo it, and the journal", () => {
    expect(textOf([{ result: done(), verification: verified(clean()) }])).toBe(
      [
        "✓ Apply complete at MC1: 12 changes done. Verified: no changes remain.",
        "  To undo it: rolecall undo RUN",
        "  journal: .rolecall/runs/RUN-MC1.jsonl",
        "",
      ].join("\n"),
    );
  });

  test("is in one line for sixty merchants, and so are their journals", () => {
    const ends = Array.from({ length: 60 }, () => ({ result: done(), verification: verified(clean()) }));
    expect(textOf(ends)).toBe(
      [
        "✓ Apply complete at 60 merchants: 720 changes done. Verified: no changes remain.",
        "  To undo it: rolecall undo RUN",
        "  journals: .rolecall/runs/RUN-*.jsonl (60 merchants)",
        "",
      ].join("\n"),
    );
  });

  test("does not forget what was left out, deferred, or cannot be created", () => {
    const { roles: _, ...bare } = member("bob\u001b[2J@example.com");
    const plan = deferred({ ...planOf(desired({ members: [bare] }), live()) });
    const text = textOf([{ result: done(), verification: verified(plan) }], { leftOut: 2 });
    expect(text).toContain(
      [
        "✓ Apply complete at MC1: 12 changes done. Verified: no changes remain except 1",
        "  deferred and 1 that cannot be created and 2 left out (the next plan shows them",
        "  again).",
        '    delete member ada@example.com: waits until bob@example.com or cy@example.com has accepted, so that "Owner" keeps enough holders',
        "    member bob\\u{1b}[2J@example.com: not created, since the file declares no roles for it",
        "",
      ].join("\n"),
    );
  });

  test("names what is left, with its fields, made safe to show, equal ones of several merchants once", () => {
    const left = verified(planOf(WANT, IS));
    const one = textOf([{ result: done(), verification: left }], { outcomes: OPEN });
    expect(one).toContain("✗ Apply incomplete at MC1: 12 changes done.\n");
    expect(one).toContain(
      [
        "✗ MC1: the verification found 2 remaining changes; somebody else may have made",
        "  changes in the meantime:",
        "    update role Till\\u{1b}[2J: description, permissions",
        "    delete member ada@example.com",
        "",
      ].join("\n"),
    );
    const two = textOf(
      [
        { result: done(), verification: left },
        { result: done(), verification: left },
      ],
      { outcomes: OPEN },
    );
    expect(two).toContain("✗ MC1, MC2: the verification found 2 remaining changes");
    expect(two.match(/delete member ada/g)).toHaveLength(1);
  });

  test("reports an error in the new plan", () => {
    const twice = live([], [liveMember("mem_1", "ada@example.com"), liveMember("mem_2", "ada@example.com")]);
    const plan = planOf(desired({ members: [member("ada@example.com")] }), twice);
    const text = textOf([{ result: done(), verification: verified(plan) }], { outcomes: OPEN });
    expect(text).toContain("✗ MC1: the verification found 1 problem");
    expect(text).toContain("    error: ");
  });

  test("says that the changes are done all the same where it could not be read again", () => {
    const why = { code: "network", message: "GET /x got no answer.", hint: "Check the network." } as const;
    const text = textOf([{ result: done(), verification: { status: "unverified", why } }], {
      outcomes: OPEN,
    });
    expect(text).toContain(
      [
        "? MC1: applied, not verified: it could not be read again.",
        "error: GET /x got no answer.",
        "  → Check the network.",
        "",
        'Completed changes remain. Run "rolecall plan" to see whether changes remain.',
      ].join("\n"),
    );
  });
});

describe("merchants where the apply was not begun", () => {
  const outcomes: readonly MerchantOutcome[] = [
    { merchant: "MC10", status: "refused", reasons: ["5 of 6 members would be removed.", "y"] },
    { merchant: "MC3\u001b[2J", status: "refused", reasons: ["5 of 6 members would be removed."] },
    { merchant: "MC4", status: "failed", reasons: ["MC4 has no key."] },
    { merchant: "MC2", status: "unchanged", reasons: [] },
  ];

  test("are named with each reason once, and nothing was changed", () => {
    expect(renderEnding({ command: "apply", applied: null, outcomes, leftOut: 0 }, PLAIN)).toBe(
      [
        "",
        "✗ Apply refused at 3 merchants: nothing was changed.",
        "",
        "refused at 2 merchants (MC3\\u{1b}[2J, MC10): 5 of 6 members would be removed.",
        "failed at MC4: MC4 has no key.",
        "refused at MC10: y",
        "",
        "To continue, correct the files, or override or approve the refused changes, and",
        "apply again.",
        "",
      ].join("\n"),
    );
  });

  test("are together, if their reasons differ in the merchant alone", () => {
    const keyless = ["MC1", "MC2"].map((merchant): MerchantOutcome => {
      const reasons = [`There is no API key for ${merchant}. Set KEY_${merchant}.`];
      return { merchant, status: "failed", reasons };
    });
    const ending = { command: "apply", applied: null, outcomes: keyless, leftOut: 0 } as const;
    expect(renderEnding(ending, { ...PLAIN, columns: 120 })).toContain(
      "failed at 2 merchants (MC1, MC2): There is no API key for these merchants. Set KEY_<MERCHANT>.\n",
    );
  });

  test("are counted beside those that are applied", () => {
    const { outcomes: applied, ...ending } = endingOf([{ result: stoppedAfter("done", "failed") }]);
    const text = renderEnding({ ...ending, outcomes: [...applied, ...outcomes] }, PLAIN);
    expect(text).toContain("\n  Merchants: 1 without changes, 1 partly applied, 2 refused, 1 failed.\n");
    expect(text).toContain("\nrefused at 2 merchants (");
  });
});

describe.each([120, 80, 60, 40])("on a terminal of %i columns", (columns) => {
  const style = { ...PLAIN, columns, onTerminal: true };

  /** Sixty merchants: one is stopped by a conflict, two are refused, and one could not be read again. */
  function sixty(): Ending {
    const outcomes = (stop: ApplyResult): readonly Outcome[] => stop.outcomes.slice(0, 4);
    const ends = Array.from(
      { length: 58 },
      (_, at): { result: ApplyResult; verification: Verification | null } => {
        if (at === 12) {
          const stopped = stoppedAfter("done", "failed");
          return { result: { ...stopped, outcomes: outcomes(stopped) }, verification: null };
        }
        const all = stoppedAfter("done", "done", "done", "done");
        const result: ApplyResult = { ...all, status: "done", outcomes: outcomes(all) };
        const plan = planOf(desired(), live());
        const why = { code: "network", message: "GET /v0.1/merchants/MC31/roles got no response." } as const;
        const verification: Verification =
          at === 30
            ? { status: "unverified", why }
            : { status: "verified", plan, leftOut: 0, refused: 0, unrecorded: null };
        return { result, verification };
      },
    );
    const { outcomes: begun, ...ending } = endingOf(ends);
    const refused = ["MC59", "MC60"].map((merchant): MerchantOutcome => {
      return { merchant, status: "refused", reasons: ["5 of 6 members would be removed; the limit is 3."] };
    });
    const known = begun.map((one) =>
      one.merchant === "MC31" ? { ...one, status: "partial" as const } : one,
    );
    return { ...ending, outcomes: [...known, ...refused] };
  }

  test("the ending of sixty merchants says everything once", async () => {
    const text = renderEnding(sixty(), style);
    await expect(text).toMatchFileSnapshot(`../golden/ending-60-${columns}.txt`);
    expect(text.split("\n").length).toBeLessThan(columns < 60 ? 60 : 40);
  });

  test("only paths and commands, which are copied, are wider than the terminal", () => {
    const lines = renderEnding(sixty(), style).split("\n");
    // Elsewhere a message stays whole, for logs that are searched.
    const whole = columns < 80 ? [] : lines.filter((line) => line.startsWith("error"));
    const wide = lines.filter((line) => line.length > columns && !/https?:|journals:|\/v0/.test(line));
    expect(wide.filter((line) => !whole.includes(line))).toEqual([]);
  });
});

test("journals are one line, whatever their number", () => {
  expect(journalsText("RUN", ["a/RUN-MC1.jsonl"])).toBe("journal: a/RUN-MC1.jsonl");
  expect(journalsText("RUN", ["a/RUN-MC1.jsonl", "a/RUN-MC2.jsonl"])).toBe(
    "journals: a/RUN-*.jsonl (2 merchants)",
  );
});
