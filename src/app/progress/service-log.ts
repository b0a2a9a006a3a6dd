import { oneLine } from "../../lib/escape.ts";
import { EVENTS } from "../../model/event-registry.ts";
import type { LiveEvent } from "../../model/events.ts";
import { kindOfWait, rateNumber } from "../../show/view/wait-text.ts";
import type { Io } from "../io/io.ts";

/** Time after which an empty terminal needs an explanation, in ms. */
export const SLOW_MS = 1_500;

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
    ? "the service no longer has a rate limit"
    : `the rate limit of the service is about ${rateNumber(perSecond)} requests per second`;
}

function proxyText({ service, proxy, because }: LiveEvent & { readonly type: "proxy" }): string {
  return proxy === null
    ? `${service} is reached directly, without a proxy (${because})`
    : `${service} is reached through the proxy ${proxy} (${because})`;
}
