import { oneLine } from "../../lib/escape.ts";
import { EVENTS } from "../../model/event-registry.ts";
import type { LiveEvent } from "../../model/events.ts";
import type { Io } from "../io/io.ts";

const SHORTEST_WAIT_TOLD_MS = 500;

/** Waits that end this close to each other are logged once. */
const SAME_WAIT_MS = 500;

/** Time after which the same line is logged again, in ms. */
const REPEATED_AFTER_MS = 10_000;

/** Logs what the client does on stderr: each shared wait once, and with `verbose` each request. */
export function serviceLog(io: Io, verbose: boolean): (event: LiveEvent) => void {
  const log = (line: string): void => io.stderr.write(`${oneLine(line)}\n`);
  /** The end of the last logged wait, by reason. */
  const logged = new Map<string, number>();
  let last = { line: "", at: 0 };
  const isLogged = ({ reason, ms }: { readonly reason: string; readonly ms: number }): boolean =>
    io.monotonic() + ms <= (logged.get(reason) ?? 0) + SAME_WAIT_MS;
  return (event) => {
    if (!verbose && EVENTS.service[event.type].level === "debug") return;
    const line = lineFor(event);
    if (line === null) return;
    if (event.type === "wait") {
      if ((!verbose && event.ms < SHORTEST_WAIT_TOLD_MS) || isLogged(event)) return;
      logged.set(event.reason, io.monotonic() + event.ms);
      if (line === last.line && io.monotonic() < last.at + REPEATED_AFTER_MS) return;
      last = { line, at: io.monotonic() };
    }
    log(line);
  };
}

function lineFor(event: LiveEvent): string | null {
  switch (event.type) {
    case "request":
      return event.attempt > 1 ? `${event.method} ${event.path} attempt ${event.attempt}` : null;
    case "answer":
      return `${event.method} ${event.path} ${event.status} ${Math.round(event.ms)} ms`;
    case "no-answer":
      return `${event.method} ${event.path} no answer: ${event.reason} ${Math.round(event.ms)} ms`;
    case "wait":
      return `waiting ${(event.ms / 1000).toFixed(1)} s: ${event.reason}`;
    case "proxy":
      return proxyText(event);
    case "read":
      return null;
    case "caller-unknown":
      return `the member that the key belongs to is not known: ${event.reason}`;
    default:
      return event satisfies never;
  }
}

function proxyText({ service, proxy, because }: LiveEvent & { readonly type: "proxy" }): string {
  return proxy === null
    ? `${service} is reached directly, without a proxy (${because})`
    : `${service} is reached through the proxy ${proxy} (${because})`;
}
