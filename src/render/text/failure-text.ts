import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Outcome } from "../../model/apply.ts";
import type { ErrorCode, Failure, Problem } from "../../model/errors.ts";
import type { Style } from "../style.ts";
import { wrapText } from "./wrap.ts";

/** Failures, each kind once: those that differ in no more than path, instance and extensions are one, with their number. */
export function renderFailures(failures: readonly Failure[], style: Style): string {
  const kinds = new Map<string, { readonly first: Failure; times: number }>();
  for (const failure of failures) {
    const kind = kindOf(failure);
    const known = kinds.get(kind);
    if (known) known.times += 1;
    else kinds.set(kind, { first: failure, times: 1 });
  }
  return [...kinds.values()].map(({ first, times }) => renderFailure(first, style, times)).join("");
}

/** Why something could not be done: the message, the service's Problem whole, and what to do next. */
export function renderFailure(failure: Failure, style: Style, times = 1): string {
  const { message, hint, request } = failure;
  const problem = request?.problem;
  const head = times > 1 ? `error, ${counted(times, "time")}` : "error";
  const text = withoutDetail(message, problem).split("\n").map(oneLine).join("\n");
  const lines = [`${style.red(head)}: ${text}`];
  if (problem) {
    const fields = [
      ["type", problem.type],
      ["title", problem.title],
      ["status", problem.status?.toString()],
      ["detail", problem.detail],
      ["instance", problem.instance],
      ...(problem.extensions ?? []).map(({ name, value }) => [oneLine(name), value] as const),
    ] as const;
    for (const [name, value] of fields) {
      if (value !== undefined) lines.push(`  ${style.dim(`${name} `.padEnd(9))}${oneLine(value)}`);
    }
  }
  if (request && request.attempts > 1) {
    lines.push(`  ${style.dim("sent".padEnd(9))}${counted(request.attempts, "time")}`);
  }
  if (hint !== undefined) {
    const [first = "", ...rest] = wrapText(oneLine(hint), style.columns - 4);
    lines.push(`  ${style.cyan("→")} ${first}`, ...rest.map((line) => `    ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

/** A message alone ends with what the Problem says; where the Problem follows, once is enough. */
function withoutDetail(message: string, problem: Problem | undefined): string {
  const said = [problem?.detail, problem?.title, problem?.type].find((text) => text !== undefined);
  return said && message.endsWith(`: ${said}`) ? `${message.slice(0, -`: ${said}`.length)}.` : message;
}

function kindOf({ code, message, hint, request }: Failure): string {
  const { instance: _, extensions: __, ...problem } = request?.problem ?? { type: null };
  const words = request ? message.replaceAll(request.path, "") : message;
  return JSON.stringify([code, words, hint, problem, request?.attempts]);
}

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
