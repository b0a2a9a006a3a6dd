import { failedOutcome, parseOverrides, skippedMerchants } from "../../app/apply/approval.ts";
import { createCancellation } from "../../app/apply/cancellation.ts";
import {
  addressMatcher,
  managedMembers,
  passwordsFor,
  requireMatches,
  rotationPlanner,
  rotationsFor,
  withoutPasswords,
} from "../../app/apply/passwords.ts";
import { applyReporter } from "../../app/apply/reporter.ts";
import { runApply } from "../../app/apply/run-apply.ts";
import { applyExitCode } from "../../app/io/io.ts";
import { fileJournals } from "../../app/journal/write-journal.ts";
import { plannedOnly } from "../../app/session/session.ts";
import { unplannedOf } from "../../app/show/show-plans.ts";
import { oneLine } from "../../lib/escape.ts";
import { by, counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { PLAIN } from "../../show/style.ts";
import { renderFailure } from "../../show/text/failure-text.ts";
import { type ActionContext, type ActionResult, failed, passed } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import { annotate } from "../context/action-log.ts";
import { diagnosticAnnotations, maskedAnnotations } from "../review/annotations.ts";
import {
  APPLY_ENDS,
  type ApplyEnd,
  applyEnd,
  captureApplyLog,
  failureText,
  reportApply,
} from "../review/apply-page.ts";
import { leftTo, newerCommit } from "../review/covered-merchants.ts";
import { keysNamedBy, loadFiles, planFiles, withActionErrors } from "../review/load-and-plan.ts";
import { guardApplyBranch, guardCredentials, passwordEnvironment } from "../review/secret-policy.ts";

/** Events by which somebody, or a schedule, asks for new passwords; a push would set them again each time. */
const ROTATING_EVENTS = new Set(["workflow_dispatch", "schedule"]);

/**
 * Runs `apply` with `rotate-password`: sets the passwords of managed users of the default branch's files, and nothing else.
 * It changes nobody's access, so it needs no approval; a disabled user, whom a password would enable, needs an override.
 */
export async function rotatePasswords(context: ActionContext): Promise<ActionResult> {
  const { event, inputs, github } = context;
  if (inputs.only !== "") {
    throw new ActionError("usage", "The inputs rotate-password and only cannot be given together.");
  }
  if (!ROTATING_EVENTS.has(event.name)) {
    throw new ActionError(
      "unsafe-event",
      `The event ${event.name} cannot set passwords.`,
      "Run it by workflow_dispatch, or on a schedule.",
    );
  }
  const branch = await guardApplyBranch(context, github);
  return withActionErrors(() => rotate(context, branch)).catch((error: unknown) => {
    if (!(error instanceof ActionError)) throw error;
    const message = error.message.replaceAll("--rotate-password", "rotate-password");
    throw new ActionError(error.reason, message, hintOf(error));
  });
}

function hintOf({ reason, hint, message }: ActionError): string | null {
  return reason === "key-missing" && message.startsWith("Passwords of")
    ? "Add a line NAME=password of at least 8 characters to the input passwords. Nothing was changed."
    : hint;
}

async function rotate(context: ActionContext, branch: string): Promise<ActionResult> {
  const { inputs, io, log, masked } = context;
  const loaded = await loadFiles(inputs, io);
  const annotations = diagnosticAnnotations(loaded.diagnostics);
  annotate(masked ? maskedAnnotations(annotations) : annotations, log);
  if (!loaded.valid) throw new ActionError("invalid-files", "The files have errors: fix them first.");
  const states = rotatedStates(loaded.states, inputs.rotatePassword);
  const keys = keysNamedBy(states, io.env);
  keys.forEach(context.maskSecret);
  const newer = await newerCommit(context, branch, states);
  if (newer.merchants.size > 0) {
    throw new ActionError(
      "stale-commit",
      leftTo(newer),
      "Run the workflow again, which takes the newer commit.",
    );
  }
  await guardCredentials(context, states);
  const cancellation = createCancellation((text) => io.stderr.write(`${text}\n`), io);
  const { planned, progress, close } = await planFiles(states, inputs, io, {
    signal: cancellation.cancelled,
    makePlan: rotationPlanner(inputs.rotatePassword),
  });
  try {
    const looks = plannedOnly(planned);
    const rotations = rotationsFor(inputs.rotatePassword, looks, io.now(), looks.length === planned.length);
    const refused = skippedMerchants(looks, parseOverrides(inputs.allow), new Map());
    const skipped = new Set(refused.map(({ merchant }) => merchant));
    const all = looks.flatMap((look) => {
      const { merchant } = look.plan;
      const passwords = rotations.get(merchant) ?? [];
      return passwords.length === 0 || skipped.has(merchant) ? [] : [{ ...look, passwords }];
    });
    const env = passwordEnvironment(context, keys);
    const missing = withoutPasswords(all, { env });
    // If no password is there, the error that ends the run names all of them.
    const unready = missing.length < all.length ? missing : [];
    const waiting = new Set(unready.map(({ merchant }) => merchant));
    const due = all.filter(({ plan }) => !waiting.has(plan.merchant));
    const failures = unplannedOf(planned);
    const lines = [
      ...failures.flatMap(({ merchant, failure }) => [
        `${merchant} could not be read.`,
        ...renderFailure(failure, PLAIN).trimEnd().split("\n"),
      ]),
      ...looks.flatMap(({ plan }) => notesOf(plan)),
    ];
    const reporter = applyReporter({ format: "text", color: false }, () => null, io);
    for (const line of lines) reporter.say(line);
    const left = [
      ...refused,
      ...[...planned.flatMap((one) => (one.status === "planned" ? [] : [one])), ...unready].map(
        failedOutcome,
      ),
    ];
    if (left.length > 0) reporter.skipped(left, due.length);
    reporter.passwords(due);
    const password = passwordsFor(
      [],
      due.flatMap(({ passwords }) => passwords),
      env,
    );
    // No access was planned, so the verification has nothing to say about it.
    const captured = captureApplyLog(reporter, progress);
    const applied =
      due.length === 0
        ? []
        : await runApply(
            due,
            {
              password,
              concurrency: inputs.concurrency,
              recheck: true,
              onError: "continue",
              cancellation,
              openJournal: fileJournals(io),
              sleep: io.sleep,
            },
            {
              ...captured.reporter,
              applied: (run) => {
                const ends = run.ends.map((one) => ({ ...one, verification: null }));
                captured.reporter.applied({ ...run, ends });
              },
            },
          );
    const outcomes = [...applied, ...left].sort(by(({ merchant }) => merchant));
    captured.reporter.ended({ outcomes, leftOut: 0 }, applyExitCode(outcomes));
    const count = due.reduce((sum, { passwords }) => sum + passwords.length, 0);
    const end = endOf(applyEnd({ applied, left, unapproved: new Map() }), count);
    const report = {
      ...end,
      lines: [...lines, ...captured.lines()],
      outcomes,
      plans: [],
      placeOf: () => null,
    };
    const outputs = await reportApply(context, [], report);
    const { result, reason } = end;
    return reason === null ? passed(result, outputs) : failed(result, reason, failureText(report), outputs);
  } finally {
    cancellation.close();
    await close();
  }
}

/** Returns the users that are left out, and what overrides a refusal, a line each. */
function notesOf({ merchant, findings, refusals, fingerprint }: Plan): readonly string[] {
  return [
    ...findings.map(({ message }) => `${merchant}: ${message}`),
    ...refusals.map(
      ({ message, override }) =>
        `${merchant}: ${message} To override, add this line to the input allow: ${override}@${fingerprint.slice(0, 12)}`,
    ),
  ].map(oneLine);
}

/** Returns the merchants with a managed user whose password is to be set; throws RolecallError for a pattern of nobody. */
function rotatedStates(states: readonly DesiredState[], wanted: readonly string[]): readonly DesiredState[] {
  requireMatches(
    wanted,
    states.flatMap(managedMembers).map(({ email }) => email),
  );
  const isWanted = addressMatcher(wanted);
  return states.filter((state) => managedMembers(state).some(({ email }) => isWanted(email)));
}

function endOf(end: ApplyEnd, count: number): ApplyEnd {
  if (end === APPLY_ENDS.applied) {
    return { ...end, verdict: `✅ rolecall apply: ${counted(count, "password")} set` };
  }
  if (end === APPLY_ENDS.nothing) {
    return { ...end, message: "None of these users is live yet: their first apply sets their passwords." };
  }
  if (end !== APPLY_ENDS.partial) return end;
  const message =
    "Not every password was set. Run it again for the users that are left, which the log lists: the service refuses a password that was used before.";
  return { ...end, message };
}
