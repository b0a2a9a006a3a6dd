import { applyPlan } from "../apply/apply-plan.ts";
import type { ApplyResult } from "../model/apply.ts";
import type { StopCause } from "../render/apply-text.ts";
import type { ApplyReporter } from "./apply-reporter.ts";
import type { Due } from "./confirm-apply.ts";
import { ExitCode } from "./exit-code.ts";
import type { Io } from "./io.ts";
import type { Passwords } from "./passwords.ts";

/** Applies plans side by side, verifies each that was done, and says with the exit code how it ended. */
export async function runApply(
  due: readonly Due[],
  password: Passwords,
  options: { readonly concurrency: number },
  reporter: ApplyReporter,
  io: Io,
): Promise<ExitCode> {
  const stopper = new AbortController();
  let cause: StopCause | null = null;
  const stop = (because: StopCause): void => {
    cause ??= because;
    stopper.abort();
  };
  const ignoreSignals = stopOnSignal(stop, reporter, io);
  try {
    const ended = await Promise.all(
      due.map(async ({ session, plan }) => {
        const result = await applyPlan(plan, {
          writer: session.writer,
          password,
          emit: reporter.event,
          concurrency: options.concurrency,
          stop: stopper.signal,
        });
        // One merchant that stops, stops the run: nothing new starts elsewhere either.
        if (result.status === "stopped") stop({ by: "merchant", merchant: plan.merchant });
        return { session, plan, result };
      }),
    );
    for (const { plan, result } of ended) reporter.result(plan.merchant, result, cause);
    const results = ended.map(({ result }) => result);
    if (results.some(({ status }) => status === "stopped")) return stoppedCode(results);
    return (await verify(due, reporter)) ? ExitCode.ok : ExitCode.partial;
  } finally {
    ignoreSignals();
  }
}

function stopOnSignal(stop: (cause: StopCause) => void, reporter: ApplyReporter, io: Io): () => void {
  let signals = 0;
  return io.onStopSignal((signal) => {
    signals += 1;
    if (signals > 1) io.leave(ExitCode.partial);
    reporter.say(`${signal}: nothing new starts; what is in flight ends first. Once more to leave at once.`);
    stop({ by: "signal", signal });
  });
}

function stoppedCode(results: readonly ApplyResult[]): ExitCode {
  const touched = results.some(({ outcomes }) =>
    outcomes.some(({ status }) => status === "done" || status === "unknown"),
  );
  return touched ? ExitCode.partial : ExitCode.failed;
}

async function verify(due: readonly Due[], reporter: ApplyReporter): Promise<boolean> {
  const looks = await Promise.all(due.map(({ session }) => session.plan()));
  const plans = looks.map(({ plan }) => plan);
  for (const plan of plans) reporter.verified(plan);
  return plans.every(({ changes }) => changes.length === 0);
}
