import { readFile } from "node:fs/promises";
import { join, posix, relative, resolve, sep } from "node:path";
import { openBlobs } from "../../app/project/git-objects.ts";
import { baseProject, commitProject } from "../../app/project/project-access.ts";
import type { ProjectAccess } from "../../kernel/read/bound-files.ts";
import { loadMerchants } from "../../kernel/read/load-merchants.ts";
import type { ReadSource } from "../../kernel/read/load-sources.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import type { DesiredState } from "../../model/desired.ts";
import { judgeDeclared } from "../../rules/judge-rules.ts";
import type { ActionContext } from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { EventContext } from "../context/event-context.ts";
import { type Github, GithubError } from "../context/github-api.ts";
import { type CommitFiles, commitFiles, gitBlobName } from "../github/commit-files.ts";

/** The merchants of a commit. */
export interface CommitStates {
  readonly commit: string;
  readonly states: readonly DesiredState[];
  /** The files that declare none because of an error. */
  readonly invalid: readonly string[];
  /** Submodules below the paths: the files in them are not known. */
  readonly submodules: readonly string[];
  /** The access by which the project there binds the files of the checkout; `null` if it has none. */
  readonly project: ProjectAccess | null;
  /** Returns whether a file of the checkout has the same content there. */
  isSame(file: string): Promise<boolean>;
}

type Reading = Pick<ActionContext, "inputs" | "event" | "github" | "io">;

/** Loads the merchants of a commit whose files have no error. */
export async function statesAt(commit: string, context: Reading): Promise<readonly DesiredState[]> {
  return (await loadCommit(commit, context)).states;
}

/**
 * Loads the files of a commit. They are read through the API, unless the checkout has the same content. Nothing in the
 * checkout decides what is read.
 */
