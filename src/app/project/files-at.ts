import { join, posix, relative, resolve, sep } from "node:path";
import { type LoadedMerchants, loadMerchants } from "../../kernel/read/load-merchants.ts";
import type { ReadResult, ReadSource } from "../../kernel/read/load-sources.ts";
import { judgeDeclared } from "../../kernel/rules/judge-rules.ts";
import { oneLine } from "../../lib/escape.ts";
import { suggest } from "../../lib/suggest.ts";
import { by } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { DEFAULT_PATH, defaultPath, isProjectYaml } from "./find-files.ts";
import {
  type Blobs,
  commitReader,
  existingFolder,
  isBelow,
  openBlobs,
  openRepository,
  type Repository,
  repositoryPaths,
} from "./git-objects.ts";

/** The last commit at a time. */
export interface PastCommit {
  readonly id: string;
  /** Time of the commit, in ms since the epoch. */
  readonly time: number;
}

/** The files as they were at a time. */
export interface PastFiles extends Pick<LoadedMerchants, "diagnostics" | "sources"> {
  readonly commit: PastCommit;
  /** The selected valid merchants, sorted by code. */
  readonly states: readonly DesiredState[];
}

/**
 * Reads the files of the last commit at a time, in ms since the epoch, on the first-parent history of the current
 * branch: what was merged then. End dates are compared with that time. Nothing is checked out.
 */
export async function loadFilesAt(
  moment: number,
  paths: readonly string[],
  { merchants, cwd }: { readonly merchants: readonly string[]; readonly cwd: string },
): Promise<PastFiles> {
  const repository = await openRepository(existingFolder(resolve(cwd, paths[0] ?? "access")), "--at");
  const commit = await lastCommitAt(moment, repository);
  const blobs = openBlobs(repository.root);
  try {
    const tree = await listTree(commit.id, repository, blobs);
    const inRoot = repositoryPaths(repository.root);
    const read = shownReader(commitReader(blobs, commit.id), repository.root, inRoot(cwd));
    const selectedPaths = (paths.length > 0 ? paths : [defaultPath(cwd)]).map((path) => {
      const inRepository = inRoot(resolve(cwd, path));
      if (!/^\.\.(\/|$)/.test(inRepository)) return inRepository;
      throw new RolecallError(
        "usage",
        `--at: ${oneLine(path)} is not in the repository ${oneLine(repository.root)}.`,
        { hint: "Run the command for each repository separately." },
      );
    });
    const selected = tree.filter((path) => isBelow(path, selectedPaths));
    if (selected.length === 0) {
      throw new RolecallError(
        "no-files",
        `There was no YAML file in ${selectedPaths.map(oneLine).join(", ")} at that time.`,
        {
          hint: `The commit is ${commit.id.slice(0, SHORT)}: git ls-tree -r --name-only ${commit.id.slice(0, SHORT)}`,
        },
      );
    }
    const load = (files: readonly string[]) =>
      loadMerchants(files.map(read.shown), read.source, {
        now: moment,
        judge: judgeDeclared,
        selected: merchants,
      });
    const first = await load(selected);
    const shared = sharedAmong(
      selected
        .filter((path) => !selectedPaths.some((folder) => isProject(folder, path, tree)))
        .map(read.shown),
      first,
    );
    const project =
      shared.length === 0
        ? []
        : tree.filter((path) => isBelow(path, [inRoot(resolve(cwd, defaultPath(cwd)))]));
    const selectedFiles = new Set(selected.map(read.shown));
    const loaded = shared.length === 0 ? first : await load([...new Set([...selected, ...project])].sort());
    const everyState = loaded.merchants.flatMap(({ state }) => state ?? []);
    const reached = everyState.filter(({ included }) => included?.some((file) => shared.includes(file)));
    const states = everyState.filter(
      (state) => selectedFiles.has(state.origin.file) || reached.includes(state),
    );
    // A file that reaches no merchant is reported as one that declares none.
    const silent = reached.length === 0 ? [] : shared;
    return {
      commit,
      states: pick(states, merchants, loaded),
      diagnostics: loaded.diagnostics.filter(({ file }) => !silent.includes(file)),
      sources: loaded.sources,
    };
  } finally {
    blobs.close();
  }
}

const SHORT = 12;

