import { counted, sortNaturally } from "../../lib/text.ts";
import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import { applyProgress, type Progress, progressText, readingProgress } from "../../show/view/progress.ts";
import type { Io } from "../io/io.ts";
import type { ProgressMode } from "../io/terminal.ts";
import { SLOW_MS, serviceLog } from "./service-log.ts";

/** Options of the progress display. */
export interface ProgressOptions {
  /** Shows each request. */
  readonly verbose?: true;
  /** Shows nothing. */
  readonly quiet?: true;
  /** Absent: ROLECALL_PROGRESS, else `auto`. */
  readonly progress?: ProgressMode;
  readonly color: boolean;
}

/** Displays on stderr how reading and applying go: as a board on a terminal, as lines elsewhere. */
export interface ProgressDisplay {
  /** The environment to write to: text appears above an open board. */
  readonly io: Io;
  /** Draws a board, which counts the changes and shows those in progress. */
  readonly draws: boolean;
  /** Handles an event of the client. */
  live(event: LiveEvent): void;
  /** Starts the display of reading these merchants. */
  reading(merchants: readonly string[]): void;
  /** Marks a merchant as read, or as failed with a `problem`. */
  read(merchant: string, problem: string | null): void;
  /** Starts the display of applying these plans. */
  applying(plans: readonly { readonly merchant: string; readonly changes: readonly unknown[] }[]): void;
  /** Handles an event of an apply. */
  applied(event: ApplyEvent): void;
  /** Marks a merchant as read again, or as not to be read, after its changes. */
  verified(merchant: string): void;
  /** Shows that nothing new starts any more. */
  stopping(): void;
  /** Reports how much was read, if the user interrupts the run. */
  interrupted(): string;
  /** Ends the display: a board disappears. */
  rest(): Promise<void>;
}

/** A display that does not say how much was read. */
export type ShownProgress = Omit<ProgressDisplay, "interrupted">;

/** Time between progress lines, by how long the run has taken, both in ms: the log of a long run stays short. */
const INTERVALS: readonly (readonly [takenMs: number, everyMs: number])[] = [
  [600_000, 60_000],
  [60_000, 30_000],
  [0, 10_000],
];

/** Time until the first progress line of reading, applying or verifying, in ms. */
const FIRST_LINE_MS = 5_000;

/**
 * Displays progress as lines on stderr: each wait, with `verbose` each request, and a summary after some seconds, then
 * every ten, less often in a long run. With `opens`, a first line says what takes longer than a moment.
 */
export function logProgress({ verbose, opens = false }: LogOptions, io: Io): ShownProgress {
  const log = serviceLog(io, verbose === true);
  let over = new AbortController();

  const print = async (line: (opening: boolean) => string): Promise<void> => {
    const { signal } = over;
    const began = io.monotonic();
    await io.sleep(opens ? SLOW_MS : FIRST_LINE_MS, signal);
    io.stderr.write(`${line(opens)}\n`);
    while (!signal.aborted) {
      const taken = io.monotonic() - began;
      await io.sleep(INTERVALS.find(([takenMs]) => taken >= takenMs)?.[1] ?? 0, signal);
      if (!signal.aborted) io.stderr.write(`${line(false)}\n`);
    }
  };
  const begin = (line: (opening: boolean) => string): void => {
    over.abort();
    over = new AbortController();
    // An abort is its regular end.
    print(line).catch(() => undefined);
  };
  return progressDisplay(io, {
    draws: false,
    log,
    show: (progress) =>
      begin((opening) => {
        const view = progress.view(io.monotonic());
        if (!opening) return progressText(view);
        const where = counted(view.merchants.length, "merchant");
        return view.phase === "reading"
          ? `Reading ${where}.`
          : `Applying ${counted(view.changes.total, "change")} at ${where}.`;
      }),
    // Otherwise it would end before the next line of a long apply.
    showVerifying: (progress) => begin(() => progressText(progress.view(io.monotonic()))),
    end: async () => over.abort(),
  });
}

interface LogOptions extends Partial<ProgressOptions> {
  readonly opens?: boolean;
}

/** The ways of a display to show the progress that it is given. */
interface ProgressView {
  readonly draws: boolean;
  readonly log: (event: LiveEvent) => void;
  readonly show: (progress: Progress) => void;
  /** Absent: what shows the apply shows that too. */
  readonly showVerifying?: (progress: Progress) => void;
  readonly end: () => Promise<void>;
}

/** Creates a display that passes events to the progress it shows. */
export function progressDisplay(
  io: Io,
  { draws, log, show, showVerifying, end }: ProgressView,
): ShownProgress {
  let current: Progress | null = null;
  let isVerifying = false;
  /** When reading began, and how many merchants were read since. */
  let began = 0;
  let read = 0;
  /** Mean time in which a merchant was read, with others side by side, in ms. */
  let readMs = 0;
  const display = (progress: Progress): void => {
    current = progress;
    isVerifying = false;
    show(progress);
  };
  return {
    io,
    draws,
    live(event) {
      log(event);
      current?.live(event, io.monotonic());
    },
    reading(merchants) {
      [began, read] = [io.monotonic(), 0];
      display(
        readingProgress(
          sortNaturally(merchants, (code) => code),
          began,
        ),
      );
    },
    read(merchant, problem) {
      const now = io.monotonic();
      current?.read(merchant, problem, now);
      if (problem === null) read += 1;
      readMs = (now - began) / Math.max(read, 1);
    },
    applying(plans) {
      const counts = sortNaturally(plans, ({ merchant }) => merchant).map(({ merchant, changes }) => ({
        merchant,
        changes: changes.length,
      }));
      display(applyProgress(counts, io.monotonic(), readMs * counts.length));
    },
    applied(event) {
      current?.apply(event, io.monotonic());
      if (event.type !== "apply-ended" || isVerifying) return;
      isVerifying = current?.view(io.monotonic()).phase === "verifying";
      if (isVerifying && current) showVerifying?.(current);
    },
    verified: (merchant) => current?.read(merchant, null, io.monotonic()),
    stopping: () => current?.stop(),
    async rest() {
      await end();
      current = null;
    },
  };
}
