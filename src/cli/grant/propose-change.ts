import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ExitCode, type Io, ioWith } from "../../app/io/io.ts";
import { withoutRepository } from "../../app/io/processes.ts";
import { gitOutput } from "../../app/project/git-output.ts";
import { type ForgeRepository, isOtherForge, parseRemote } from "../../app/project/git-remote.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted, listText, shorten } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import { writePatches } from "../adopt/new-files.ts";
import { environmentToken, findRepository, openGithub } from "../github/github-client.ts";
import { confirmAll } from "../review/confirm-apply.ts";
import type { AccessRequest } from "./access-request.ts";
import { type AccessCommandOptions, type PreparedChange, prepareChange } from "./prepare-change.ts";
import {
  MAY_PROPOSE,
  type OpenPull,
  type PullRequests,
  type PullText,
  pullRequests,
} from "./pull-requests.ts";

/** Runs git and returns what it prints; throws RolecallError. */
type Git = (...args: readonly string[]) => Promise<string>;

/** Opens a pull request with a change to the default branch, or updates the open one with the same request. */
export async function proposeChange(
  request: AccessRequest,
  options: AccessCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const repository = await openDefaultBranch(io);
  const worktree = await addWorktree(repository, io);
  try {
    const change = await prepareChange(request, options, worktree.io);
    if ("code" in change) return change.code;
    const client = await openGithub(repository.hosted, MAY_PROPOSE, io);
    try {
      const pulls = pullRequests(client);
      return await proposePrepared(change, request, { ...repository, worktree, pulls }, options, io);
    } finally {
      await client.close();
    }
  } finally {
    await worktree.remove();
  }
}

/** The default branch of the remote repository. */
interface DefaultBranch {
  readonly root: string;
  /** The address of the remote. */
  readonly remote: string;
  readonly hosted: ForgeRepository;
  readonly branch: string;
  readonly commit: string;
  /** Runs git in a folder. */
  readonly gitIn: (folder: string) => Git;
}

async function openDefaultBranch(io: Io): Promise<DefaultBranch> {
  const local = gitRunner(io, {});
  const root = (await local(io.cwd)("rev-parse", "--show-toplevel")).trim();
  const remotes = (await local(root)("remote")).split("\n").filter((name) => name !== "");
  const remote = remotes.includes("origin") ? "origin" : remotes.length === 1 ? remotes[0] : undefined;
  if (remote === undefined) {
    throw new RolecallError("usage", "--pr needs a remote repository: there is no remote origin.", {
      hint: "Add it with git remote add origin URL.",
    });
  }
  // By its URL, since a push by its name would leave a remote-tracking branch here.
  const url = (await local(root)("remote", "get-url", "--push", remote)).trim();
  const named = parseRemote(url);
  const hosted =
    named === null || isOtherForge(named.host) ? await findRepository({ env: io.env, cwd: root }) : named;
  const gitIn = gitRunner(io, authorization(url, hosted, io));
  const [, branch] =
    /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(await gitIn(root)("ls-remote", "--symref", url, "HEAD")) ?? [];
  const commit = branch === undefined ? null : await remoteTip(gitIn(root), url, branch);
  if (branch === undefined || commit === null) {
    throw new RolecallError("usage", `${remote} has no default branch.`, {
      hint: "Push a first commit to it.",
    });
  }
  return { root, remote: url, hosted, branch, commit, gitIn };
}

/** Returns the commit of a branch of the remote; `null` if there is no such branch. */
async function remoteTip(git: Git, remote: string, branch: string): Promise<string | null> {
  const refs = await git("ls-remote", remote, `refs/heads/${branch}`);
  return /^([0-9a-f]{40,64})\t/.exec(refs)?.[1] ?? null;
}

/** Returns the configuration by which git sends a token to a remote over HTTPS: arguments would be visible to others. */
function authorization(
  url: string,
  { host }: ForgeRepository,
  { env }: Io,
): Readonly<Record<string, string>> {
  const token = environmentToken(host, env);
  if (token === null || !/^https:\/\/[^@]*$/.test(url)) return {};
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
  };
}

const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

