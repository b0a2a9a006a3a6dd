import { Command, Option } from "commander";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { ApplyReporter } from "../apply/reporter.ts";
import type { RunOptions } from "../apply/run-apply.ts";
import {
  type OutputOptions,
  type ServiceOptions,
  withOutputOptions,
  withQuietOption,
  withReinviteOption,
  withServiceOptions,
} from "../args/options.ts";
import { ExitCode } from "../exit-code.ts";
import { hasNoReader, type Io, type OutputLoss } from "../io/io.ts";
import type { Consent } from "../review/approval.ts";
import type { Selection } from "../review/browse-plans.ts";
import type { PlannedMerchants } from "../session/plan-merchants.ts";
import type { Planned, PlanResult } from "../session/session.ts";

/** What carrying out plans takes from the command line. */
export type ApplyOptions = Pick<ServiceOptions, "concurrency"> &
  OutputOptions & {
    readonly yes?: true;
    readonly allow: readonly string[];
    readonly approved?: string;
    readonly recheck: boolean;
    readonly rotatePassword: readonly string[];
    readonly interactive?: true;
  };

type Options = ServiceOptions & ApplyOptions & { readonly reinvite: readonly string[] };

/** `apply`: plans again, asks, changes what differs, and looks whether anything is left. */
export function applyCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("apply")
    .summary("change what differs, after asking")
    .description("Plans again, shows the plan, asks, applies it, and verifies that no changes remain.")
    .argument("[path...]", "files or folders (default: access/)")
    .option("-y, --yes", "do not ask; needed where there is no terminal")
    .option("--approved <file>", "apply only what this saved plan holds; anything new is refused")
    .addOption(
      new Option("-i, --interactive", "look through the plan first, and leave changes out").conflicts([
        "yes",
        "approved",
      ]),
    )
    .addOption(
      new Option("--allow <override>", "override a refusal; the plan prints the value to give here")
        .argParser((text: string, all: readonly string[]) => [...all, text])
        .default([], "none"),
    )
    .addOption(
      new Option(
        "--rotate-password <email>",
        "set this managed user's password from its password_env; may be given more than once",
      )
        .argParser((email: string, all: readonly string[]) => [...all, email])
        .default([], "none"),
    )
    .option("--no-recheck", "do not read each role and member again right before it is changed")
    .addHelpText(
      "after",
      `
Examples:
  rolecall apply access/shop.yaml       asks before it changes anything
  rolecall apply --interactive          leaves changes out, asks for the rest
  rolecall apply --yes                  for pipelines: no question
  rolecall apply --yes --format json    one event per line, for other programs
  rolecall apply --yes --approved plan.json
                                        nothing but what was reviewed and saved

It asks for "yes", or for the merchant code if something is removed from an
account that is not a test account. Any other answer cancels.

Each role and member is read again right before it is changed or removed. If it
is no longer what was planned, or if a change fails, the run stops: completed
changes stay and are listed, and the next apply continues from there. An
invitation that is refused because its address was invited too often (429) does
not stop the run: all other changes are made, and the address is listed with the
time to try again. Ctrl-C finishes the requests in flight, then stops; a second
Ctrl-C exits at once.

Exits 0 if everything is done, 1 if nothing was changed, 3 if the apply was
refused, or 4 if it stopped part-way or changes remain.
`,
    )
    .action(async (paths: readonly string[], options: Options) => done(await apply(paths, options, io)));
  return withOutputOptions(withQuietOption(withServiceOptions(withReinviteOption(command))));
}

