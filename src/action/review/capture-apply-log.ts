import { type ApplyReporter, applyReporter } from "../../cli/apply/reporter.ts";
import type { Progress } from "../../cli/progress/progress.ts";
import type { Step } from "../action-context.ts";

/** What an apply tells, also for the comment and the summary. */
export function collect(
  reporter: ApplyReporter,
  progress: Pick<Progress, "applied">,
): {
  readonly lines: () => readonly string[];
  readonly watched: ApplyReporter;
} {
  const lines: string[] = [];
  const sink = {
    write: (text: string) => {
      lines.push(...text.trimEnd().split("\n"));
    },
    isTTY: false,
    columns: undefined,
  };
  const io = { stdout: sink, stderr: sink, env: {} };
  const copy = applyReporter({ format: "text", color: false }, () => null, io as unknown as Step["io"]);
  return {
    lines: () => lines,
    watched: {
      plans: reporter.plans,
      passwords: reporter.passwords,
      journals: reporter.journals,
      failed: reporter.failed,
      refused: reporter.refused,
      ended: reporter.ended,
      say: reporter.say,
      event: (event) => {
        reporter.event(event);
        progress.applied(event);
        copy.event(event);
      },
      results: (...results) => {
        reporter.results(...results);
        copy.results(...results);
      },
      verified: (...found) => {
        reporter.verified(...found);
        copy.verified(...found);
      },
      unverified: (...why) => {
        reporter.unverified(...why);
        copy.unverified(...why);
      },
    },
  };
}
