import type { Outcome } from "../../model/apply.ts";
import type { ErrorCode, Failure } from "../../model/errors.ts";

/** The failure's own hint says it best: it names the key, the permission or the address. */
const HINT = Symbol("hint");

/**
 * What is to be solved after an apply was stopped by a failure, one sentence for each code. That it is to be planned
 * and applied again holds for all of them, and is said once. Null: it cannot stop an apply.
 */
const NEXT_STEPS: Readonly<Record<ErrorCode, string | typeof HINT | null>> = {
  "bad-request": "Look at the detail: correct the file; if it is right, report this as a bug in rolecall.",
  unauthorized: HINT,
  "request-failed":
    "Solve what the detail says; where it does not say enough, ask the service's operators about this instance.",
  forbidden: HINT,
  "not-found": "It may have been removed meanwhile; else check the merchant code, the base URL and the key.",
  conflict:
    "This conflicts with the current live state: find out what has changed there, and correct the file or the account.",
  unprocessable: "The service rejected the request as invalid: correct the file as the detail says.",
  "dependency-failed": "Something that the service depends on has failed: wait until it is back.",
  "rate-limited": HINT,
  "invitation-limited": HINT,
  "service-failed": "The service has a problem of its own: wait until it is back.",
  "unexpected-status": HINT,
  network: "Check the network and the base URL, and that the service is up.",
  timeout: "Check the network and the base URL, and that the service is up.",
  "bad-answer": HINT,
  "listing-unstable": "Somebody is changing this account right now: wait until they are done.",
  stale: "Somebody has changed it since it was planned: find out whether the file still says what is wanted.",
  "journal-unwritable": HINT,
  "not-restored": HINT,
  usage: HINT,
  "file-unreadable": null,
  "file-unwritable": null,
  "file-invalid": null,
  "no-files": null,
  "base-url-missing": null,
  "base-url-insecure": null,
  "key-missing": null,
  "key-malformed": null,
  "key-environment": null,
  "password-missing": null,
  "confirmation-needed": null,
  "override-stray": null,
  "port-taken": null,
  "run-unknown": null,
};

/** What to do about a change that was not done, in a sentence; null where there is nothing to say. */
export function nextStepFor(status: Outcome["status"], { code, hint }: Failure): string | null {
  if (status === "unknown")
    return "The service may have done it all the same: the next plan shows whether it has.";
  const step = NEXT_STEPS[code];
  return step === HINT || step === null ? (hint ?? null) : step;
}
