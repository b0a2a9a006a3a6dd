import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../model/apply.ts";
import type { ErrorCode, Failure } from "../../model/errors.ts";
import { type Block, indented, sentence } from "../blocks/block.ts";
import {
  type AppliedRun,
  type Ending,
  isComplete,
  isInvitationLimited,
  isPassword,
  isRotation,
} from "../view/ending-view.ts";

/** Says what to do next, how to undo the run, and where its journals are. */
export function next(
  { command, applied, outcomes, leftOut, unapproved = [] }: Ending,
  skipped: readonly MerchantOutcome[],
  isCut: boolean,
): readonly Block[] {
  const isDone = isComplete(outcomes);
  const steps = [
    ...(applied === null ? [] : causeText(applied)),
    ...(isDone
      ? []
      : [
          isDoneButFor(unapproved, applied)
            ? restText(applied)
            : applied === null || applied.ends.length === 0
              ? howToBegin(skipped, command)
              : howToGoOn(applied, skipped),
        ]),
    ...(!isDone && leftOut > 0
      ? [
          `${counted(leftOut, "change")} left out; the next plan shows ${leftOut === 1 ? "it" : "them"} again.`,
        ]
      : []),
  ];
  const says = steps.length === 0 ? [] : [sentence(steps.join(" "), { isProse: true })];
  if (applied !== null && applied.journals.length > 0)
    return [...says, isDone ? indented(record(applied, isCut)) : record(applied, isCut)].flat();
  return isCut ? [...says, sentence("Lists are cut: use --format json to see everything.")] : says;
}

function record({ run, journals, ends }: AppliedRun, isCut: boolean): readonly Block[] {
  const revertible = ends.some(
    ({ result: { outcomes, writes } }) =>
      writes > 0 && outcomes.some(({ status, change }) => status !== "not-started" && !isPassword(change)),
  );
  return [
    ...(isCut ? [sentence(`To see all: rolecall runs ${run}`)] : []),
    ...(revertible ? [sentence(`To undo it: rolecall undo ${run}`)] : []),
    sentence(journalsText(run, journals), { isLogged: true }),
  ];
}

/** Returns the paths of a run's journals in one line. */
export function journalsText(run: string, files: readonly string[]): string {
  const [first = "", ...more] = files;
  if (more.length === 0) return `journal: ${oneLine(first)}`;
  const folder = first.slice(0, Math.max(first.lastIndexOf("/"), first.lastIndexOf("\\")) + 1);
  return `journals: ${oneLine(`${folder}${run}-*.jsonl`)} (${counted(files.length, "merchant")})`;
}

/** Returns the cause of a stop at merchants without failures of their own. */
function causeText({ cause, ends }: Pick<AppliedRun, "cause" | "ends">): readonly string[] {
  if (cause === null) return [];
  switch (cause.by) {
    case "merchant":
      if (ends.length === 1) return [];
      return [`The failure at ${cause.merchant} stopped the run at every merchant.`];
    case "signal":
      return [`The run was stopped by ${cause.signal}.`];
    case "output":
      return [`The run was stopped because ${cause.stream} could not be written to.`];
    default:
      return cause satisfies never;
  }
}

const SAVE_REST =
  'Completed changes remain. To continue, save the remaining changes with "rolecall plan --out", get that plan approved, and apply it.';

const CORRECT_REST =
  "Completed changes remain. To remove the rest, correct the files or the conflicting access, and apply again.";

/** Returns how to complete the rest: changes that a rule prevents, or that are not approved. */
function restText(applied: AppliedRun | null): string {
  const plans = (applied?.ends ?? []).map(({ plan }) => plan);
  const isKept = plans.some(({ findings }) => findings.some(({ code }) => code === "due-kept"));
  return isKept ? CORRECT_REST : SAVE_REST;
}

function isDoneButFor(unapproved: readonly MerchantOutcome[], applied: AppliedRun | null): boolean {
  const outcomes = (applied?.ends ?? []).flatMap(({ result }) => result.outcomes);
  return unapproved.length > 0 && outcomes.every(({ status }) => status === "done");
}

