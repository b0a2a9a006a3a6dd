import { expect, test } from "vitest";
import type { ApplyResult, Outcome, StopCause } from "../../../src/model/apply.ts";
import type { Change } from "../../../src/model/plan.ts";
import { PLAIN } from "../../../src/render/style.ts";
import {
  renderApplyEvent,
  renderApplyResult,
  renderApplyTotal,
  renderPasswords,
} from "../../../src/render/text/apply-text.ts";
import { desired, invited, live, member, planOf } from "../../support/build.ts";
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

/** What follows the lists. */
function ending(result: ApplyResult, cause: StopCause | null = null): string {
  const paragraphs = renderApplyResult("MC1", result, cause, PLAIN).trimEnd().split("\n\n");
  return paragraphs.at(-1)?.replaceAll("\n", " ") ?? "";
}

test("an apply that stopped lists what failed, what is unknown and what did not start", async () => {
  const text = renderApplyResult("MC1", stoppedAfter("done", "failed", "unknown"), null, PLAIN);
  await expect(text).toMatchFileSnapshot("../golden/stopped-apply.txt");
});

test("after a failure it says whether anything was changed, and what to do", () => {
  expect(ending(stoppedAfter("done", "failed"))).toBe(
    'Completed changes remain. To continue, fix the problem, then run "rolecall plan" to see what remains, and apply again.',
  );
  expect(ending(stoppedAfter("failed"))).toBe(
    'Nothing was changed. To continue, fix the problem, then run "rolecall plan" to see what would change, and apply again.',
  );
});

test("after a stop, an invitation that is refused for the time being is no problem to fix", () => {
  const stopped = stoppedAfter("done", "failed");
  const failure = { code: "invitation-limited", message: "ada@example.com: try again later." } as const;
  const outcomes = stopped.outcomes.map((one) => (one.status === "failed" ? { ...one, failure } : one));
  expect(ending({ ...stopped, outcomes }, { by: "signal", signal: "SIGINT" })).toContain(
    'Completed changes remain. To continue, run "rolecall plan"',
  );
});

