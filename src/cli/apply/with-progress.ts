import type { ApplyEvent } from "../../model/events.ts";
import type { OutputOptions } from "../args/options.ts";
import type { ProgressDisplay } from "../progress/progress.ts";
import type { ApplyReporter } from "./reporter.ts";

/** Above this number of changes, a terminal shows lines only for failures; the board counts the rest. */
const EACH_TOLD = 200;

/** Returns a reporter that also updates the progress display; on a terminal it omits the lines of a large apply. */
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
