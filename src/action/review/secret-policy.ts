import { firstOf } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { EventContext } from "../context/event-context.ts";
import type { Github } from "../context/github-api.ts";
import type { Inputs } from "../context/inputs.ts";
import { baseCommit } from "./base-commit.ts";

/** The parts of the connection that the workflow itself determines. */
interface WorkflowCredentials {
  readonly baseUrl: boolean;
  readonly keys: ReadonlySet<string>;
}

/**
 * Rejects files that choose another API key, or another place to send it to, than those of a commit that only a merge
 * can change. Without this, anybody who can start a run for a file could have a key sent to a service of their own.
 */
export async function guardCredentials(
  context: ActionContext,
  states: readonly DesiredState[],
): Promise<void> {
  const { inputs, event } = context;
  const given = { baseUrl: inputs.baseUrl !== null, keys: new Set(inputs.apiKeys.keys()) };
  if (!states.some((state) => choosesCredentials(state, given))) return;
  const { states: trusted } = await context.statesAt(await trustedCommit(context));
  const codes = untrustedCredentials(states, trusted, given).map(({ merchant }) => merchant);
  if (codes.length === 0) return;
  const secrets = firstOf(codes, MAX_NAMED, "merchant").join(", ");
  throw new ActionError(
    "unsafe-access",
    event.pull === null
      ? `The files of this run use a different API key from those of ${event.group?.baseRef ?? "the default branch"}, or send it to a different service, for ${secrets}. No request was sent.`
      : `This pull request changes which API key is used, or where it is sent, for ${secrets}. No request was sent.`,
    "Merge api.base_url and api.key_env in a separate pull request first, or set the inputs base-url and api-keys.",
  );
}

const MAX_NAMED = 10;

/**
 * Returns the commit whose files decide where keys are sent: the base of a pull request into a branch that is applied, the
 * tip of the base branch of a merge group, whose own base may have commits that are still in the queue, and else the tip of
 * the default branch. Anybody who can push can make a branch, and a pull request into it.
 */
async function trustedCommit(context: ActionContext): Promise<string> {
  const { event, github, inputs } = context;
  const { pull, group } = event;
  if (group !== null) return github.branchTip(group.baseRef);
  const main = await defaultBranch(event, github);
  const isApplied = pull?.baseRef === main || inputs.allow.includes(`branch=${pull?.baseRef}`);
  return (pull !== null && isApplied ? await baseCommit(context) : null) ?? github.branchTip(main);
}

async function defaultBranch(event: EventContext, github: Github): Promise<string> {
  return event.defaultBranch ?? (await github.repository()).defaultBranch;
}

/** Returns the merchants whose base URL or variable of the API key is not the one of the trusted files. */
export function untrustedCredentials(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  given: WorkflowCredentials,
): readonly DesiredState[] {
  const accessBefore = new Map(base.map((state) => [state.merchant, textOf(accessOf(state, given))]));
  // A new merchant may use what an existing one uses: the same key, sent to the same URL.
  const used = new Set(accessBefore.values());
  return head.filter((state) => {
    if (!choosesCredentials(state, given)) return false;
    const access = textOf(accessOf(state, given));
    const before = accessBefore.get(state.merchant);
    return before === undefined ? !used.has(access) : access !== before;
  });
}

/** Checks whether a file determines the base URL or the variable of the API key. */
function choosesCredentials(state: DesiredState, given: WorkflowCredentials): boolean {
  const { baseUrl, key } = accessOf(state, given);
  return baseUrl !== null || typeof key === "string";
}

interface Access {
  /** Null: the workflow's. */
  readonly baseUrl: string | null;
  /** A variable; null: the workflow's key for all merchants; true: its key for this one. */
  readonly key: string | null | true;
}

function accessOf({ merchant, baseUrl, keyEnv }: DesiredState, given: WorkflowCredentials): Access {
  return {
    baseUrl: given.baseUrl ? null : (baseUrl ?? null),
    key: given.keys.has(merchant) || (keyEnv ?? null),
  };
}

function textOf({ baseUrl, key }: Access): string {
  return JSON.stringify([baseUrl, key]);
}

/**
 * Returns the variables that files may name for passwords: those of the step, and of the input `passwords`, which takes
 * precedence; without keys and tokens, so that no file can use one as a password.
 */
export function passwordEnvironment(
  { inputs, io, secrets }: Pick<ActionContext, "inputs" | "io" | "secrets">,
  keys: readonly string[],
): ActionContext["io"]["env"] {
  const variables = { ...io.env, ...Object.fromEntries(inputs.passwords) };
  const hidden = new Set([...secrets, ...keys]);
  return Object.fromEntries(
    Object.entries(variables).filter(([, value]) => !hidden.has(value?.trim() ?? "")),
  );
}

/** Events that run with the repository's secrets, whoever triggers them. */
const UNSAFE = new Set(["workflow_run", "issue_comment", "discussion_comment", "issues"]);

/** Rejects events whose files somebody without access to the keys may have chosen. */
export function guardPlanEvent({ name, pull }: EventContext, keys: boolean): void {
  if (!keys) return;
  // GitHub gives a fork's pull_request no keys; whoever changes that setting trusts forks.
  const fork = name.startsWith("pull_request_") && (pull?.fork ?? true);
  if (!fork && !UNSAFE.has(name)) return;
  throw new ActionError(
    "unsafe-event",
    `The event ${name} could plan anybody's files with this repository's keys.`,
    "Use the event pull_request: it has no keys for a fork, so its files are only checked.",
  );
}

/** Rejects drift of files that are not merged. */
export function guardDriftEvent(event: EventContext): void {
  guardPlanEvent(event, true);
  if (event.pull === null && event.group === null) return;
  throw new ActionError(
    "unsafe-event",
    `Drift cannot be checked on the event ${event.name}: its files are not merged.`,
    "Run drift on a schedule; plan is for pull requests.",
  );
}

/** Returns the branch of an apply; rejects any but the default branch, unless `allow` names it. */
export async function guardApplyBranch(
  { event, inputs }: { readonly event: EventContext; readonly inputs: Pick<Inputs, "allow"> },
  github: Github,
): Promise<string> {
  const { name, pull, ref } = event;
  if (pull !== null || UNSAFE.has(name)) {
    throw new ActionError(
      "unsafe-event",
      `An apply cannot run on the event ${name}: only merged changes are applied.`,
      "Run apply on a push to the default branch, or on workflow_dispatch.",
    );
  }
  const main = await defaultBranch(event, github);
  const branch = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
  if (branch !== null && (branch === main || inputs.allow.includes(`branch=${branch}`))) return branch;
  throw new ActionError(
    "wrong-branch",
    `${ref || "This ref"} is not the default branch, ${main}; only the default branch is applied.`,
    branch === null ? null : `To apply it, add branch=${branch} to the input allow.`,
  );
}

/** Returns the overrides in `allow`, without the action's own branch. */
export function overridesIn(allow: readonly string[]): readonly string[] {
  return allow.filter((override) => !override.startsWith("branch=") || override.includes("@"));
}
