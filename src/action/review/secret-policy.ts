import type { DesiredState } from "../../model/desired.ts";
import { ActionError } from "../action-error.ts";
import type { EventContext } from "../github/event-context.ts";
import type { Github } from "../github/github-api.ts";
import type { Inputs } from "../inputs.ts";

/** The parts of the connection that the workflow itself determines. */
export interface WorkflowCredentials {
  /** True if the workflow gives the base URL. */
  readonly baseUrl: boolean;
  /** Merchants whose key the workflow gives. */
  readonly keys: ReadonlySet<string>;
}

/**
 * Returns the merchants for which a pull request changes the base URL or the variable of the API key. Otherwise anybody
 * who can propose a file could have a key sent to a service of their own.
 */
export function untrustedCredentials(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  given: WorkflowCredentials,
): readonly DesiredState[] {
  const known = new Map(base.map((state) => [state.merchant, accessOf(state, given)]));
  // A new merchant may use what an existing one uses: the same key, sent to the same URL.
  const used = new Set([...known.values(), DEFAULT].map(text));
  return head.filter((state) => {
    const wanted = text(accessOf(state, given));
    const before = known.get(state.merchant);
    return before === undefined ? !used.has(wanted) : wanted !== text(before) && wanted !== text(DEFAULT);
  });
}

/** Checks whether a file determines the base URL or the variable of the API key. */
export function choosesCredentials(state: DesiredState, given: WorkflowCredentials): boolean {
  return text(accessOf(state, given)) !== text(DEFAULT);
}

interface Said {
  readonly baseUrl: string | null;
  readonly keyEnv: string | null;
}

/** The workflow determines both. */
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

/** Events that run with the repository's secrets, whoever triggers them. */
const UNSAFE = new Set(["workflow_run", "issue_comment", "discussion_comment", "issues"]);

/** Rejects events whose files somebody without access to the keys may have chosen. */
export function guardPlanEvent({ name, pull }: EventContext, keys: boolean): void {
  if (!keys) return;
  const fork = name === "pull_request_target" && (pull?.fork ?? true);
  if (!fork && !UNSAFE.has(name)) return;
  throw new ActionError(
    "unsafe-event",
    `The event ${name} could plan anybody's files with the keys of this repository.`,
    "Use the event pull_request: for a fork it has no keys, so only the files are compared.",
  );
}

/** Rejects drift on a pull request, whose files are not compared with those of its base branch. */
export function guardDriftEvent(event: EventContext): void {
  guardPlanEvent(event, true);
  if (event.pull === null) return;
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
      `The event ${name} cannot apply: only merged changes are applied.`,
      "Run apply on a push to the default branch, or by workflow_dispatch.",
    );
  }
  const defaultBranch = event.defaultBranch ?? (await github.repository()).defaultBranch;
  const branch = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
  if (branch !== null && (branch === defaultBranch || inputs.allow.includes(`branch=${branch}`)))
    return branch;
  throw new ActionError(
    "wrong-branch",
    `${ref || "This ref"} is not the default branch, ${defaultBranch}; only that one is applied.`,
    branch === null ? null : `To apply it, add branch=${branch} to the input allow.`,
  );
}

/** Rejects a commit that is no longer the tip of its branch; another run applies the newer one. */
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
    `To apply this commit anyway, add commit=${event.sha} to the input allow.`,
  );
}

/** Returns the overrides in `allow`, without the action's own branch and commit. */
export function overridesIn(allow: readonly string[]): readonly string[] {
  return allow.filter((one) => !/^(branch|commit)=/.test(one) || one.includes("@"));
}