async function apply(paths: readonly string[], options: Options, io: Io): Promise<ExitCode> {
  if (options.interactive) {
    (await import("../review/browse-plans.ts")).checkInteractive(options, io);
  }
  const [{ planMerchants }, { readConsent }, { createCancellation }, { openProgress }] = await Promise.all([
    import("../session/plan-merchants.ts"),
    import("../review/approval.ts"),
    import("../apply/cancellation.ts"),
    import("../progress/progress.ts"),
  ]);
  const consent = await readConsent(options, io).catch(endedEarly(options, io));
  const progress = await openProgress(options, io);
  const cancellation = createCancellation((text) => progress.io.stderr.write(`${text}\n`), io);
  try {
    const prepared = await planMerchants(
      paths,
      { ...options, signal: cancellation.cancelled, progress, waiting: loadApplying },
      io,
    ).catch(endedEarly(options, io));
    try {
      const [{ warnUnfinishedRuns }, { fileJournals }] = await Promise.all([
        import("../journal/unfinished-runs.ts"),
        import("../journal/write-journal.ts"),
      ]);
      await warnUnfinishedRuns(prepared.planned, options, io);
      const openJournal = fileJournals(io);
      return await applyPlanned(prepared, options, { cancellation, openJournal, consent }, io);
    } finally {
      await prepared.close();
    }
  } finally {
    cancellation.close();
  }
}

/** Tells programs of an error before there are plans, and throws it again. */
export function endedEarly(options: OutputOptions, io: Io): (error: unknown) => Promise<never> {
  return async (error) => {
    const { applyReporter, failedWith } = await import("../apply/reporter.ts");
    failedWith(
      applyReporter(options, () => null, io),
      error,
    );
    throw error;
  };
}

/** Dependencies of an apply besides the plans. */
type Means = Pick<RunOptions, "cancellation" | "openJournal"> & {
  readonly consent: Consent;
  /** The run that is taken back; absent or null for an ordinary apply. */
  readonly undoes?: string | null;
};

/** Shows plans, lets somebody select where that was asked for, asks, and carries them out, unless something is against it. */
export async function applyPlanned(
  prepared: Omit<PlannedMerchants, "close" | "declared">,
  options: ApplyOptions,
  means: Means,
  io: Io,
): Promise<ExitCode> {
  const { applyReporter, failedWith } = await import("../apply/reporter.ts");
  const reporter = applyReporter(options, prepared.placeOf, prepared.progress.io, means.consent.overrides);
  try {
    const code = await reviewAndApply(prepared, options, means, reporter, io);
    reporter.ended(code);
    return code;
  } catch (error) {
    failedWith(reporter, error);
    throw error;
  }
}

async function reviewAndApply(
  prepared: Omit<PlannedMerchants, "close" | "declared">,
  options: ApplyOptions,
  { cancellation, openJournal, consent, undoes = null }: Means,
  reporter: ApplyReporter,
  io: Io,
): Promise<ExitCode> {
  const { valid, progress, failures } = prepared;
  const [
    { showPlans },
    { withProgress },
    { passwordsFor },
    { rotationsFor },
    { confirmApply },
    { runApply },
  ] = await loadApplying();
  const selection = await select(prepared, options, io);
  if (selection === null) {
    reporter.say("Nothing was changed.");
    return ExitCode.failed;
  }
  const { planned, objections, leftOut } = selection;
  const allOut = [...leftOut.values()].reduce((sum, one) => sum + one, 0);
  showPlans(planned, reporter.plans, options, io);
  reporter.failed(failures);
  if (!valid || !isSound(planned)) {
    reporter.say("Nothing was changed: solve the problems above first.");
    return ExitCode.failed;
  }
  const looks = planned.flatMap((one) => ("plan" in one ? [one] : []));
  const refused = [...objections, ...(await refusal(looks, consent))];
  if (refused.length > 0) {
    reporter.refused(refused);
    return ExitCode.refused;
  }
  const rotations = rotationsFor(options.rotatePassword, looks);
  const due = looks
    .map((one) => ({
      ...one,
      passwords: rotations.get(one.plan.merchant) ?? [],
      leftOut: leftOut.get(one.plan.merchant) ?? 0,
    }))
    .filter(({ plan, passwords }) => plan.changes.length + passwords.length > 0);
  if (due.length === 0) {
    const { residueOf } = await import("../../render/text/verified-text.ts");
    const missing = looks.reduce((sum, { plan }) => sum + residueOf(plan).notCreated.length, 0);
    const rest = [
      ...(allOut > 0 ? [leftOutText(allOut)] : []),
      ...(missing > 0 ? [`${counted(missing, "member")} cannot be created without roles`] : []),
    ];
    reporter.say(rest.length > 0 ? `Nothing to do: ${rest.join("; ")}.` : "Nothing to do.");
    return ExitCode.ok;
  }
  for (const { plan, passwords } of due) reporter.passwords(plan.merchant, passwords);
  const password = passwordsFor(
    due.map(({ plan }) => plan),
    due.flatMap(({ passwords }) => passwords),
    io.env,
  );
  if (!(options.yes || (await confirmApply(due, { ...options, undoes }, io)))) {
    reporter.say("Nothing was changed.");
    return ExitCode.failed;
  }
  // The loss of the last output may be noticed only now.
  await io.sleep(0);
  if (io.outputLost.aborted) {
    reporter.say("Nothing was changed, since not all of the plan could be shown.");
    return ExitCode.failed;
  }
  const changes = due.reduce((sum, { plan }) => sum + plan.changes.length, 0);
  progress.applying(due.map(({ plan }) => plan));
  try {
    const watched = withProgress(reporter, progress, changes, options);
    const { concurrency, recheck } = options;
    const code = await runApply(due, { password, concurrency, recheck, cancellation, openJournal }, watched);
    return code === ExitCode.ok && isCutOff(io) ? ExitCode.partial : code;
  } finally {
    await progress.rest();
    if (allOut > 0) reporter.say(`${leftOutText(allOut)}.`);
  }
}

