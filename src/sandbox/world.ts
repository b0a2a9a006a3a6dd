import type { Context } from "hono";
import type { Faults } from "./faults/faults.ts";
import type { RateLimit, RateLimiter } from "./http/rate-limit.ts";
import type { Seed } from "./seed/parse-seed.ts";
import type { Store } from "./state/store.ts";

/** Settings that control routes can change. */
export interface Settings extends RateLimit {
  /** Delay of every response, in ms. */
  readonly latency: number;
  /** Upper bound of a random delay on top, in ms. */
  readonly jitter: number;
  /** Refuses query parameters that an operation does not have. */
  readonly strict: boolean;
}

/** The state of a running sandbox, with its clock and its log. */
export interface World {
  store: Store;
  /** Number of state changes since the start. */
  version: number;
  settings: Settings;
  limiter: RateLimiter | null;
  faults: Faults;
  readonly requests: RequestRecorder;
  now(): number;
  /** The clock of the `Date` of responses, which is never set. */
  wallClock(): number;
  /** Sets the clock, which continues from there. */
  setClock(now: number): void;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  log(line: string): void;
  /** Resolves when every change so far is saved. */
  commit(): Promise<void>;
  /** Resolves when no change is waiting to be saved. */
  whenIdle(): Promise<void>;
  /** Resolves when the whole state is saved; a change of merchants or keys has no line of its own. */
  commitWhole(): Promise<void>;
  /** Replaces the state by that of a seed, to which `reset` then returns. */
  plant(seed: Seed): void;
  /** Restores the seed and the initial settings, faults and clock, ignoring any state file. */
  reset(): void;
}

/** Data about a request that is collected for the log. */
export interface Trace {
  readonly number: number;
  key: string | null;
  throughControl: boolean;
  operation: string | null;
  merchant: string | null;
  resource: string | null;
  name: string | null;
  committed: boolean;
  state: number | null;
  faults: readonly string[];
}

/** Records that a request has changed the state. */
export function noteChange(world: World, trace: Trace): void {
  world.version += 1;
  trace.committed = true;
  trace.state = world.version;
}

/** Types of Hono's context. */
export interface HonoEnv {
  Variables: { trace: Trace };
}

/** Hono's context of a request. */
export type SandboxContext = Context<HonoEnv>;

/** A request in the log. */
export interface RequestEntry {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Name of the operation, such as `members.create`; null if it is not part of the contract. */
  readonly operation: string | null;
  /** Merchant code, or null. */
  readonly merchant: string | null;
  /** Id of the requested or created role or member, or null. */
  readonly resource: string | null;
  /** E-mail address or role name in the body of a creation; otherwise null. */
  readonly name: string | null;
  /** True if the request changed the state, even if its response was lost. */
  readonly committed: boolean;
  /** Version of the state that was read or written; null if neither. */
  readonly state: number | null;
  /** Path with query. */
  readonly path: string;
  /** `null` if the connection was broken instead of a response. */
  readonly status: number | null;
  /** Label of the API key; null if missing or unknown. */
  readonly key: string | null;
  /** True for requests through the control routes. */
  readonly somebody_else: boolean;
  readonly ms: number;
  /** Kinds of the faults that hit the request. */
  readonly faults: readonly string[];
}

/** A log of the latest requests, in the order in which they ended. */
export interface RequestRecorder {
  /** Returns the number of a new request. */
  begin(): number;
  end(entry: RequestEntry): void;
  entries(): readonly RequestEntry[];
  clear(): void;
  /** Returns the maximum number of entries. */
  bound(): number;
  /** Sets the maximum number of entries. */
  keep(bound: number): void;
}

/** Default size of the log. */
export const DEFAULT_MAX_REQUESTS = 1000;

/** Creates a request log of a limited size. */
export function createRequestRecorder(initialBound: number): RequestRecorder {
  let count = 0;
  let bound = initialBound;
  let kept: RequestEntry[] = [];
  const latest = () => (bound === 0 ? [] : kept.slice(-bound));
  return {
    begin: () => {
      count += 1;
      return count;
    },
    end: (entry) => {
      kept.push(entry);
      // Trim in bulk: trimming on each request would copy the list each time.
      if (kept.length >= bound * 2) kept = latest();
    },
    entries: latest,
    clear: () => {
      kept = [];
    },
    bound: () => bound,
    keep: (next) => {
      bound = next;
      kept = latest();
    },
  };
}

/** Formats a request as one line that is safe to print. */
export function logLine({ method, path, status, ms }: RequestEntry): string {
  const line = `${method} ${path} ${status ?? "connection-lost"} ${ms}ms`;
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
