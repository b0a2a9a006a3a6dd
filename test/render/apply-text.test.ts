import { expect, test } from "vitest";
import type { ApplyResult, Outcome, StopCause } from "../../src/model/apply.ts";
import { renderApplyResult } from "../../src/render/apply-text.ts";
import { PLAIN } from "../../src/render/style.ts";
import { richPlan } from "../support/rich-plan.ts";

const CONFLICT = {
  code: "conflict",
  message: "PUT /v0.1/merchants/MC1/members/mem_1 answered 409 Conflict: The member is being changed.",
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
  return { status: "stopped", outcomes, writes, journalFailure: null };
}

/** What follows the lists. */
function ending(result: ApplyResult, cause: StopCause | null = null): string {
  return renderApplyResult("MC1", result, cause, PLAIN).trimEnd().split("\n").at(-1) ?? "";
}

test("an apply that stopped lists what failed, what is unknown and what did not start", async () => {
  const text = renderApplyResult("MC1", stoppedAfter("done", "failed", "unknown"), null, PLAIN);
  await expect(text).toMatchFileSnapshot("golden/stopped-apply.txt");
});

test("after a failure it says whether anything was changed, and what to do", () => {
  expect(ending(stoppedAfter("done", "failed"))).toBe(
    'What was done stays done. Solve the problem, then run "rolecall plan" to see what is left.',
  );
  expect(ending(stoppedAfter("failed"))).toBe(
    'Nothing was changed. Solve the problem, then run "rolecall plan" to see what is to do.',
  );
});

test("where it is unknown whether a change was done, it claims neither", () => {
  expect(ending(stoppedAfter("done", "failed", "unknown"))).toBe(
    'Solve the problem, then run "rolecall plan" to see what was done and what is left.',
  );
  expect(ending(stoppedAfter("unknown"))).toBe('Run "rolecall plan" to see what was done and what is left.');
});

test("after Ctrl-C there is no problem to solve", () => {
  const cause = { by: "signal", signal: "SIGINT" } as const;
  expect(ending(stoppedAfter("done"), cause)).toBe(
    "It was stopped by SIGINT. What was done stays done. To go on, run it again.",
  );
  expect(ending(stoppedAfter(), cause)).toBe(
    "It was stopped by SIGINT. Nothing was changed. To go on, run it again.",
  );
});

test("a merchant that stops because of another one names it", () => {
  const cause = { by: "merchant", merchant: "MC2" } as const;
  expect(ending(stoppedAfter("done"), cause)).toBe(
    "It stopped because MC2 did: the first failure stops the whole run. What was done stays done. To go on, run it again.",
  );
  expect(ending(stoppedAfter("failed"), cause)).not.toContain("MC2");
});
