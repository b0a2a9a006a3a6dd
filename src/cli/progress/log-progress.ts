import { type ApplyProgress, applyProgress, applyText } from "../../render/view/apply-progress.ts";
import { type ReadingProgress, readingProgress, readingText } from "../../render/view/reading-progress.ts";
import type { Io } from "../io/io.ts";
import type { ProgressDisplay, ProgressOptions } from "./progress.ts";
import { serviceLog } from "./service-log.ts";

/** How often a log is told that it still goes on. */
const EVERY_MS = 10_000;

/** Lines on stderr: each wait, with `verbose` each request, and how far it is every ten seconds. */
export function logProgress({ verbose }: ProgressOptions, io: Io): ProgressDisplay {
  const log = serviceLog(io, verbose === true);
  let reading: ReadingProgress | null = null;
  let applying: ApplyProgress | null = null;
  let over = new AbortController();

  const every = async (line: () => string): Promise<void> => {
    const { signal } = over;
    while (!signal.aborted) {
      await io.sleep(EVERY_MS, signal);
      if (!signal.aborted) io.stderr.write(`${line()}\n`);
    }
  };
  const begin = (line: () => string): void => {
    over.abort();
    over = new AbortController();
    // Being told to stop is how it ends.
    every(line).catch(() => undefined);
  };
  return {
    io,
    draws: false,
    live(event) {
      log(event);
      reading?.live(event, io.monotonic());
      applying?.live(event, io.monotonic());
    },
    reading(merchants) {
      const progress = readingProgress(merchants);
      reading = progress;
      begin(() => readingText(progress.view(io.monotonic())));
    },
    read: (merchant, problem) => reading?.ended(merchant, problem),
    applying(plans) {
      const progress = applyProgress(
        plans.map(({ merchant, changes }) => ({ merchant, changes: changes.length })),
      );
      applying = progress;
      begin(() => applyText(progress.view(io.monotonic())));
    },
    applied: (event) => applying?.apply(event, io.monotonic()),
    async rest() {
      over.abort();
      reading = null;
      applying = null;
    },
  };
}
