import { expect, test } from "vitest";
import type { ErrorCode } from "../../../src/model/errors.ts";
import { nextStepFor } from "../../../src/render/text/next-step.ts";

const HINT = "The hint of the failure.";

test.each<[code: ErrorCode, says: string]>([
  ["bad-request", "Look at the detail: correct the file; if it is right, report this as a bug in rolecall."],
  ["unauthorized", HINT],
  [
    "request-failed",
    "Solve what the detail says; where it does not say enough, ask the service's operators about this instance.",
  ],
  ["forbidden", HINT],
  [
    "not-found",
    "It may have been removed meanwhile; else check the merchant code, the base URL and the key.",
  ],
  [
    "conflict",
    "This conflicts with the current live state: find out what has changed there, and correct the file or the account.",
  ],
  ["unprocessable", "The service rejected the request as invalid: correct the file as the detail says."],
  ["dependency-failed", "Something that the service depends on has failed: wait until it is back."],
  ["rate-limited", HINT],
  ["service-failed", "The service has a problem of its own: wait until it is back."],
  ["unexpected-status", HINT],
  ["network", "Check the network and the base URL, and that the service is up."],
  ["timeout", "Check the network and the base URL, and that the service is up."],
  ["bad-answer", HINT],
  ["listing-unstable", "Somebody is changing this account right now: wait until they are done."],
  [
    "stale",
    "Somebody has changed it since it was planned: find out whether the file still says what is wanted.",
  ],
  ["journal-unwritable", HINT],
  ["usage", HINT],
])("after %s it says in one sentence what to do", (code, says) => {
  expect(nextStepFor("failed", { code, message: "It failed.", hint: HINT })).toBe(says);
});

test("what may have been done is not called a failure, whatever kept the answer away", () => {
  for (const code of ["timeout", "service-failed", "bad-answer"] as const) {
    expect(nextStepFor("unknown", { code, message: "It was lost.", hint: HINT })).toBe(
      "The service may have done it all the same: the next plan shows whether it has.",
    );
  }
});

test("a failure that has no hint, where the hint would say it, says nothing more", () => {
  expect(nextStepFor("failed", { code: "forbidden", message: "No." })).toBeNull();
});