/** Returns how to start again if nothing was applied at any merchant. */
function howToBegin(skipped: readonly MerchantOutcome[], command: Ending["command"]): string {
  const isRefused = skipped.some(({ status }) => status === "refused");
  const fix = isRefused
    ? "correct the files, or override or approve the refused changes"
    : "fix the problems above";
  return `To continue, ${fix}, and ${command === "apply" ? "apply again" : "run the undo again"}.`;
}

function howToGoOn({ ends }: AppliedRun, skipped: readonly MerchantOutcome[]): string {
  const outcomes = ends.flatMap(({ result }) => result.outcomes);
  const writes = ends.reduce((sum, { result }) => sum + result.writes, 0);
  const plan = 'run "rolecall plan"';
  const unknown = outcomes.filter(({ status }) => status === "unknown").length;
  const what =
    writes > unknown
      ? "Completed changes remain."
      : unknown > 0
        ? "It is unknown whether anything was changed."
        : "Nothing was changed.";
  if (isRotation(ends) && (skipped.length > 0 || outcomes.some(({ status }) => status !== "done"))) {
    const isToFix = skipped.length > 0 || outcomes.some(({ status }) => status === "failed");
    const fix = isToFix ? "fix the problem, and " : "";
    return `${what} To continue, ${fix}run the command again: passwords that are already set are kept.`;
  }
  if (unknown > 0) return `${what} To continue, ${plan} to see what remains, and apply again.`;
  const hasFailures = ends.some(
    ({ result, verification }) =>
      result.journalFailure !== null ||
      verification !== null ||
      result.outcomes.some((outcome) => "failure" in outcome && outcome.failure),
  );
  if (!hasFailures && skipped.length === 0) return `${what} To continue, run the command again.`;
  if (skipped.length === 0 && outcomes.every(({ status }) => status === "done"))
    return `${what} Run "rolecall plan" to see whether changes remain.`;
  // A refused invitation only needs time.
  const isToFix =
    skipped.length > 0 ||
    outcomes.some((outcome) => outcome.status === "failed" && !isInvitationLimited(outcome));
  return `${what} To continue, ${isToFix ? "fix the problem, then " : ""}${plan} to see what ${writes > 0 ? "remains" : "would change"}, and apply again.`;
}

/** The placeholder of the failure's own hint, which names the key, the permission or the address. */
const HINT = Symbol("hint");

/** The sentence to print after an apply stopped with each code; `null` for codes that cannot stop an apply. */
const NEXT_STEPS: Readonly<Record<ErrorCode, string | typeof HINT | null>> = {
  "bad-request":
    "Correct the file as the detail says; if the file is correct, report this as a bug in rolecall.",
  unauthorized: HINT,
  "request-failed":
    "Fix what the detail describes; if it is unclear, contact the service's operators about this instance.",
  forbidden: HINT,
  "not-found":
    "It may have been removed in the meantime; otherwise check the merchant code, the base URL and the key.",
  conflict:
    "This conflicts with the current live state: find out what has changed, and correct the file or the account.",
  unprocessable: "The service rejected the request as invalid: correct the file as the detail says.",
  "dependency-failed": "A dependency of the service has failed: try again later.",
  "rate-limited": HINT,
  "invitation-limited": HINT,
  "service-failed": "The service has an internal error: try again later.",
  "unexpected-status": HINT,
  network: "Check the network and the base URL, and that the service is up.",
  timeout: "Check the network and the base URL, and that the service is up.",
  "bad-response": HINT,
  "listing-unstable": "Somebody is changing this account right now: try again later.",
  "too-many-items": HINT,
  stale: "Check that the file is still what you want.",
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
  "account-environment": HINT,
  "apply-running": HINT,
  "password-missing": null,
  "confirmation-needed": null,
  "override-stray": null,
  "not-requestable": null,
  "port-taken": null,
  "run-unknown": null,
  "record-untrusted": null,
};

/** Returns what to do about a change that was not done; `null` if there is nothing to say. */
export function nextStepFor(status: Outcome["status"], { code, hint }: Failure): string | null {
  if (status === "unknown") return "The change may have taken effect: the next plan shows whether it has.";
  const step = NEXT_STEPS[code];
  return step === HINT || step === null ? (hint ?? null) : step;
}
