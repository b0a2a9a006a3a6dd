import { realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { Io } from "../../app/io/io.ts";
import type { RecordedStateOf } from "../../app/live-branch/recorded-states.ts";
import { logProgress, type ShownProgress } from "../../app/progress/log-progress.ts";
import type { CommitStates } from "../../app/project/commit-states.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { findYamlFiles } from "../../app/project/find-files.ts";
import { type Loaded, loadStates } from "../../app/project/load-states.ts";
import { inShard } from "../../app/project/shard.ts";
import { keyVariables } from "../../app/session/connection.ts";
import type { Planned, PlannedMerchant } from "../../app/session/session.ts";
import { withBase } from "../../kernel/approval/with-base.ts";
import { buildPlan, type PlanInput } from "../../kernel/plan/build-plan.ts";
import { planEnded } from "../../kernel/plan/due.ts";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { withReviewedEnds } from "../../kernel/read/reviewed-ends.ts";
import { withoutThoseOfBase } from "../../kernel/rules/base-rules.ts";
import { firstOf } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { RolecallError } from "../../model/errors.ts";
import { PLAIN } from "../../show/style.ts";
import { renderDiagnostics } from "../../show/text/diagnostics-text.ts";
import { GitError } from "../../store/git-refs.ts";
import { ActionError, type FailureReason } from "../context/action-error.ts";
import { GithubError } from "../context/github-api.ts";
import type { Inputs } from "../context/inputs.ts";
import { storeError } from "../context/open-repository.ts";

/** The loaded files, limited to the selected merchants. */
export interface LoadedFiles extends Loaded {
  /** True if no file has an error. */
  readonly valid: boolean;
  /** True if these are all the merchants of the repository. */
  readonly isWhole: boolean;
  /** A sentence about files whose errors another commit has caused, and that are left out; `null` without. */
  readonly earlier: string | null;
}

interface LoadFilesOptions {
  /** The project of the base branch, whose rules hold beside the checkout's. */
  readonly project?: ProjectAccess;
  /** Diagnostics that have already been logged. */
  readonly known?: readonly Diagnostic[];
}

/** Loads the files and logs their diagnostics. */
export async function loadFiles(
  inputs: Inputs,
  io: Io,
  { project, known = [] }: LoadFilesOptions = {},
): Promise<LoadedFiles> {
  await keepInside(inputs.paths, io.cwd);
  const { paths, merchants, shard } = inputs;
  const loaded = await loadStates(paths, {
    merchants,
    cwd: io.cwd,
    now: io.now(),
    // The base is compared by the same paths.
    merchantsOnly: true,
    ...(project && { projects: [project] }),
  });
  const states = inShard(loaded.states, shard);
  const logged = new Set(known.map((diagnostic) => JSON.stringify(diagnostic)));
  const fresh = loaded.diagnostics.filter((diagnostic) => !logged.has(JSON.stringify(diagnostic)));
  if (fresh.length > 0) io.stdout.write(renderDiagnostics(fresh, PLAIN));
  const valid = !loaded.diagnostics.some(isFileError);
  const isWhole = valid && shard === null && merchants.length === 0;
  return { ...loaded, states, valid, isWhole, earlier: null };
}

/**
 * Loads the files again under the project of the base branch, if it has any, and leaves out those whose errors the base
 * branch has, too.
 */
export async function underBaseRules(
  loaded: LoadedFiles,
  base: CommitStates | null,
  inputs: Inputs,
  io: Io,
): Promise<LoadedFiles> {
  if (base === null) return loaded;
  const { project } = base;
  const bound =
    project === null
      ? { ...loaded, states: loaded.states.map(withDefaults) }
      : await loadFiles(inputs, io, { project, known: loaded.diagnostics });
  return withoutEarlierErrors(bound, base);
}

/** Adds the default settings, which hold on a base branch without a project: a new project cannot loosen them at once. */
function withDefaults(state: DesiredState): DesiredState {
  return state.projects === undefined ? state : { ...state, projects: [...state.projects, { by: "base" }] };
}

/** Leaves out the files with errors, if none of them differs from an earlier commit; `null` if one does. */
export async function withoutEarlierErrors(
  loaded: LoadedFiles,
  before: CommitStates | null,
): Promise<LoadedFiles> {
  const { states, sources, diagnostics, valid } = loaded;
  if (valid || before === null) return loaded;
  const sound = new Set(
    states.flatMap(({ origin, included = [], enforced = [] }) => [
      origin.file,
      ...included,
      ...enforced.flatMap(({ files }) => files),
    ]),
  );
  const invalid = [...new Set(diagnostics.filter(isFileError).map(({ file }) => file))];
  const broken = [...invalid, ...sources.map(({ file }) => file)].filter((file) => !sound.has(file));
  const wereSound = new Set(before.states.map(({ origin }) => origin.file));
  for (const file of new Set(broken)) {
    if (wereSound.has(file) || !(await before.isSame(file))) return loaded;
  }
  const named = firstOf(invalid, MAX_NAMED, "file").join(", ");
  return {
    ...loaded,
    states: soundStates(loaded),
    diagnostics: diagnostics.filter((diagnostic) => !isFileError(diagnostic)),
    earlier: `Left out, because of errors that an earlier commit has caused: ${named}.`,
  };
}

const MAX_NAMED = 5;

/**
 * Returns the merchants that an error in a file leaves as they are declared: those that neither have such a file nor are named
 * in one, which may declare them a second time.
 */
export function soundStates({ states, sources, diagnostics }: LoadedFiles): readonly DesiredState[] {
  const broken = new Set(diagnostics.filter(isFileError).map(({ file }) => file));
  const texts = sources.flatMap(({ file, text }) => (broken.has(file) ? text : []));
  return states.filter(
    ({ merchant, origin, included = [] }) =>
      ![origin.file, ...included].some((file) => broken.has(file)) &&
      !texts.some((text) => text.includes(merchant)),
  );
}

/** Rejects links to files outside the checkout, because diagnostics quote lines of a file. */
async function keepInside(paths: readonly string[], cwd: string): Promise<void> {
  const root = await realpath(cwd);
  for (const file of await findYamlFiles(paths, cwd)) {
    const path = relative(root, await realpath(file)).split(sep);
    if (path[0] === ".." || path.includes(".git") || path[0] === "") {
      throw new ActionError("usage", `${relative(cwd, file)} leads to a file outside the checkout.`);
    }
  }
}

/** Planned merchants with their open connections. */
export interface PlannedFiles {
  readonly planned: readonly Planned[];
  /** Plans the same states at some of the merchants: only what takes access that has ended. */
  planEnded(merchants: ReadonlySet<string>): readonly Planned[];
  readonly progress: ShownProgress;
  close(): Promise<void>;
}

interface PlanFilesOptions {
  readonly signal?: AbortSignal;
  /** States whose rules judge the plans as well, and with whose plans they are compared. */
  readonly base?: readonly DesiredState[];
  /** All merchants that rules across merchants count. */
  readonly project: readonly DesiredState[];
  /** Returns the recorded live states. Absent: no invitation is held back. */
  readonly recorded?: RecordedStateOf | undefined;
  /** The merchants at which only what takes access that has ended is planned. Absent: none. */
  readonly onlyEnded?: ReadonlySet<string>;
}

/** Reads the live state and plans, with the workflow's API keys; the rules of `base` judge the plans as well. */
export async function planFiles(
  states: readonly DesiredState[],
  inputs: Inputs,
  io: Io,
  { signal, base = [], project, recorded, onlyEnded: endedAt = new Set() }: PlanFilesOptions,
): Promise<PlannedFiles> {
  const { concurrency, baseUrl } = inputs;
  const rules = new Map(base.map((state) => [state.merchant, state]));
  const onlyEnded = new Set(endedAt);
  const progress = logProgress({ color: false }, io);
  const options = {
    concurrency,
    emit: progress.live,
    makePlan: (input: PlanInput) => {
      if (onlyEnded.has(input.desired.merchant)) return planEnded(input);
      const merchantRules = rules.get(input.desired.merchant);
      if (merchantRules === undefined) return buildPlan(input);
      const plan = buildPlan({ ...input, base: merchantRules });
      const { environment } = input.desired;
      const reviewed = withReviewedEnds(merchantRules, merchantRules);
      const before = { ...reviewed, ...(environment && { environment }) };
      const ofBase = buildPlan({ ...input, desired: before, leaveOut: new Set() });
      return {
        ...plan,
        refusals: withoutThoseOfBase(plan.refusals, ofBase.refusals),
        reviewed: withBase(plan.reviewed, ofBase.reviewed),
      };
    },
    ...(baseUrl !== null && { baseUrl }),
    ...(signal && { signal }),
    ...(recorded && { recorded }),
  };
  // Except in a pull request, the dates are those of the default branch; an apply makes only reviewed changes.
  const reviewed = states.map((state) =>
    withReviewedEnds(state, inputs.command === "plan" ? rules.get(state.merchant) : state),
  );
  const { states: keyed, env } = withKeys(reviewed, inputs, io.env);
  // Commands that only read files do without the client of the service.
  const { plannedOnly, planStates, withRunOverrides } = await import("../../app/session/session.ts");
  const { openServices } = await import("../../app/session/services.ts");
  const world = { ...io, env };
  const services = openServices(options, world);
  const close = async (): Promise<void> => {
    await progress.rest();
    await services.close();
  };
  try {
    const plans = await planStates(keyed, services, options, progress, world);
    const planned = withRunOverrides(plans, project).map(withKeyHint);
    await progress.rest();
    const planEndedAt = (merchants: ReadonlySet<string>): readonly Planned[] =>
      plannedOnly(planned).flatMap((outcome) =>
        merchants.has(outcome.plan.merchant) ? endedOnly(outcome, onlyEnded) : [],
      );
    return { planned, planEnded: planEndedAt, progress, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns an outcome that plans only what takes ended access: `merchants` are those at which plans do so. */
function endedOnly(outcome: PlannedMerchant, merchants: Set<string>): PlannedMerchant {
  const { session, planAt, planWithout } = outcome;
  const { merchant } = outcome.plan;
  const planning = <Result>(make: () => Result): Result => {
    const isOther = !merchants.has(merchant);
    merchants.add(merchant);
    try {
      return make();
    } finally {
      if (isOther) merchants.delete(merchant);
    }
  };
  return {
    ...outcome,
    plan: planning(() => planWithout(new Set())),
    planAt: (now) => planning(() => planAt(now)),
    planWithout: (leaveOut) => planning(() => planWithout(leaveOut)),
    session: {
      ...session,
      plan: (leaveOut) => {
        merchants.add(merchant);
        return session.plan(leaveOut);
      },
    },
  };
}

/** Names the inputs for keys to a merchant without one, where the command line names variables. */
function withKeyHint(planned: Planned): Planned {
  if (planned.status === "planned" || planned.error.code !== "key-missing") return planned;
  const hint = `Add the line ${planned.merchant}=KEY to the input api-keys, or set api-key for all merchants.`;
  return { ...planned, error: new RolecallError("key-missing", planned.error.message, { hint }) };
}

/** Returns the API keys in variables that only the files name. */
export function keysNamedBy(states: readonly DesiredState[], env: Io["env"]): readonly string[] {
  const keys = states.map(({ keyEnv }) => (keyEnv === undefined ? "" : (env[keyEnv]?.trim() ?? "")));
  return [...new Set(keys)].filter((key) => key !== "");
}

/** Checks whether no merchant has an API key; a malformed one counts as a key. */
export function lacksKeys(states: readonly DesiredState[], inputs: Inputs, env: Io["env"]): boolean {
  const keyed = withKeys(states, inputs, env);
  return (
    states.length > 0 &&
    keyed.states.every((state) => keyVariables(state).every((name) => !keyed.env[name]?.trim()))
  );
}

/** Turns the keys of the inputs into variables; the key of a merchant takes precedence over its file. */
function withKeys(
  states: readonly DesiredState[],
  { apiKey, apiKeys }: Inputs,
  env: Io["env"],
): { readonly states: readonly DesiredState[]; readonly env: Io["env"] } {
  const variables: Record<string, string> = {};
  const keyed = states.map((state): DesiredState => {
    const key = apiKeys.get(state.merchant);
    if (key !== undefined) {
      const keyEnv = `api-keys (${state.merchant})`;
      variables[keyEnv] = key;
      return { ...state, keyEnv };
    }
    if (state.keyEnv !== undefined && !env[state.keyEnv] && apiKey !== "") {
      variables["api-key"] = apiKey;
      return { ...state, keyEnv: "api-key" };
    }
    return state;
  });
  const general = apiKey === "" ? {} : { ROLECALL_API_KEY: apiKey };
  return { states: keyed, env: { ...env, ...general, ...variables } };
}

/** Converts the expected errors of an operation to ActionErrors. */
export async function withActionErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GitError) throw storeError(error);
    if (error instanceof GithubError) throw githubFailure(error);
    if (!(error instanceof RolecallError)) throw error;
    throw new ActionError(failureReasonOf(error), error.message, error.hint ?? null);
  }
}

function githubFailure(error: GithubError): ActionError {
  const hint = error.isForbidden ? "Check the permissions of the job." : error.advice();
  return new ActionError("github", `GitHub's API: ${error.message}.`, hint);
}

/** Maps an error code to the output `failure-reason`. */
export function failureReasonOf({ code }: Pick<RolecallError, "code">): FailureReason {
  switch (code) {
    case "usage":
    case "base-url-missing":
    case "base-url-insecure":
      return "usage";
    case "no-files":
    case "file-unreadable":
    case "file-invalid":
      return "invalid-files";
    case "key-missing":
    case "key-malformed":
    case "key-environment":
    case "account-environment":
    case "password-missing":
      return "key-missing";
    case "override-stray":
      return "refused";
    default:
      return "service";
  }
}