async function lastCommitAt(moment: number, { git, shallow }: Repository): Promise<PastCommit> {
  const until = `--min-age=${Math.floor(moment / 1000)}`;
  const commit = await git("rev-list", "-1", "--first-parent", until, "--format=%ct", "HEAD", "--").catch(
    async (cause: unknown) => {
      // Before the first commit there is no HEAD.
      if ((await git("rev-parse", "--verify", "--quiet", "HEAD").catch(() => "")) !== "") throw cause;
      throw new RolecallError("usage", "--at: the current branch has no commits yet.", {
        hint: "Commit the files first, or omit --at.",
        cause,
      });
    },
  );
  const [, id, seconds] = /^commit (\w+)\n(\d+)/.exec(commit) ?? [];
  if (id !== undefined) return { id, time: Number(seconds) * 1000 };
  throw new RolecallError("usage", "--at: the history of the current branch begins after that time.", {
    hint: shallow
      ? "This clone is shallow: fetch older commits with git fetch --unshallow, or check out with fetch-depth: 0."
      : "git log --first-parent --reverse shows where it begins.",
  });
}

/** Lists the YAML files of a commit, relative to its root; a link stands for the file that it leads to. */
async function listTree(commit: string, { git }: Repository, blobs: Blobs): Promise<readonly string[]> {
  const listed = await git("ls-tree", "-r", "-z", "--full-tree", commit);
  const entries = [...listed.matchAll(/(\d+) blob (\w+)\t([^\0]+)\0/g)];
  const files = await Promise.all(
    entries.map(async ([, mode, id = "", path = ""]) => {
      if (!isProjectYaml(path)) return [];
      if (mode !== "120000") return path;
      const target = (await blobs.read(id))?.toString("utf8") ?? "";
      const file = posix.join(posix.dirname(path), target);
      return entries.some(([, , , path]) => path === file) ? file : [];
    }),
  );
  return [...new Set(files.flat())].sort();
}

/** Returns whether a path is below a folder that is the whole project: the default folder, or one that contains it. */
function isProject(folder: string, path: string, tree: readonly string[]): boolean {
  if (path === folder || !isBelow(path, [folder])) return false;
  const name = DEFAULT_PATH;
  return (
    posix.basename(folder) === name || tree.some((path) => path.startsWith(posix.join(folder, name, "/")))
  );
}

/** A reader whose files have paths relative to the working directory, as those of the working tree do. */
interface ShownReader {
  readonly source: ReadSource;
  /** Returns the shown path of a path in the repository. */
  readonly shown: (path: string) => string;
}

function shownReader(read: ReadSource, root: string, folder: string): ShownReader {
  // The way back from above the repository leads through the names of its folders.
  const cwd = join(root, folder);
  const withSlashes = (path: string): string => path.split(sep).join("/");
  const shown = (path: string): string => withSlashes(relative(cwd, join(root, path)));
  const inRepository = (path: string): string => withSlashes(relative(root, join(cwd, path)));
  return {
    shown,
    source: async (path, from): Promise<ReadResult> => {
      const result = await (from === null ? read(inRepository(path), null) : read(path, inRepository(from)));
      return result.ok ? { ...result, file: shown(result.file) } : result;
    },
  };
}

/** Returns the named files that declare no merchant and that stand for the files that include them. */
function sharedAmong(files: readonly string[], { sources, merchants }: LoadedMerchants): readonly string[] {
  const declaring = new Set(merchants.flatMap(({ file, state }) => (state === null ? [] : file)));
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return files.filter(
    (file) => !declaring.has(file) && !/^["']?merchant["']?\s*:/m.test(texts.get(file) ?? ""),
  );
}

function pick(
  states: readonly DesiredState[],
  merchants: readonly string[],
  { diagnostics }: Pick<LoadedMerchants, "diagnostics">,
): readonly DesiredState[] {
  const sorted = [...states].sort(by(({ merchant }) => merchant));
  const codes = sorted.map(({ merchant }) => merchant);
  const missing = merchants.filter((merchant) => !codes.includes(merchant));
  if (missing.length > 0 && diagnostics.length === 0) {
    const near = missing.flatMap((merchant) => suggest(merchant, codes) ?? []);
    throw new RolecallError(
      "usage",
      `No file declared merchant ${missing.map(oneLine).join(", ")} at that time.`,
      {
        ...(near.length > 0 && { hint: `Did you mean ${near.join(", ")}?` }),
      },
    );
  }
  return merchants.length === 0 ? sorted : sorted.filter(({ merchant }) => merchants.includes(merchant));
}
