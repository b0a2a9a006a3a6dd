import type { Listening } from "../../../src/sandbox/listen.ts";
import {
  type MergeGroup,
  mergeGroupEvent,
  otherEvent,
  pullEvent,
  pushEvent,
  type StoryEvent,
} from "./event-payload.ts";
import type { FakeGithub, FakePull, ReviewState } from "./fake-github.ts";
import { memoryGit } from "./memory-git.ts";
import { openRepository, type Repository, type RepositoryOptions, type StepEnd } from "./repository.ts";
import { MINUTE, type StoryClock, storyClock } from "./story-clock.ts";

/** Files by path; null deletes one. */
export type FileChanges = Readonly<Record<string, string | null>>;

export type RunInputs = Readonly<Record<string, string>>;

/** A run of the action, with what it takes to run it again. */
export interface Run extends StepEnd {
  readonly inputs: RunInputs;
  readonly event: StoryEvent;
  readonly env: Readonly<Record<string, string>>;
}

/** Another event than usual, or variables of the step. */
export interface RunOptions {
  readonly event?: StoryEvent;
  readonly env?: Readonly<Record<string, string>>;
}

export interface OpenOptions {
  readonly by?: string;
  readonly fork?: boolean;
}

/**
 * What happens to a repository, one event after the other: each verb is a minute after the one before, for GitHub, the
 * service and the action alike. Runs are of the real action within this process, on the files of their event's commit.
 */