test("does not claim whether a change of unknown outcome was made", () => {
  expect(ending(stoppedAfter("done", "failed", "unknown"))).toBe(
    'Completed changes remain. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
  expect(ending(stoppedAfter("unknown"))).toBe(
    'It is unknown whether anything was changed. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
});

test("after removed invitations it does not claim that nothing was changed", () => {
  const change = planOf(
    desired({ members: [member("ada@example.com")] }),
    live([], [invited("mem_1", "ada@example.com", { status: "expired" })]),
  ).changes[0] as Change;
  const outcomes = [{ status: "unknown", change, failure: LOST, removed: true }] as const;
  const text = renderApplyResult("MC1", { ...stoppedAfter(), outcomes }, null, PLAIN);
  expect(text).toContain("MC1: stopped. 1 unknown.\n");
});

test("suggests no next step after Ctrl-C", () => {
  const cause = { by: "signal", signal: "SIGINT" } as const;
  expect(ending(stoppedAfter("done"), cause)).toBe(
    "The run was stopped by SIGINT. Completed changes remain. To continue, run the command again.",
  );
  expect(ending(stoppedAfter(), cause)).toBe(
    "The run was stopped by SIGINT. Nothing was changed. To continue, run the command again.",
  );
});

test("several merchants that stop say why once, with the sum of all of them", () => {
  const cause = { by: "signal", signal: "SIGINT" } as const;
  const ends = [stoppedAfter("done"), stoppedAfter()];
  const text = [
    ...ends.map((result, index) => renderApplyResult(`MC${index + 1}`, result, cause, PLAIN, true)),
    renderApplyTotal(ends, cause, PLAIN),
  ].join("");
  expect(text).toContain(
    `\n2 merchants: stopped. 1 change done, 23 not started.\nThe run was stopped by SIGINT. Completed changes remain. To continue, run the\ncommand again.\n`,
  );
  expect(text.match(/SIGINT/g)).toHaveLength(1);
  // What was not begun anywhere at a merchant is in its plan.
  expect(text).toContain("\nMC2: stopped. 0 changes done, 12 not started.\n\n2 merchants");
});

test("a merchant that stops because of another one names it", () => {
  const cause = { by: "merchant", merchant: "MC2" } as const;
  expect(ending(stoppedAfter("done"), cause)).toBe(
    "The run was stopped by the failure at MC2: the first failure stops it at every merchant. Completed changes remain. To continue, run the command again.",
  );
  expect(ending(stoppedAfter("failed"), cause)).not.toContain("MC2");
});

test("what somebody else has changed since is stale: it is left, and the message says what differs", () => {
  const text = renderApplyResult("MC1", stoppedAfter("done", "stale"), null, PLAIN);
  expect(text).toContain("MC1: stopped. 1 change done, 1 stale, 10 not started.\n");
  expect(text).toContain("  stale (changed since it was planned; left as it is):\n    delete role Legacy\n");
  expect(text).toContain("error: It has other permissions now\n  → Check that the file");
  expect(ending(stoppedAfter("done", "stale"))).toBe(
    'Completed changes remain. To continue, run "rolecall plan" to see what remains, and apply again.',
  );
});

test("a failure's own hint replaces the next step", () => {
  const text = renderApplyResult("MC1", stoppedAfter("failed"), null, PLAIN);
  expect(text).not.toContain(CONFLICT.hint);
  expect(text.match(/rolecall plan/g)).toHaveLength(1);
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
  const text = renderApplyResult("MC1", result, null, PLAIN);
  expect(text).toContain("MC1: stopped. 12 changes done.\n");
  expect(text).toContain("error: The journal cannot be written.\n  → The disk is full: free some space.\n");
  expect(ending(result)).toBe(
    'Completed changes remain. Run "rolecall plan" to verify that no changes remain.',
  );
  expect(text).not.toContain("without a record");
  const unrecorded = outcomes.slice(0, 1).map(({ change }) => change);
  const named = `${unrecorded[0]?.kind} ${unrecorded[0]?.resource} ${unrecorded[0]?.name}: done\n`;
  expect(renderApplyResult("MC1", { ...result, unrecorded }, null, PLAIN)).toContain(
    `  not recorded (the outcome is not in the journal):\n    ${named}`,
  );
});

test("a password that was set, or was not, is told by its variable only", () => {
  const change = richPlan().changes.find((one) => one.resource === "member" && one.kind === "update");
  if (change?.resource !== "member" || change.kind !== "update") throw new Error("no update");
  const rotation = { ...change, fields: [], passwordEnv: "TILL_7" };
  const done = { status: "done", change: rotation, id: null, adopted: false } as const;
  const event = { type: "change-ended", merchant: "MC1", phase: "set-passwords", outcome: done } as const;
  expect(renderApplyEvent(event, PLAIN)).toBe(`✓ MC1  member ${change.name} password set from TILL_7`);
  const left = { status: "not-started", change: rotation } as const;
  const result = {
    status: "stopped",
    outcomes: [left],
    writes: 0,
    journalFailure: null,
    unrecorded: [],
  } as const;
  expect(renderApplyResult("MC1", result, null, PLAIN)).toContain(
    `set the password of member ${change.name}`,
  );
  const plan = { merchant: "MC1" };
  expect(renderPasswords([{ plan, passwords: [rotation] }], PLAIN)).toBe(
    `MC1: the password of ${change.name} will be set from TILL_7.\n\n`,
  );
  const many = { plan, passwords: Array.from({ length: 30 }, () => rotation) };
  expect(renderPasswords([many, { plan: { merchant: "MC2" }, passwords: [] }], PLAIN)).toBe(
    `The passwords of 30 managed users at MC1 will be set: ${change.name},\n  ${change.name}, ${change.name} and 27 more.\n\n`,
  );
  expect(renderPasswords([many, many], PLAIN)).toContain(
    "The passwords of 60 managed users at 2 merchants will",
  );
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
  const text = renderApplyResult("MC1", result, null, PLAIN);
  expect(text).toContain("MC1: stopped. 1 unfinished.");
  expect(text).toContain("The expired invitation was deleted, and no new one was sent. It held: ");
  for (const { name } of change.before.roles) expect(text).toContain(name);
  expect(text).toContain("The journal has this");
  expect(ending(result)).toContain("Completed changes remain.");
  const unsure = { status: "unknown", change, failure: LOST, removed: "unknown" } as const;
  expect(renderApplyResult("MC1", { ...result, outcomes: [unsure] }, null, PLAIN)).toContain(
    "It is unknown whether the expired invitation was deleted; no new one was sent. It held: ",
  );
});