function leftOutText(count: number): string {
  return `${counted(count, "change")} left out; the next plan shows ${count === 1 ? "it" : "them"} again`;
}

/** Whether a part of what was told is missing where it is kept. */
function isCutOff({ outputLost }: Io): boolean {
  return outputLost.aborted && !hasNoReader(outputLost.reason as OutputLoss);
}

/** Loads what applies plans: asked for twice, it is loaded once. */
const loadApplying = () =>
  Promise.all([
    import("../show/show-plans.ts"),
    import("../apply/watched-reporter.ts"),
    import("../apply/passwords.ts"),
    import("../apply/passwords.ts"),
    import("../review/confirm-apply.ts"),
    import("../apply/run-apply.ts"),
  ]);

/** What somebody selects with `--interactive`; everything without it, and where a problem has to be solved first. */
async function select(
  { planned, valid, progress }: Omit<PlannedMerchants, "close" | "declared">,
  options: ApplyOptions,
  io: Io,
): Promise<Selection | null> {
  const due = planned.some((one) => "plan" in one && one.plan.changes.length > 0);
  if (!options.interactive || !valid || !due || !isSound(planned)) {
    return { planned, objections: [], leftOut: new Map() };
  }
  const { selectChanges } = await import("../review/browse-plans.ts");
  return selectChanges(planned, options, progress, io);
}

/** Every merchant has a plan, and none has an error. */
function isSound(planned: readonly Planned[]): boolean {
  return planned.every(
    (one) => "plan" in one && one.plan.findings.every(({ severity }) => severity !== "error"),
  );
}

/** Why the plans are refused, a sentence each: what guards, policies and checks have against them, and what nobody approved. */
async function refusal(
  looks: readonly PlanResult[],
  { approved, overrides }: Consent,
): Promise<readonly string[]> {
  const [{ standingRefusals }, { objectionsTo }] = await Promise.all([
    import("../review/approval.ts"),
    import("../review/approval.ts"),
  ]);
  const plans = looks.map(({ plan }) => plan);
  const standing = standingRefusals(plans, overrides);
  const objections = approved === null ? [] : await objectionsTo(looks, approved);
  return [
    ...standing.flatMap(({ merchant, refusals }) => refusals.map(({ message }) => `${merchant}: ${message}`)),
    ...objections,
  ].map(oneLine);
}