async function loadCommit(commit: string, { inputs, event, github, io }: Reading): Promise<CommitStates> {
  const { workspace } = event;
  const readBlobs = async (blobs: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> => {
    const texts = new Map(await manyTexts(blobs, workspace, github));
    for (const blob of blobs) if (!texts.has(blob)) texts.set(blob, await github.blob(blob));
    return texts;
  };
  const files = await commitFiles(commit, github, readBlobs);
  const wanted: string[] = [];
  for (const path of inputs.paths) wanted.push(...(await files.below(inRepository(path, workspace))));
  const roots = [...new Set(wanted)].sort();
  const submodules = [...files.submodules];
  const isSame = async (file: string): Promise<boolean> => {
    const blob = await files.blobAt(inRepository(file, workspace));
    return blob !== null && (await localCopy(resolve(workspace, file), blob)) !== null;
  };
  const isProject = (await files.blobAt(PROJECT_FILE)) !== null;
  const fetched = await differingTexts(
    isProject ? [...roots, PROJECT_FILE] : roots,
    files,
    workspace,
    github,
  );
  const read = commitReader(files, fetched, workspace, github);
  const names = isProject ? [PROJECT_FILE] : [];
  const own = isProject ? await commitProject(names, (folder) => files.below(folder), read) : null;
  const project = own && (await baseProject(own, commit, workspace));
  if (roots.length === 0) return { commit, project, states: [], invalid: [], submodules, isSame };
  const { merchants } = await loadMerchants(roots, read, {
    now: io.now(),
    judge: judgeDeclared,
    projects: own ? [own] : [],
  });
  return {
    commit,
    project,
    isSame,
    submodules,
    states: merchants.flatMap(({ state }) => state ?? []),
    invalid: merchants.flatMap(({ file, state }) => (state === null ? file : [])),
  };
}

/** Returns the commit that a pull request or a merge group is compared with; `null` for other events. */
export async function baseCommit({ pull, group, sha }: EventContext, github: Github): Promise<string | null> {
  if (pull === null) return group?.baseSha ?? null;
  // A trial merge has the base as its first parent.
  const parents = sha === pull.headSha ? [] : await github.parents(sha).catch(() => []);
  const [base, head] = parents;
  return parents.length === 2 && head === pull.headSha && base ? base : pull.baseSha;
}

/** Loads the files that a pull request or a merge group is compared with; `null` for other events. */
async function baseStates(context: ActionContext): Promise<CommitStates | null> {
  const commit = await baseCommit(context.event, context.github);
  return commit === null ? null : loadCommit(commit, context);
}

/** Returns, by git object name, the contents of files that differ in the checkout. */
async function differingTexts(
  paths: readonly string[],
  files: CommitFiles,
  workspace: string,
  github: Github,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const wanted = new Set<string>();
  for (const path of paths) {
    const blob = await files.blobAt(path);
    if (blob !== null && (await localCopy(join(workspace, path), blob)) === null) wanted.add(blob);
  }
  return manyTexts([...wanted], workspace, github);
}

/** Returns contents by git object name: from the clone, and if several are missing from GitHub. */
async function manyTexts(
  blobs: readonly string[],
  workspace: string,
  github: Github,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const local = await clonedTexts(blobs, workspace);
  const missing = blobs.filter((blob) => !local.has(blob));
  if (missing.length < 2) return local;
  const found = await github.texts(missing).catch((error: unknown) => {
    // Without that query every file is read by itself.
    if (error instanceof GithubError && error.limit === null) return new Map<string, Uint8Array>();
    throw error;
  });
  return new Map([...local, ...[...found].filter(([blob, bytes]) => gitBlobName(bytes, blob) === blob)]);
}

/** Returns the contents that the clone of the checkout has, such as those of the base with `fetch-depth: 2`. */
async function clonedTexts(
  blobs: readonly string[],
  workspace: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (blobs.length === 0) return new Map();
  const clone = openBlobs(workspace);
  try {
    const texts = await Promise.all(blobs.map(async (blob) => [blob, await clone.read(blob)] as const));
    return new Map(
      texts.flatMap(([blob, bytes]) =>
        bytes !== null && gitBlobName(bytes, blob) === blob ? [[blob, bytes] as const] : [],
      ),
    );
  } catch {
    // Without git, or in a folder of somebody else's, GitHub has them.
    return new Map();
  } finally {
    clone.close();
  }
}

function commitReader(
  files: CommitFiles,
  fetched: ReadonlyMap<string, Uint8Array>,
  workspace: string,
  github: Github,
): ReadSource {
  return async (path, from) => {
    const named = posix.normalize(from === null ? path : posix.join(posix.dirname(from), path));
    if (named.startsWith("..")) return { ok: false, reason: "outside-root" };
    const file = await files.fileAt(named);
    const blob = file === null ? null : await files.blobAt(file);
    if (file === null || blob === null) return { ok: false, reason: "missing" };
    const known = fetched.get(blob) ?? (await localCopy(join(workspace, file), blob));
    const bytes = known ?? (await github.blob(blob));
    try {
      return { ok: true, file, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      return { ok: false, reason: "not-utf8" };
    }
  };
}

/** Returns a file of the checkout if its git object name matches, or `null`. */
async function localCopy(path: string, blob: string): Promise<Uint8Array | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  return gitBlobName(bytes, blob) === blob ? bytes : null;
}

/** Returns a path of the checkout as git has it. */
export function inRepository(path: string, workspace: string): string {
  return relative(workspace, resolve(workspace, path)).split(sep).join("/");
}

/** Loads the files of the base, as `baseStates` does; throws ActionError if they cannot be read. */
export async function readableBase(context: ActionContext): Promise<CommitStates | null> {
  try {
    return await baseStates(context);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    throw unreadableBase(error);
  }
}

/** Converts a GithubError for the files of the base branch to an ActionError. */
export function unreadableBase(error: GithubError): ActionError {
  return new ActionError(
    "github",
    `The files of the base branch could not be read: ${error.message}.`,
    error.advice("contents: read"),
  );
}
