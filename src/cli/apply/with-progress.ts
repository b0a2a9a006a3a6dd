import type { ApplyEvent } from "../../model/events.ts";
import type { OutputOptions } from "../args/options.ts";
import type { ProgressDisplay } from "../progress/progress.ts";
import type { ApplyReporter } from "./reporter.ts";

/** With more changes than this, a terminal shows a line only for what went wrong; the board counts the rest. */
const EACH_TOLD = 200;

/** A reporter whose events are also told to the progress; on a terminal the lines of a large apply are left out. */
export function withProgress(
  reporter: ApplyReporter,
  progress: ProgressDisplay,
  changes: number,
  { format }: Pick<OutputOptions, "format">,
): ApplyReporter {
  const brief = format === "text" && progress.draws && progress.io.stdout.isTTY && changes > EACH_TOLD;
  return {
    ...reporter,
    event(event) {
      progress.applied(event);
      if (!(brief && isDone(event))) reporter.event(event);
    },
  };
}

function isDone(event: ApplyEvent): boolean {
  return event.type === "change-ended" && event.outcome.status === "done" && !event.outcome.adopted;
}
