import type { Context } from "hono";
import type { Faults } from "./faults/faults.ts";
import type { RateLimit, RateLimiter } from "./rate-limit.ts";
import type { RequestRecorder } from "./request-recorder.ts";
import type { Store } from "./state/store.ts";

/** Settings that the control routes can change. */
export interface Settings extends RateLimit {
  /** Milliseconds that every answer waits. */
  readonly latency: number;
  /** Up to so many milliseconds more, drawn anew each time. */
  readonly jitter: number;
}

/** Everything that lives as long as the sandbox runs. */
export interface World {
  store: Store;
  /** How often the state has changed since the start. */
  version: number;
  settings: Settings;
  limiter: RateLimiter | null;
  faults: Faults;
  readonly requests: RequestRecorder;
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  log(line: string): void;
  /** Resolves when everything done so far is saved. */
  commit(): Promise<void>;
  /** Resolves when nothing that was done waits to be saved. */
  settle(): Promise<void>;
  /** Goes back to how the sandbox started without a state file. */
  reset(): void;
}

/** What a request gathers for the log on its way. */
export interface Trace {
  readonly number: number;
  key: string | null;
  somebodyElse: boolean;
  operation: string | null;
  merchant: string | null;
  resource: string | null;
  name: string | null;
  committed: boolean;
  state: number | null;
  faults: readonly string[];
}

/** Notes that a request has changed the state. */
export function noteChange(world: World, trace: Trace): void {
  world.version += 1;
  trace.committed = true;
  trace.state = world.version;
}

/** The types of hono's context here. */
export interface HonoEnv {
  Variables: { trace: Trace };
}

/** A request on its way through the sandbox. */
export type SandboxContext = Context<HonoEnv>;