function gitRunner({ env }: Io, config: Readonly<Record<string, string>>): (folder: string) => Git {
  const passed = { ...withoutRepository(), ...env, ...config, GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  return (cwd) =>
    async (...args) => {
      try {
        return await gitOutput(cwd, [...NO_HOOKS, ...args], { env: passed });
      } catch (cause) {
        const { code, stderr = "" } = cause as { readonly code?: unknown; readonly stderr?: string };
        const said = stderr.split("\n").filter((line) => /\S/.test(line) && !line.startsWith("hint:"));
        const why = (
          code === "ENOENT" ? "it is not installed" : (said.at(-1) ?? `it ended with ${code}`)
        ).replace(/^(?:fatal|error): /, "");
        const [command = ""] = args;
        throw new RolecallError("usage", `git ${command} failed: ${oneLine(why).replace(/\.$/, "")}.`, {
          hint: HINTS[command] ?? "Run it in a clone of the repository, with access to its remote.",
          cause,
        });
      }
    };
}

const HINTS: Readonly<Record<string, string>> = {
  commit: "Set your name and address with git config user.name and git config user.email.",
  push: "Check that you may push branches to the remote.",
};

interface Worktree {
  readonly folder: string;
  /** The environment of a command that works on the files of the worktree. */
  readonly io: Io;
  remove(): Promise<void>;
}

/**
 * Checks out the default branch in a temporary folder, without a local branch; the folder is removed at the latest when
 * the process ends.
 */
async function addWorktree(repository: DefaultBranch, io: Io): Promise<Worktree> {
  const { root, remote, branch, commit, gitIn } = repository;
  const git = gitIn(root);
  const isHere = await git("cat-file", "-e", `${commit}^{commit}`).then(
    () => true,
    () => false,
  );
  if (!isHere) await fetchBranch(git, remote, branch);
  const outer = mkdtempSync(join(realpathSync(tmpdir()), "rolecall-pr-"));
  const folder = join(outer, "files");
  const clear = (): void => {
    rmSync(outer, { recursive: true, force: true });
    execFileSync("git", ["worktree", "prune"], {
      cwd: root,
      env: { ...withoutRepository(), ...io.env },
      stdio: "ignore",
    });
  };
  const offExit = io.onExit(clear);
  const remove = async (): Promise<void> => {
    offExit();
    clear();
  };
  try {
    await git("worktree", "add", "--quiet", "--detach", folder, commit);
    const cwd = join(folder, relative(realpathSync(root), realpathSync(io.cwd)));
    if (!existsSync(cwd)) {
      throw new RolecallError("usage", `The branch ${oneLine(branch)} does not have this folder yet.`, {
        hint: "Merge the project's files first.",
      });
    }
    return { folder, io: ioWith(io, { cwd }), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface Proposing extends DefaultBranch {
  readonly worktree: Worktree;
  readonly pulls: PullRequests;
}

async function proposePrepared(
  change: PreparedChange,
  request: AccessRequest,
  proposing: Proposing,
  options: AccessCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { worktree, pulls, remote, branch: base, commit, gitIn } = proposing;
  const id = requestId(request, change);
  const branch = `rolecall/${request.kind}-${slugOf(request.email)}-${id}`;
  const open = await pulls.find(branch);
  const question = {
    lines: [
      open === null
        ? `Open a pull request with ${counted(change.patches.length, "changed file")}?`
        : `Update the pull request ${oneLine(open.url)}?`,
    ],
    answer: "yes",
  };
  const review = "Review the patch above; to propose it";
  if (!options.yes && !(await confirmAll([question], { ...options, review }, io))) return ExitCode.failed;
  await writePatches(change.patches, { ...worktree.io, cwd: worktree.io.cwd, stdout: SILENT });
  const git = gitIn(worktree.folder);
  const text = pullText(request, change);
  await git("add", "--all");
  await git("commit", "--quiet", "--message", text.title, "--message", `${TRAILER}: ${id}`);
  const tip = (await git("rev-parse", "HEAD")).trim();
  const former = await remoteTip(git, remote, branch);
  if (former !== null && open !== null) {
    if (await isSame(former, { git, remote, branch, commit, id })) {
      io.stdout.write(`The pull request has this change already: ${oneLine(open.url)}\n`);
      return ExitCode.ok;
    }
  }
  const push = (to: string, from: string): Promise<string> =>
    git(
      "push",
      "--quiet",
      `--force-with-lease=refs/heads/${branch}:${from}`,
      remote,
      `${to}:refs/heads/${branch}`,
    );
  const stopping = finishOnSignal(branch, io);
  try {
    await push(tip, former ?? "");
    if (stopping.isStopped()) throw interrupted();
    const pull = await sent(pulls, open, branch, base, text);
    io.stdout.write(`${open === null ? "Opened" : "Updated"} ${oneLine(pull.url)}\n`);
    return ExitCode.ok;
  } catch (error) {
    try {
      if ((await remoteTip(git, remote, branch)) === tip) await push(former ?? "", tip);
    } catch {
      io.stderr.write(leftBranch(branch));
    }
    // Ctrl-C also reaches git and gh, whose errors then have no meaning.
    throw stopping.isStopped() ? interrupted() : error;
  } finally {
    stopping.close();
  }
}

/**
 * Delays the end of the process by a signal until no branch is left without a pull request; a second signal ends it at
 * once.
 */
function finishOnSignal(
  branch: string,
  io: Io,
): { readonly isStopped: () => boolean; readonly close: () => void } {
  let signals = 0;
  const close = io.onStopSignal((signal) => {
    // A closed terminal may send it twice.
    if (signal === "SIGHUP" && signals > 0) return;
    signals += 1;
    if (signals === 1) {
      io.stderr.write(
        `${signal}: finishing, so that no branch is left behind. Send it again to exit at once.\n`,
      );
      return;
    }
    io.stderr.write(leftBranch(branch));
    io.exit(ExitCode.failed);
  });
  return { isStopped: () => signals > 0, close };
}

function interrupted(): RolecallError {
  return new RolecallError("confirmation-needed", "Interrupted: no pull request was opened or updated.");
}

function leftBranch(branch: string): string {
  return `The branch ${branch} may be left at the remote. The same command uses it again; otherwise, delete it.\n`;
}

function sent(
  pulls: PullRequests,
  open: OpenPull | null,
  branch: string,
  base: string,
  text: PullText,
): Promise<OpenPull> {
  return open === null ? pulls.create(branch, base, text) : pulls.update(open.number, text);
}

const SILENT = { write: () => undefined, isTTY: false, columns: undefined };

/** The last line of a commit's message, by which the commits of a request are recognised. */
const TRAILER = "Access-Request";

/** Fetches the commits of a remote branch, and moves no ref. */
async function fetchBranch(git: Git, remote: string, branch: string): Promise<void> {
  const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--refmap="];
  await git("fetch", ...options, remote, `refs/heads/${branch}`);
}

/** The branch of an open pull request. */
interface ProposedBranch {
  readonly git: Git;
  readonly remote: string;
  readonly branch: string;
  readonly commit: string;
  readonly id: string;
}

/**
 * Returns whether the branch of an open pull request has the files of this worktree; throws RolecallError if it has
 * commits by others, which a push would remove.
 */
async function isSame(former: string, { git, remote, branch, commit, id }: ProposedBranch): Promise<boolean> {
  await fetchBranch(git, remote, branch);
  const messages = await git("log", "--format=%x00%B", `${commit}..${former}`);
  const isForeign = messages
    .split("\0")
    .some((message) => message.trim() !== "" && !message.includes(`${TRAILER}: ${id}`));
  if (isForeign) {
    throw new RolecallError("conflict", `The branch ${branch} has commits by others.`, {
      hint: "Merge or close its pull request first.",
    });
  }
  const [mine, theirs] = await Promise.all(
    ["HEAD", former].map((name) => git("rev-parse", `${name}^{tree}`)),
  );
  return mine === theirs;
}

/** Identifies a request by everything but its dates and its reason. */
function requestId({ kind, email, file = "" }: AccessRequest, { merchants, roles }: PreparedChange): string {
  const about = [kind, email.toLowerCase(), file, [...merchants].sort(), [...roles].sort()];
  return createHash("sha256").update(JSON.stringify(about)).digest("hex").slice(0, 10);
}

/** Returns the part of a branch's name that says who it is about. */
function slugOf(email: string): string {
  const slug = email
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return slug.slice(0, 40) || "member";
}

function pullText(
  { kind, email, roles: asked, from, until, reason }: AccessRequest,
  { merchants, roles }: PreparedChange,
): PullText {
  const isWhole = kind === "revoke" && asked.length === 0;
  const what = isWhole ? "the membership" : listText(roles);
  const verb = kind === "grant" ? `Grant ${email}` : `Revoke from ${email}`;
  const rows = [
    ["Person", [email]],
    [kind === "grant" ? "Roles to grant" : "Roles to revoke", isWhole ? [what] : roles],
    ["Merchants", merchants],
    ...(from === undefined ? [] : [["From", [from.text]] as const]),
    ...(until === undefined ? [] : [["Until", [until.text]] as const]),
    ...(reason === undefined ? [] : [["Reason", [reason]] as const]),
  ] as const;
  const lines = rows.map(([label, texts]) => `| ${label} | ${texts.map(inlineCode).join(", ")} |`);
  return {
    title: shorten(oneLine(`${verb} ${what} at ${listText(merchants)}`)),
    body: [
      "| Request | |",
      "|---|---|",
      ...lines,
      "",
      "Proposed by `rolecall`. Its plan is in the comment of the check.",
    ].join("\n"),
  };
}
