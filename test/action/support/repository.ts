import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { deflateSync } from "node:zlib";
import type { runAction } from "../../../src/action/run-action.ts";
import { createSandbox } from "../../../src/sandbox/create-sandbox.ts";
import { type Listening, listen } from "../../../src/sandbox/listen.ts";
import { openRefs, textsOf } from "../../../src/store/git-refs.ts";
import { type LoggedRequest, writesIn } from "../../support/probes.ts";
import { pullIn, repositoryIn } from "./event-payload.ts";
import { type FakeGithub, startGithub } from "./fake-github.ts";
import { type KeepObject, LINK } from "./github-git.ts";
import type { MemoryGit } from "./memory-git.ts";
import { type ProgramEnd, runBundle, runSources } from "./run-program.ts";
import type { StoryClock } from "./story-clock.ts";

/** How a step ended, and what it left behind. */
export interface StepEnd extends ProgramEnd {
  readonly summary: string;
  /** Its requests to GitHub. */
  readonly requests: readonly string[];
}

/** A step of a workflow. */
export interface StepOptions {
  /** The Node that runs the bundle; without one the sources run within this process. */
  readonly node?: string;
  /** The bundle, if it is not that of this repository. */
  readonly bundle?: string;
  readonly event?: string;
  /** A number stands for a pull request of the fake. */
  readonly pull?: number;
  readonly fork?: boolean;
  readonly sha?: string;
  readonly ref?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the event tells, instead of what follows from the pull request. */
  readonly payload?: object;
}

/** A repository at GitHub with a checkout on this machine, and the service beside it. */
export interface Repository {
  readonly github: FakeGithub;
  readonly service: Listening;
  readonly folder: string;
  /** Puts files into the checkout, and nothing else. */
  checkOut(files: Readonly<Record<string, string>>): Promise<void>;
  /** Commits files on a branch of a pull request, opens it where it is not, and checks its files out. */
  propose(number: number, files: Readonly<Record<string, string>>): Promise<string>;
  /** Merges a pull request into main, and checks main out. */
  merge(number: number): Promise<string>;
  /** Runs the action; the key is the owner's unless the inputs say otherwise. */
  step(inputs: Readonly<Record<string, string>>, options?: StepOptions): Promise<StepEnd>;
  /** A request to the service as somebody else. */
  behind(method: string, path: string, body?: object): Promise<unknown>;
  /** Every request so far that was to change something at the service. */
  writes(): Promise<readonly string[]>;
  /** The number of the last run. */
  lastRun(): number;
  /** Reads the records of reviews and applies: their texts by ref and path. */
  records(): Promise<ReadonlyMap<string, string>>;
  /** Path of the repository that git reaches: it has all commits, and the records. */
  readonly refs: string;
  stop(): Promise<void>;
}

/** Writes objects into a repository, as git does. */
export function looseObjects(repository: string): KeepObject {
  return (name, stored) => {
    const folder = join(repository, "objects", name.slice(0, 2));
    const path = join(folder, name.slice(2));
    if (existsSync(path)) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, deflateSync(stored));
  };
}

/** Signs the records of all runs, unless the inputs say otherwise. */
const SECRET = "0123456789abcdef0123456789abcdef";

export interface RepositoryOptions {
  /** GitHub, the service and the action go by it. */
  readonly clock?: StoryClock;
  /** Takes the place of git, at a tenth of its cost. */
  readonly memory?: MemoryGit | undefined;
  /** Takes the place of the action of the sources. */
  readonly action?: typeof runAction;
}

