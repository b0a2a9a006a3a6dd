import type { ProgressMode } from "../io/terminal.ts";
import type { Shard } from "./shard.ts";

/** Options of every command that talks to the service. */
export interface ServiceOptions {
  readonly baseUrl?: string;
  readonly merchant: readonly string[];
  readonly concurrency: number;
  /** Total time for one request with its retries, in ms; absent: five minutes. */
  readonly retryFor?: number;
  /** Maximum number of members, roles or memberships of an account. */
  readonly maxItems: number;
  readonly verbose?: true;
  readonly quiet?: true;
  /** Absent: ROLECALL_PROGRESS, else `auto`. */
  readonly progress?: ProgressMode;
  readonly shard?: Shard;
  /** Selects the merchants that differ from this commit. */
  readonly changedSince?: string;
}

/** Options of every command that prints. */
export interface OutputOptions<Format extends string = string> {
  readonly format: Format;
  readonly color: boolean;
  readonly quiet?: true;
}

/** Options of the commands that write documents. */
export interface DocumentOptions {
  readonly output?: string;
  /** Limit for Markdown, in UTF-16 units. */
  readonly maxSize?: number;
}

/** A time in the past, as given and in ms since the epoch. */
export interface PastTime {
  readonly text: string;
  /** For a day, its last moment in UTC. */
  readonly moment: number;
}
