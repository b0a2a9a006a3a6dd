import type { DesiredState } from "../../model/desired.ts";
import { ActionError } from "../action-error.ts";
import type { EventContext } from "../github/event-context.ts";
import type { Github } from "../github/github-api.ts";
import type { Inputs } from "../inputs.ts";

/** How a pull request's files would be reached, as far as the workflow does not say it itself. */
export interface WorkflowCredentials {
  /** The workflow says where the service is. */
  readonly baseUrl: boolean;
  /** Merchants whose key the workflow says. */
  readonly keys: ReadonlySet<string>;
}

/**
 * Which merchants of a pull request would send a key to a place, or take it from a variable, that the branch it is to be
 * merged into does not: whoever may propose a file could so have a key sent to a service of their own.
 */
export function untrustedCredentials(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  given: WorkflowCredentials,
): readonly DesiredState[] {
  const known = new Map(base.map((state) => [state.merchant, accessOf(state, given)]));
  // What a merchant uses that is there already, a new one may use too: the same key, sent to the same place.
  const used = new Set([...known.values(), DEFAULT].map(text));
  return head.filter((state) => {
    const wanted = text(accessOf(state, given));
    const before = known.get(state.merchant);
    return before === undefined ? !used.has(wanted) : wanted !== text(before) && wanted !== text(DEFAULT);
  });
}

/** Whether a file says itself where its service is, or which variable holds its key. */
export function choosesCredentials(state: DesiredState, given: WorkflowCredentials): boolean {
  return text(accessOf(state, given)) !== text(DEFAULT);
}

interface Said {
  readonly baseUrl: string | null;
  readonly keyEnv: string | null;
}

/** The workflow alone says both. */
const DEFAULT: Said = { baseUrl: null, keyEnv: null };

function accessOf({ merchant, baseUrl, keyEnv }: DesiredState, given: WorkflowCredentials): Said {
  return {
    baseUrl: given.baseUrl ? null : (baseUrl ?? null),
    keyEnv: given.keys.has(merchant) ? null : (keyEnv ?? null),
  };
}

function text({ baseUrl, keyEnv }: Said): string {
  return JSON.stringify([baseUrl, keyEnv]);
}

/** Events that run with the repository's keys, whoever caused them. */
const UNSAFE = new Set(["workflow_run", "issue_comment", "discussion_comment", "issues"]);

/** Refuses to plan with keys where somebody without a right to them may have chosen the files. */
export function guardPlanEvent({ name, pull }: EventContext, keys: boolean): void {
  if (!keys) return;
  const fork = name === "pull_request_target" && (pull?.fork ?? true);
  if (!fork && !UNSAFE.has(name)) return;
  throw new ActionError(
    "unsafe-event",
    `With the event ${name} anybody's files could be planned with the keys of this repository.`,
    "Use the event pull_request: for a fork it has no keys, and the files alone are compared.",
  );
}

/** Refuses to look for drift with the files of a pull request: nothing holds them against those of its base branch. */
export function guardDriftEvent(event: EventContext): void {
  guardPlanEvent(event, true);
  if (event.pull === null) return;
  throw new ActionError(
    "unsafe-event",
    `With the event ${event.name} there is no drift to look for: its files are not merged.`,
    "Run drift on a schedule; plan is for pull requests.",
  );
}

/** The branch that an apply runs for; refuses everything but the default branch, unless `allow` names another one. */
export async function guardApplyBranch(
  { event, inputs }: { readonly event: EventContext; readonly inputs: Pick<Inputs, "allow"> },
  github: Github,
): Promise<string> {
  const { name, pull, ref } = event;
  if (pull !== null || UNSAFE.has(name)) {
    throw new ActionError(
      "unsafe-event",
      `The event ${name} applies nothing: what is applied is what is merged.`,
      "Run apply on a push to the default branch, or by workflow_dispatch.",
    );
  }
  const defaultBranch = event.defaultBranch ?? (await github.repository()).defaultBranch;
  const branch = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
  if (branch !== null && (branch === defaultBranch || inputs.allow.includes(`branch=${branch}`)))
    return branch;
  throw new ActionError(
    "wrong-branch",
    `${ref || "This ref"} is not the default branch, ${defaultBranch}, and nothing else is applied.`,
    branch === null ? null : `If it is meant, put branch=${branch} into the input allow.`,
  );
}

/** Refuses a commit that its branch has left behind: another run applies the newer one. */
export async function guardTip(
  { event, inputs }: { readonly event: EventContext; readonly inputs: Pick<Inputs, "allow"> },
  branch: string,
  github: Github,
): Promise<void> {
  const tip = await github.branchTip(branch);
  if (tip === event.sha || inputs.allow.includes(`commit=${event.sha}`)) return;
  throw new ActionError(
    "stale-commit",
    `${event.sha.slice(0, 7)} is no longer the tip of ${branch}: the run for ${tip.slice(0, 7)} applies it.`,
    `If just this commit is meant, put commit=${event.sha} into the input allow.`,
  );
}

/** The overrides among what `allow` holds: branch and commit are the action's own. */
export function overridesIn(allow: readonly string[]): readonly string[] {
  return allow.filter((one) => !/^(branch|commit)=/.test(one) || one.includes("@"));
}
