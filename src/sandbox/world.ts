import type { Context } from "hono";
import type { Faults } from "./faults.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { RequestLog } from "./request-log.ts";
import type { Store } from "./store.ts";

/** Settings that the control routes can change. */
interface Settings {
  /** Requests per second and key; null: no limit. */
  readonly rateLimit: number | null;
  /** Milliseconds that every answer waits. */
  readonly latency: number;
}

/** Everything that lives as long as the sandbox runs. */
export interface World {
  store: Store;
  settings: Settings;
  limiter: RateLimiter | null;
  faults: Faults;
  readonly requests: RequestLog;
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
  faults: readonly string[];
}

/** The types of hono's context here. */
export interface Env {
  Variables: { trace: Trace };
}

/** A request on its way through the sandbox. */
export type SandboxContext = Context<Env>;
