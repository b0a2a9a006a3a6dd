import { oneLine } from "../../lib/escape.ts";
import { counted, sortNaturally } from "../../lib/text.ts";
import { EVENTS } from "../../model/event-registry.ts";
import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import { type ApplyProgress, applyProgress, applySums, applyText } from "../../show/view/apply-progress.ts";
import {
  kindOfWait,
  type ReadingProgress,
  rateNumber,
  readingProgress,
  readingText,
} from "../../show/view/reading-progress.ts";
import type { Io } from "../io/io.ts";
import type { ProgressMode } from "../io/terminal.ts";

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
  /** The world to write to: text appears above an open board. */
  readonly io: Io;
  /** Draws a board, which counts the changes and shows those in progress. */
  readonly draws: boolean;
  /** Handles an event of the client. */
  live(event: LiveEvent): void;
  /** Starts the display of reading these merchants; with `expected`, of those that turn up, about so many. */
  reading(merchants: readonly string[], expected?: number): void;
  /** Corrects how many merchants are read. */
  expect(count: number): void;
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
  /** Says how much was read, for those who interrupt it. */
  interrupted(): string;
  /** Ends the display: a board disappears. */
  rest(): Promise<void>;
}

/** Time after which a person in front of an empty terminal wonders, in ms. */
const SLOW_MS = 1_500;

/** Waits for work; on a terminal, says what is being done if it takes long. */
export async function announceIfSlow<T>(
  text: string,
  { stderr, setTimer }: Pick<Io, "stderr" | "setTimer">,
  work: () => Promise<T>,
): Promise<T> {
  const cancel = stderr.isTTY ? setTimer(SLOW_MS, () => stderr.write(`${text}\n`)) : () => undefined;
  try {
    return await work();
  } finally {
    cancel();
  }
}

/** A display that does not say how much was read. */
export type ShownProgress = Omit<ProgressDisplay, "interrupted">;

const MIN_LOGGED_WAIT_MS = 500;

/** Waits that end this close to each other are logged once. */
const SAME_WAIT_MS = 500;

/** Time after which the same line is logged again, in ms. */
const REPEATED_AFTER_MS = 10_000;

/** Logs what the client does on stderr: each shared wait once, and with `verbose` each request. */
export function serviceLog(io: Io, verbose: boolean): (event: LiveEvent) => void {
  const log = (line: string): void => io.stderr.write(`${oneLine(line)}\n`);
  /** The end of the last logged wait, by reason. */
  const logged = new Map<string, number>();
  /** The time of the last line about waits of one kind and length. */
  const lines = new Map<string, number>();
  const isLogged = ({ reason, ms }: { readonly reason: string; readonly ms: number }): boolean =>
    io.monotonic() + ms <= (logged.get(reason) ?? 0) + SAME_WAIT_MS;
  return (event) => {
    if (!verbose && EVENTS.service[event.type].level === "debug") return;
    const line = lineFor(event);
    if (line === null) return;
    if (event.type === "wait") {
      if ((!verbose && event.ms < MIN_LOGGED_WAIT_MS) || isLogged(event)) return;
      logged.set(event.reason, io.monotonic() + event.ms);
      const kind = verbose ? line : kindOfWait(line);
      if (io.monotonic() < (lines.get(kind) ?? Number.NEGATIVE_INFINITY) + REPEATED_AFTER_MS) return;
      lines.set(kind, io.monotonic());
    }
    log(line);
  };
}

function lineFor(event: LiveEvent): string | null {
  switch (event.type) {
    case "request":
      return event.attempt > 1 ? `${event.method} ${event.path} attempt ${event.attempt}` : null;
    case "response":
      return `${event.method} ${event.path} ${event.status} ${Math.round(event.ms)} ms`;
    case "no-response":
      return `${event.method} ${event.path} no response: ${event.reason} ${Math.round(event.ms)} ms`;
    case "wait":
      return `waiting ${(event.ms / 1000).toFixed(1)} s: ${event.reason}`;
    case "proxy":
      return proxyText(event);
    case "pace":
      return paceText(event);
    case "read":
      return null;
    case "caller-unknown":
      return `the member that the key belongs to is unknown: ${event.reason}`;
    default:
      return event satisfies never;
  }
}

function paceText({ perSecond }: LiveEvent & { readonly type: "pace" }): string {
  return perSecond === null
    ? "the service has no rate limit any more"
    : `the rate limit of the service is about ${rateNumber(perSecond)} requests a second`;
}

function proxyText({ service, proxy, because }: LiveEvent & { readonly type: "proxy" }): string {
  return proxy === null
    ? `${service} is reached directly, without a proxy (${because})`
    : `${service} is reached through the proxy ${proxy} (${because})`;
}

/** Time between progress lines of a run that has taken some time, both in ms: a long one is no long log. */
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
    showReading: (progress) =>
      begin((opening) => {
        const view = progress.view(io.monotonic());
        return opening ? `Reading ${counted(view.count, "merchant")}.` : readingText(view);
      }),
    showApplying: (progress) =>
      begin((opening) => {
        const view = progress.view(io.monotonic());
        const { changes } = applySums(view);
        if (!opening) return applyText(view);
        return `Applying ${counted(changes, "change")} at ${counted(view.merchants.length, "merchant")}.`;
      }),
    // Otherwise it would end before the next line of a long apply.
    showVerifying: (progress) => begin(() => applyText(progress.view(io.monotonic()))),
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
  readonly showReading: (progress: ReadingProgress) => void;
  readonly showApplying: (progress: ApplyProgress) => void;
  /** Absent: the display of applying shows that too. */
  readonly showVerifying?: (progress: ApplyProgress) => void;
  readonly end: () => Promise<void>;
}

/** Creates a display that passes events to the progress it shows. */
export function progressDisplay(
  io: Io,
  { draws, log, showReading, showApplying, showVerifying, end }: ProgressView,
): ShownProgress {
  let reading: ReadingProgress | null = null;
  let applying: ApplyProgress | null = null;
  return {
    io,
    draws,
    live(event) {
      log(event);
      reading?.live(event, io.monotonic());
      applying?.live(event, io.monotonic());
    },
    reading(merchants, expected) {
      const codes = sortNaturally(merchants, (code) => code);
      reading = readingProgress(codes, io.monotonic(), expected ?? null);
      showReading(reading);
    },
    expect: (count) => reading?.expect(count),
    read: (merchant, problem) => reading?.ended(merchant, problem, io.monotonic()),
    applying(plans) {
      const counts = sortNaturally(plans, ({ merchant }) => merchant).map(({ merchant, changes }) => ({
        merchant,
        changes: changes.length,
      }));
      applying = applyProgress(counts, io.monotonic());
      showApplying(applying);
    },
    applied(event) {
      applying?.apply(event, io.monotonic());
      if (event.type !== "apply-ended" || !applying || !showVerifying) return;
      if (applying.view(io.monotonic()).verifying) showVerifying(applying);
    },
    verified: (merchant) => applying?.verified(merchant, io.monotonic()),
    stopping: () => applying?.stop(),
    async rest() {
      await end();
      reading = null;
      applying = null;
    },
  };
}
