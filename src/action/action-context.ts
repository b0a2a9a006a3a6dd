import { createHash } from "node:crypto";
import type { Io } from "../cli/io/io.ts";
import type { FailureReason } from "./action-error.ts";
import type { RunnerLog } from "./action-log.ts";
import type { EventContext } from "./github/event-context.ts";
import type { Github } from "./github/github-api.ts";
import type { Inputs } from "./inputs.ts";

/** Everything that one run of the action works with. */
export interface ActionContext extends OfflineContext {
  readonly github: Github;
  /** Addresses are masked in all that is published. */
  readonly masked: boolean;
}

/** The part of it that needs no GitHub. */
export interface OfflineContext {
  readonly inputs: Inputs;
  readonly event: EventContext;
  readonly scope: RunScope;
  readonly io: Io;
  readonly log: RunnerLog;
  /** Keys and tokens that the workflow gave. */
  readonly secrets: readonly string[];
  /** Takes Markdown for the job's summary. */
  summarise(markdown: string): Promise<void>;
  /** Keeps a file for later steps; gives its absolute path. */
  keep(name: string, text: string): Promise<string>;
  /** Has the runner mask a value in every log. */
  hide(secret: string): void;
}

/** What the output `result` says. */
export type ResultWord =
  | "no-changes"
  | "changes"
  | "refused"
  | "failed"
  | "compared"
  | "applied"
  | "partial"
  | "clean"
  | "drift"
  | "valid"
  | "invalid"
  | "listed";

/** Every output but `result` and `failure-reason`, which each run has. */
export const OUTPUTS = [
  "has-changes",
  "creates",
  "updates",
  "replaces",
  "deletes",
  "deferred",
  "fingerprint",
  "plan-path",
  "report-path",
  "matrix",
  "comment-url",
  "issue-url",
] as const;

/** What a run hands to later steps. */
export type Outputs = Partial<Readonly<Record<(typeof OUTPUTS)[number], string>>>;

/** How a run ended. */
export interface ActionResult {
  readonly result: ResultWord;
  /** Null where the step passes. */
  readonly reason: FailureReason | null;
  /** Why it fails, in one sentence. */
  readonly message: string | null;
  readonly outputs: Outputs;
}

/** A run that passes. */
export function passed(result: ResultWord, outputs: Outputs = {}): ActionResult {
  return { result, reason: null, message: null, outputs };
}

/** A run that fails, though what it found out is told. */
export function failed(
  result: ResultWord,
  reason: FailureReason,
  message: string,
  outputs: Outputs = {},
): ActionResult {
  return { result, reason, message, outputs };
}

/** What one use of the action is about: the same in the workflows that plan, apply and look for drift. */
export interface RunScope {
  /** Short and safe anywhere. */
  readonly id: string;
  /** For people; empty for everything. */
  readonly title: string;
}

/** The scope of these inputs. */
export function runScope({ paths, merchants, shard }: Inputs): RunScope {
  const part = shard === null ? "" : `${shard.index}/${shard.count}`;
  const what = JSON.stringify([[...paths].sort(), [...merchants].sort(), part]);
  const named = [
    ...(paths.join() === "access" ? [] : paths),
    ...(merchants.length > 3 ? [`${merchants.length} merchants`] : merchants),
    ...(part === "" ? [] : [`part ${part}`]),
  ];
  return { id: createHash("sha256").update(what).digest("hex").slice(0, 12), title: named.join(", ") };
}

/** The hidden line by which the action finds what it wrote before. */
export function markerOf(kind: "plan" | "drift", { id }: RunScope): string {
  return `<!-- rolecall:${kind}:${id} -->`;
}
