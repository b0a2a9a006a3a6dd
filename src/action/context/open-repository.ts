import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { BRANCHES, type LiveBranch } from "../../app/live-branch/live-branch.ts";
import { liveBranchName } from "../../app/live-branch/open-live-branch.ts";
import { liveRecorder, type RecordLive } from "../../app/live-branch/record-live.ts";
import { type RecordedStateOf, recordedStates } from "../../app/live-branch/recorded-states.ts";
import { type CommitStates, loadCommit } from "../../app/project/commit-states.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { OpenStore, ReviewStore } from "../../review/merchant-state.ts";
import { GitError, openRefs } from "../../store/git-refs.ts";
import { openRecords } from "../../store/open-records.ts";
import { keyedHash } from "../../store/sealed-json.ts";
import type { ActionContext, GitRepository, OfflineContext } from "./action-context.ts";
import { ActionError } from "./action-error.ts";

/** Opens the repository of a run for `use`; nothing is fetched yet. */
export async function withRepository<T>(
  { inputs, event, io }: Pick<OfflineContext, "inputs" | "event" | "io">,
  use: (repository: GitRepository) => Promise<T>,
  openGit: typeof openRefs = openRefs,
): Promise<T> {
  const folder = await mkdtemp(join(event.temp, "rolecall-git-"));
  const { workspace } = event;
  const token = Buffer.from(`x-access-token:${inputs.githubToken}`).toString("base64");
  const remote = {
    url: `${event.serverUrl}/${event.owner}/${event.repo}`,
    prefix: inputs.refs,
    authorization: `basic ${token}`,
  };
  const effects = { clone: join(workspace, ".git"), env: io.env, now: io.now };
  const git = openGit(remote, { ...effects, folder: join(folder, "records") });
  const branches = openGit({ ...remote, prefix: BRANCHES }, { ...effects, folder: join(folder, "branches") });
  const load = async (commit: string): Promise<CommitStates> => {
    try {
      return await loadCommit(commit, git, { paths: inputs.paths, workspace, now: io.now() });
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw gitError(`The files of ${commit.slice(0, 7)} could not be read`, "contents: read", error);
    }
  };
  const loaded = new Map<string, Promise<CommitStates>>();
  const statesAt = (commit: string): Promise<CommitStates> => {
    const states = loaded.get(commit) ?? load(commit);
    loaded.set(commit, states);
    return states;
  };
  try {
    return await use({ git, branches, statesAt });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens the records in the repository's refs; throws ActionError without the secret that signs them. */
export function openReviewStore({
  inputs: { approvalSecret: key },
  scope: { family },
  io,
  git,
}: Pick<ActionContext, "inputs" | "scope" | "io" | "git">): OpenStore {
  if (key === "") {
    throw new ActionError(
      "usage",
      "The input approval-secret is empty. It signs the records of what was reviewed and applied.",
      'Create a secret with "openssl rand -hex 32", and pass it to plan, apply and due.',
    );
  }
  const store: ReviewStore = openRecords(git, { family, key }, (ms) => io.sleep(ms));
  return {
    store,
    seal: (text) => keyedHash(text, key),
  };
}

/** Returns the branch of live states that the projects of merchants name; undefined if they name none. */
export function liveBranchOf(
  { branches, isPublic, inputs }: Pick<ActionContext, "branches" | "isPublic" | "inputs">,
  states: readonly DesiredState[],
): LiveBranch | undefined {
  const name = liveBranchName(states);
  if (name === null) return undefined;
  return {
    name,
    place: "the repository",
    open: (use) => use(branches),
    isPublic: async () => isPublic && !inputs.allowPublic,
  };
}

/** Opens the recorder of live states; undefined if the projects of merchants name no branch. */
export function liveRecorderOf(
  context: Pick<ActionContext, "branches" | "isPublic" | "inputs" | "io" | "log">,
  states: readonly DesiredState[],
): RecordLive | undefined {
  const { io, log } = context;
  const branch = liveBranchOf(context, states);
  return branch && liveRecorder(branch, { say: log.info, warn: log.notice }, io);
}

/** Opens the recorded live states of merchants; undefined if their projects name no branch. */
export function recordedStatesOf(
  context: Pick<ActionContext, "branches" | "isPublic" | "inputs" | "log">,
  states: readonly DesiredState[],
): RecordedStateOf | undefined {
  const branch = liveBranchOf(context, states);
  return branch && recordedStates(branch, context.log.notice);
}

/** Converts an error of git's for the records to an ActionError. */
export function storeError(error: GitError): ActionError {
  return gitError("The records of reviews and applies could not be reached", "contents: write", error);
}

function gitError(what: string, permission: string, { message, code }: GitError): ActionError {
  const hint =
    code === "forbidden" ? `Give the job the permission ${permission}, and run it again.` : "Run it again.";
  return new ActionError("github", `${what}. ${message}`, hint);
}