export interface Story {
  readonly github: FakeGithub;
  readonly service: Listening;
  readonly clock: StoryClock;
  /** Opens a pull request of a branch of main; gives its number. */
  openPull(files: FileChanges, options?: OpenOptions): Promise<number>;
  /** Commits to the branch of a pull request; gives its new head. */
  push(pull: number, files: FileChanges): Promise<string>;
  /** Commits to main, past any review; gives its new tip. */
  pushToMain(files: FileChanges): Promise<string>;
  /** Merges main into the branch of a pull request, as its button does. */
  updateBranch(pull: number): Promise<string>;
  /** Reviews the head of a pull request, by default as rita, who may push. */
  review(pull: number, state: ReviewState, by?: string, mayPush?: boolean): Promise<void>;
  /** Dismisses all reviews of somebody. */
  dismiss(pull: number, by: string): Promise<void>;
  /** Merges a pull request into main; gives the new tip. */
  merge(pull: number, method?: "squash" | "merge" | "rebase"): Promise<string>;
  close(pull: number): Promise<void>;
  /** Puts pull requests into the merge queue: a group of all of them, on the tip of main. */
  queue(...pulls: readonly number[]): Promise<MergeGroup>;
  /** Moves main to a merge group, whose checks have passed. */
  mergeQueued(group: MergeGroup): Promise<void>;
  /** Runs `plan` for a pull request. */
  plan(pull: number, inputs?: RunInputs, options?: RunOptions): Promise<Run>;
  /** Runs `plan` for a merge group. */
  planQueued(group: MergeGroup, inputs?: RunInputs, options?: RunOptions): Promise<Run>;
  /** Runs `apply` for a push to main, by default for its tip. */
  apply(inputs?: RunInputs, options?: RunOptions & { readonly sha?: string }): Promise<Run>;
  /** Runs `due` on the tip of main, on a schedule. */
  due(inputs?: RunInputs, options?: RunOptions): Promise<Run>;
  /** Lets the run at work use an environment, as one of its reviewers. */
  approve(environment: string): Promise<void>;
  /** The number of the last run. */
  lastRun(): number;
  /** Runs the job that applies what the last run with something to approve has left, once somebody has approved it. */
  applyApproved(environment: string, sha?: string): Promise<Run>;
  /** Runs `drift` on the tip of main, on a schedule. */
  drift(inputs?: RunInputs, options?: RunOptions): Promise<Run>;
  /** Runs any command on the tip of main, by default by hand. */
  run(inputs: RunInputs, options?: RunOptions): Promise<Run>;
  /** Runs a run again, as "Re-run jobs" does: the same event and commit, today. */
  rerun(run: Run, inputs?: RunInputs): Promise<Run>;
  /** The event of a review, for a workflow that plans on it. */
  reviewEvent(pull: number): StoryEvent;
  readonly records: Repository["records"];
  /** Counts the recorded plans of a pull request. */
  recordedPlans(pull: number): Promise<number>;
  /** Path of the repository that git reaches. */
  readonly refs: string;
  /** Files of a branch, or of a commit. */
  files(ref: string): Readonly<Record<string, string>>;
  /** The texts of the action's own comments on a pull request. */
  comments(pull: number): readonly string[];
  /** A request to the service as somebody else. */
  behind(method: string, path: string, body?: object): Promise<unknown>;
  /** Every request so far that was to change something at the service. */
  writes(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface StoryOptions extends Omit<RepositoryOptions, "clock"> {
  /** Whether git itself keeps the records and the commits. */
  readonly withGit?: boolean;
}

/** Begins a story: the seed is live, and the files are on main. */
export async function openStory(
  seed: string,
  files: Readonly<Record<string, string>>,
  { withGit = false, memory = withGit ? undefined : memoryGit(), action }: StoryOptions = {},
): Promise<Story> {
  const clock = storyClock();
  const repository = await openRepository(seed, files, { memory, clock, ...(action && { action }) });
  const { github, service } = repository;
  const { git, branches, pulls } = github;
  let numbers = 6;

  const next = (): void => clock.advance(MINUTE);
  const tip = (): string => branches.get("main") ?? "";
  const pullOf = (number: number): FakePull => {
    const pull = pulls.find((one) => one.number === number);
    if (pull === undefined) throw new Error(`there is no pull request ${number}`);
    return pull;
  };
  const commit = (blobs: ReadonlyMap<string, string>, parents: readonly string[], message: string): string =>
    git.addCommit({ tree: git.addTree(blobs), parents, message, at: clock.now() });
  const changed = (on: string, changes: FileChanges, message: string): string => {
    const blobs = new Map(git.files(on));
    for (const [path, text] of Object.entries(changes)) {
      if (text === null) blobs.delete(path);
      else blobs.set(path, git.addBlob(text));
    }
    return commit(blobs, [on], message);
  };
  const moveHead = (pull: FakePull, sha: string): string => {
    pull.previous = pull.head;
    pull.head = sha;
    if (pull.branch !== undefined) branches.set(pull.branch, sha);
    return sha;
  };
  const trialMerge = (pull: FakePull): string =>
    commit(git.merged(tip(), pull.head), [tip(), pull.head], `Merge ${pull.head} into ${tip()}`);

  let waitingRun = 0;
  const run = async (inputs: RunInputs, event: StoryEvent, env: Run["env"] = {}): Promise<Run> => {
    next();
    await repository.checkOut(git.texts(event.sha));
    const { name, sha, ref, payload } = event;
    const end = await repository.step(inputs, { event: name, sha, ref, payload, env });
    if (end.outputs["waiting"]) waitingRun = repository.lastRun();
    return { ...end, inputs, event, env };
  };

  return {
    github,
    service,
    clock,
    openPull: async (changes, { by = "ada", fork = false } = {}) => {
      next();
      numbers += 1;
      const [number, branch] = [numbers, `change-${numbers}`];
      const head = changed(tip(), changes, `Change ${number}`);
      const opened = { number, head, base: "main", merged: null, author: by, fork, forkedFrom: tip() };
      pulls.push(fork ? opened : { ...opened, branch });
      if (!fork) branches.set(branch, head);
      return number;
    },
    push: async (number, changes) => {
      next();
      const pull = pullOf(number);
      return moveHead(pull, changed(pull.head, changes, `Change ${number} again`));
    },
    pushToMain: async (changes) => {
      next();
      const sha = changed(tip(), changes, "Change main");
      branches.set("main", sha);
      return sha;
    },
    updateBranch: async (number) => {
      next();
      const pull = pullOf(number);
      const sha = commit(git.merged(tip(), pull.head), [pull.head, tip()], "Merge main");
      return moveHead(pull, sha);
    },
    review: async (number, state, by = "rita", mayPush = true) => {
      next();
      github.review(number, { author: by, mayPush, state });
    },
    dismiss: async (number, by) => {
      next();
      for (const review of github.reviews) {
        if (review.pull !== number || review.author !== by || review.state === "DISMISSED") continue;
        const { id, state } = review;
        github.dismissals.push({ pull: number, review: id, state, at: github.tick() });
        review.state = "DISMISSED";
      }
    },
    merge: async (number, method = "squash") => {
      next();
      const pull = pullOf(number);
      const blobs = git.merged(tip(), pull.head);
      const parents = method === "merge" ? [tip(), pull.head] : [tip()];
      const sha = commit(blobs, parents, `Merge #${number}`);
      branches.set("main", sha);
      Object.assign(pull, { merged: sha, mergedAt: github.tick() });
      github.hide("pulls", pull);
      return sha;
    },
    close: async (number) => {
      next();
      pullOf(number).closed = true;
    },
    queue: async (...numbered) => {
      next();
      const baseSha = tip();
      let [sha, ref] = [baseSha, ""];
      for (const number of numbered) {
        // Each pull request has a branch of its own, on top of the ones before it.
        ref = `refs/heads/gh-readonly-queue/main/pr-${number}-${sha}`;
        sha = commit(git.merged(sha, pullOf(number).head), [sha], `Merge #${number}`);
        branches.set(ref.slice("refs/heads/".length), sha);
      }
      return { sha, ref, baseSha, pulls: numbered };
    },
    mergeQueued: async ({ sha, pulls: numbered }) => {
      next();
      branches.set("main", sha);
      for (const name of branches.keys()) if (name.startsWith("gh-readonly-queue/")) branches.delete(name);
      // The last commits of the group, one for each pull request.
      const commits = git.history(sha).slice(0, numbered.length).reverse();
      for (const [index, number] of numbered.entries()) {
        const pull = pullOf(number);
        Object.assign(pull, { merged: commits[index] ?? sha, mergedAt: github.tick() });
        github.hide("pulls", pull);
      }
    },
    plan: (number, inputs = {}, { event, env } = {}) => {
      const pull = pullOf(number);
      const usual = (): StoryEvent => pullEvent(pull, trialMerge(pull), github);
      const forks = pull.fork ? { "api-key": "", "approval-secret": "" } : {};
      return run({ command: "plan", ...forks, ...inputs }, event ?? usual(), env);
    },
    planQueued: (group, inputs = {}, { event, env } = {}) =>
      run({ command: "plan", ...inputs }, event ?? mergeGroupEvent(group, github), env),
    apply: (inputs = {}, { event, env, sha = tip() } = {}) => {
      const before = git.commits.get(sha)?.parents[0] ?? "";
      return run({ command: "apply", ...inputs }, event ?? pushEvent("main", before, sha, github), env);
    },
    due: (inputs = {}, { event, env } = {}) =>
      run({ command: "due", ...inputs }, event ?? otherEvent("schedule", github), env),
    approve: async (environment) => {
      next();
      github.approvals.push({ environment, by: "rita" });
    },
    applyApproved: (environment, sha = tip()) =>
      run({ command: "apply", environment }, pushEvent("main", "", sha, github), {
        GITHUB_RUN_ID: String(waitingRun),
      }),
    lastRun: () => repository.lastRun(),
    drift: (inputs = {}, { event, env } = {}) =>
      run({ command: "drift", ...inputs }, event ?? otherEvent("schedule", github), env),
    run: (inputs, { event, env } = {}) => run(inputs, event ?? otherEvent("workflow_dispatch", github), env),
    rerun: (again, inputs = {}) => run({ ...again.inputs, ...inputs }, again.event, again.env),
    reviewEvent: (number) => {
      const pull = pullOf(number);
      return pullEvent(pull, trialMerge(pull), github, { name: "pull_request_review", action: "submitted" });
    },
    records: repository.records,
    recordedPlans: async (number) => {
      const paths = [...(await repository.records()).keys()];
      return paths.filter((path) => path.startsWith(`reviews/${number}/`) && path.endsWith("/run.json"))
        .length;
    },
    refs: repository.refs,
    files: (ref) => git.texts(branches.get(ref) ?? ref),
    comments: (number) => {
      const own = github.comments.filter(({ issue, author }) => issue === number && author.endsWith("[bot]"));
      return own.map(({ body }) => body);
    },
    behind: repository.behind,
    writes: repository.writes,
    stop: repository.stop,
  };
}
