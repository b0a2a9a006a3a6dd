import type { Context } from "hono";
import type { Faults } from "./faults/faults.ts";
import type { RateLimit, RateLimiter } from "./rate-limit.ts";
import type { RequestRecorder } from "./request-recorder.ts";
import type { Store } from "./state/store.ts";

/** Settings that control routes can change. */
export interface Settings extends RateLimit {
  /** Delay of every answer, in ms. */
  readonly latency: number;
  /** Upper bound of a random delay on top, in ms. */
  readonly jitter: number;
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
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  log(line: string): void;
  /** Resolves when every change so far is saved. */
  commit(): Promise<void>;
  /** Resolves when no change is waiting to be saved. */
  whenIdle(): Promise<void>;
  /** Restores the initial state, ignoring any state file. */
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
