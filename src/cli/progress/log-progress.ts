import { type ApplyProgress, applyProgress, applyText } from "../../render/view/apply-progress.ts";
import { type ReadingProgress, readingProgress, readingText } from "../../render/view/reading-progress.ts";
import type { Io } from "../io/io.ts";
import type { ProgressDisplay, ProgressOptions } from "./progress.ts";
import { serviceLog } from "./service-log.ts";

/** Interval of progress lines, in ms. */
const INTERVAL_MS = 10_000;

/** Displays progress as lines on stderr: each wait, with `verbose` each request, and a summary every ten seconds. */
export function logProgress({ verbose }: ProgressOptions, io: Io): ProgressDisplay {
  const log = serviceLog(io, verbose === true);
  let reading: ReadingProgress | null = null;
  let applying: ApplyProgress | null = null;
  let over = new AbortController();

  const every = async (line: () => string): Promise<void> => {
    const { signal } = over;
    while (!signal.aborted) {
      await io.sleep(INTERVAL_MS, signal);
      if (!signal.aborted) io.stderr.write(`${line()}\n`);
    }
  };
  const begin = (line: () => string): void => {
    over.abort();
    over = new AbortController();
    // An abort is its regular end.
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