/** Makes one: the seed is live, the files are on main. */
export async function openRepository(
  seed: string,
  files: Readonly<Record<string, string>>,
  { clock, memory, action }: RepositoryOptions = {},
): Promise<Repository> {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-action-"));
  const [workspace, temp] = [join(folder, "workspace"), join(folder, "temp")];
  await Promise.all([mkdir(temp), mkdir(workspace)]);
  const refs = join(folder, "remote.git");
  if (memory === undefined) {
    execFileSync("git", ["init", "--quiet", "--bare", refs]);
    // As GitHub does.
    execFileSync("git", ["--git-dir", refs, "config", "uploadpack.allowAnySHA1InWant", "true"]);
  }
  const gitConfig = join(folder, "gitconfig");
  await writeFile(gitConfig, `[url "${refs}"]\n  insteadOf = https://github.example/acme/access\n`);
  const github = await startGithub(memory === undefined ? looseObjects(refs) : () => undefined, clock);
  const sandbox = createSandbox({ seed, now: clock?.now ?? Date.now, sleep: async () => undefined });
  const service = await listen(sandbox, { host: "127.0.0.1", port: 0 });
  let main: Readonly<Record<string, string>> = files;
  const proposed = new Map<number, Readonly<Record<string, string>>>();
  github.branches.set("main", github.commit(files));
  let runs = 0;

  let checkedOut: Readonly<Record<string, string>> = {};
  const checkOut: Repository["checkOut"] = async (wanted) => {
    await rm(join(workspace, ".git"), { recursive: true, force: true });
    for (const entry of await readdir(workspace, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && !Object.hasOwn(wanted, relative(workspace, path))) await rm(path);
    }
    const git = join(workspace, ".git");
    await mkdir(join(git, "objects/info"), { recursive: true });
    // A clone with every commit, and without a branch.
    await mkdir(join(git, "refs"));
    await writeFile(join(git, "HEAD"), "ref: refs/heads/none\n");
    if (memory === undefined) {
      await writeFile(join(git, "objects/info/alternates"), `${join(refs, "objects")}\n`);
    }
    for (const [path, text] of Object.entries(wanted)) {
      if (Object.hasOwn(checkedOut, path) && checkedOut[path] === text) continue;
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await rm(join(workspace, path), { force: true, recursive: true });
      if (text.startsWith(LINK)) await symlink(text.slice(LINK.length), join(workspace, path));
      else await writeFile(join(workspace, path), text);
    }
    checkedOut = wanted;
  };
  await checkOut(files);

  const openGit = memory?.over(github.git) ?? openRefs;
  const records: Repository["records"] = async () => {
    const place = { url: refs, prefix: "refs/rolecall", authorization: null };
    const git = openGit(place, {
      folder: join(temp, "records.git"),
      clone: null,
      env: process.env,
      now: Date.now,
    });
    const texts = [...(await git.fetch())].map(async ([ref, commit]) => {
      return [...(await textsOf(commit, git))].map(([path, text]) => [`${ref}/${path}`, text] as const);
    });
    return new Map((await Promise.all(texts)).flat());
  };

  const behind: Repository["behind"] = async (method, path, body) => {
    const request = new Request(`${service.url}/_sandbox${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const answer = await sandbox.fetch(request);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === "" ? null : JSON.parse(text);
  };

  const payloadOf = ({ event = "push", pull, fork = false }: StepOptions): object => {
    const repository = repositoryIn(github);
    const proposal = github.pulls.find(({ number }) => number === pull);
    if (proposal === undefined) return event === "schedule" ? { schedule: "0 4 * * *" } : { repository };
    return { repository, pull_request: pullIn(proposal, github, fork) };
  };

  return {
    github,
    service,
    folder: workspace,
    refs,
    records,
    lastRun: () => runs,
    checkOut,
    behind,
    propose: async (number, changed) => {
      proposed.set(number, changed);
      const head = github.commit({ ...main, ...changed }, [github.branches.get("main") ?? ""]);
      const known = github.pulls.find((pull) => pull.number === number);
      if (known) known.head = head;
      else github.pulls.push({ number, head, base: "main", merged: null });
      await checkOut({ ...main, ...changed });
      return head;
    },
    merge: async (number) => {
      main = { ...main, ...proposed.get(number) };
      const sha = github.commit(main, [github.branches.get("main") ?? ""]);
      github.branches.set("main", sha);
      const pull = github.pulls.find((one) => one.number === number);
      if (pull) Object.assign(pull, { merged: sha, mergedAt: github.tick() });
      await checkOut(main);
      return sha;
    },
    step: async (inputs, options = {}) => {
      runs += 1;
      const ownTemp = join(temp, String(runs));
      // At once: the event is written as the pull request is when the run is asked for.
      mkdirSync(ownTemp);
      const file = (name: string): string => join(ownTemp, name);
      const [output, summary, event] = [file("output"), file("summary"), file("event.json")];
      await Promise.all([
        writeFile(output, ""),
        writeFile(summary, ""),
        writeFile(event, JSON.stringify(options.payload ?? payloadOf(options))),
      ]);
      const pull = github.pulls.find(({ number }) => number === options.pull);
      const given = {
        "github-token": github.token,
        "api-key": "sk_test_sandbox",
        "approval-secret": SECRET,
        "base-url": service.url,
        ...inputs,
      };
      const env = {
        PATH: process.env["PATH"],
        ...Object.fromEntries(
          Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
        ),
        GIT_CONFIG_GLOBAL: gitConfig,
        GITHUB_ACTIONS: "true",
        GITHUB_REPOSITORY: "acme/access",
        GITHUB_API_URL: github.url,
        GITHUB_SERVER_URL: "https://github.example",
        GITHUB_RUN_ID: String(runs),
        GITHUB_EVENT_NAME: options.event ?? (pull ? "pull_request" : "push"),
        GITHUB_EVENT_PATH: event,
        GITHUB_SHA: options.sha ?? pull?.head ?? github.branches.get("main"),
        GITHUB_REF: options.ref ?? (pull ? `refs/pull/${pull.number}/merge` : "refs/heads/main"),
        GITHUB_WORKSPACE: workspace,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        RUNNER_TEMP: ownTemp,
        ...options.env,
      };
      const before = github.requests.length;
      const { code, log, outputs } =
        options.node === undefined
          ? await runSources(workspace, env, { clock, action, openGit })
          : await runBundle(options.node, workspace, env, output, options.bundle);
      const requests = github.requests.slice(before);
      return { code, log, outputs, summary: await readFile(summary, "utf8"), requests };
    },
    writes: async () => {
      const { items } = (await behind("GET", "/requests")) as {
        readonly items: readonly LoggedRequest[];
      };
      return writesIn(items);
    },
    stop: async () => {
      await Promise.all([github.stop(), service.close()]);
      await rm(folder, { recursive: true });
    },
  };
}
