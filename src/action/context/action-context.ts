import { createHash } from "node:crypto";
import type { Io } from "../../app/io/io.ts";
import type { CommitStates } from "../../app/project/commit-states.ts";
import type { GitRefs } from "../../store/git-refs.ts";
import type { FailureReason } from "./action-error.ts";
import type { RunnerLog } from "./action-log.ts";
import type { EventContext } from "./event-context.ts";
import type { Github } from "./github-api.ts";
import type { Inputs } from "./inputs.ts";

/** Inputs, event and effects of one run of the action. */
export interface ActionContext extends OfflineContext, GitRepository {
  readonly github: Github;
  readonly isPublic: boolean;
  /** Masks the e-mail addresses in all published strings, if masking is on. */
  mask<T>(value: T): T;
}

/** The repository of a run, by git. */
export interface GitRepository {
  readonly git: GitRefs;
  /** The branches, below `refs/heads`. */
  readonly branches: GitRefs;
  /** Loads the files of a commit, once; throws ActionError. */
  statesAt(commit: string): Promise<CommitStates>;
}

/** The part of the context that needs no connection to GitHub. */
export interface OfflineContext {
  readonly inputs: Inputs;
  readonly event: EventContext;
  readonly scope: RunScope;
  readonly io: Io;
  readonly log: RunnerLog;
  /** API keys and tokens given by the workflow. */
  readonly secrets: readonly string[];
  appendSummary(markdown: string): Promise<void>;
  /** Writes a file for later steps; returns its absolute path. */
  saveFile(name: string, text: string): Promise<string>;
  /** Registers a secret that the runner masks in every log. */
  maskSecret(secret: string): void;
}

export type ResultWord =
  | "no-changes"
  | "changes"
  | "refused"
  | "failed"
  | "unplanned"
  | "applied"
  | "superseded"
  | "partial"
  | "clean"
  | "drift"
  | "valid"
  | "invalid";

/** The optional outputs; `result` and `failure-reason` are always set. */
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
  "waiting",
  "comment-url",
  "issue-url",
] as const;

export type Outputs = Partial<Readonly<Record<(typeof OUTPUTS)[number], string>>>;

export interface ActionResult {
  readonly result: ResultWord;
  /** `null` if the step passes. */
  readonly reason: FailureReason | null;
  /** Explanation of the result, in one sentence; `null` if the result needs none. */
  readonly message: string | null;
  readonly outputs: Outputs;
}

export function passed(result: ResultWord, outputs: Outputs = {}): ActionResult {
  return { result, reason: null, message: null, outputs };
}

/** Creates the result of a failing run, whose outputs are set all the same. */
export function failed(
  result: ResultWord,
  reason: FailureReason,
  message: string,
  outputs: Outputs = {},
): ActionResult {
  return { result, reason, message, outputs };
}

/** Files and merchants of a run; equal in the workflows for plan, apply and drift. */
export interface RunScope {
  /** Hexadecimal digest of the selection. */
  readonly id: string;
  /** Digest of label and service: equal in all jobs whose records are of the same merchants. */
  readonly family: string;
  /** Readable description; empty for the default selection. */
  readonly title: string;
}

/** Derives the scope from the inputs; `generalUrl` is the base URL where the input has none. */
export function runScope(
  { paths, merchants, shard, label, baseUrl }: Inputs,
  generalUrl: string | undefined,
): RunScope {
  const part = shard === null ? "" : `${shard.index}/${shard.count}`;
  const service = normalUrl(baseUrl ?? generalUrl?.trim() ?? "");
  const digest = (...what: readonly unknown[]): string =>
    createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 12);
  const inputNames = [
    ...(label === "" ? [] : [label]),
    ...(paths.join() === "access" ? [] : paths),
    ...(merchants.length > 3 ? [`${merchants.length} merchants`] : merchants),
    ...(part === "" ? [] : [`part ${part}`]),
  ];
  const id = digest([...paths].sort(), [...merchants].sort(), part, label, service);
  return { id, family: digest(label, service), title: inputNames.join(", ") };
}

/** Returns one spelling for URLs that differ in case of the host, default port and slashes at the end. */
function normalUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text).href : text;
  return url.replace(/\/+$/, "");
}

/** Returns the HTML comment by which the action finds its own comment or issue. */
export function markerOf(kind: "plan" | "drift", { id }: RunScope): string {
  return `<!-- rolecall:${kind}:${id} -->`;
}
