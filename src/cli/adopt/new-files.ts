import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { writeAtomically } from "../../app/io/atomic-write.ts";
import type { Io } from "../../app/io/io.ts";
import { readTextFile } from "../../app/io/read-text.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { projectRoot } from "../../app/project/project-root.ts";
import { jsonSchema } from "../../kernel/saved/json-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { OWNERS_FILES } from "../github/code-owners.ts";
import { ownedPaths, unownedPaths } from "../github/owned-paths.ts";
import { type WorkflowOptions, type WritingPlace, workflowFiles } from "./workflow-files.ts";

/** The schema that the first line of each merchant's file names, relative to the project. */
export const SCHEMA_FILE = "schemas/merchant.schema.json";

/** The files of a project to write besides those of its merchants. */
export interface ProjectFilesOptions {
  /** The workflows for GitHub, with a reference to a release or a copy of the action; `null` for none. */
  readonly workflows: WorkflowOptions | null;
  /** The owner to write a file of code owners for. */
  readonly owner: string | null;
}

/** Returns the files of a project besides those of its merchants: without any that exist, but for lines of .gitignore and the action. */
export async function projectFiles(
  root: string,
  { workflows, owner }: ProjectFilesOptions,
  cwd: string,
): Promise<readonly FilePatch[]> {
  const isNew = ({ file }: FilePatch): boolean => !existsSync(resolve(cwd, file));
  const schema = {
    file: join(root, SCHEMA_FILE),
    before: null,
    after: `${JSON.stringify(jsonSchema("merchant"), null, 2)}\n`,
  };
  return [
    ...[schema].filter(isNew),
    ...ignoreLines(join(root, ".gitignore"), cwd),
    ...(workflows === null ? [] : await workflowFiles({ root, cwd }, workflows)),
    ...(owner === null ? [] : await ownersFile(root, owner, cwd)),
  ];
}

/** The journals of applies hold addresses; they stay on the machine that wrote them. */
const IGNORED = ".rolecall/";

function ignoreLines(file: string, cwd: string): readonly FilePatch[] {
  const before = existsSync(resolve(cwd, file)) ? readFileSync(resolve(cwd, file), "utf8") : null;
  if (before === null) return [{ file, before, after: `${IGNORED}\n` }];
  if (/^\/?\.rolecall\/?\s*$/m.test(before)) return [];
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const gap = before === "" || before.endsWith("\n") ? "" : lineEnd;
  return [{ file, before, after: `${before}${gap}${IGNORED}${lineEnd}` }];
}

/** Returns a file of code owners, if there is none yet. */
async function ownersFile(root: string, owner: string, cwd: string): Promise<readonly FilePatch[]> {
  if (!/^@[\w./-]+$|^[^\s@]+@[^\s@]+$/.test(owner)) {
    throw new RolecallError("usage", `"${oneLine(owner)}" is not a code owner.`, {
      hint: "Specify a team such as @org/team, a user such as @name, or an e-mail address.",
    });
  }
  if (ownersFileIn(resolve(cwd, root)) !== null) return [];
  const after = (await ownedPaths(cwd)).map((path) => `${ownersLine(path, owner)}\n`).join("");
  return [{ file: join(root, OWNERS_FILES[0]), before: null, after }];
}

function ownersFileIn(root: string): string | null {
  return OWNERS_FILES.find((file) => existsSync(join(root, file))) ?? null;
}

function ownersLine(path: string, owner: string): string {
  return `/${path.replaceAll(" ", "\\ ")} ${owner}`;
}

/** Returns what remains to be done about the code owners; `null` if every file that needs one has one. */
export async function ownersToAdd(
  { root, cwd }: WritingPlace,
  owner: string,
): Promise<{ readonly text: string; readonly lines: readonly string[] } | null> {
  const file = ownersFileIn(resolve(cwd, root));
  if (file === null) {
    return { text: "code owners of the files", lines: [`rolecall init --workflows --codeowners ${owner}`] };
  }
  const missing = unownedPaths(await readTextFile(resolve(cwd, root, file)), [
    ...(await ownedPaths(cwd)),
    file,
  ]);
  const lines = missing.map((path) => ownersLine(path, owner));
  return lines.length === 0 ? null : { text: `code owners: these lines in ${file}`, lines };
}

/** Throws RolecallError if files for GitHub are wanted in a folder where GitHub does not look for them. */
export function refuseUnusedFiles(
  { workflows, codeowners }: { readonly workflows?: true; readonly codeowners?: string },
  cwd: string,
): void {
  if ((workflows !== true && codeowners === undefined) || isRepositoryRoot(cwd)) return;
  throw new RolecallError(
    "usage",
    "Workflows and code owners only work at the root of the repository, but this project is in a subfolder.",
    {
      hint: `Run init in ${oneLine(projectRoot(cwd, cwd))}, or omit --workflows and --codeowners.`,
    },
  );
}

/** Returns whether the project is at the root of its repository, or there is no repository. */
export function isRepositoryRoot(cwd: string): boolean {
  return realpathSync.native(resolve(cwd, defaultPath(cwd), "..")) === projectRoot(cwd, cwd);
}

/** Writes the files, each whole or not at all, and names them; throws RolecallError if one has changed since it was read. */
export async function writePatches(patches: readonly FilePatch[], io: Io): Promise<void> {
  for (const patch of patches) await checkUnchanged(patch, io);
  const written: { readonly done: string; readonly file: string }[] = [];
  try {
    for (const { file, before, after } of patches) {
      const path = resolve(io.cwd, file);
      if (before === null) await makeFolder(dirname(path), file);
      // With the permissions that git would give it, since others who share the folder read it, too.
      await writeAtomically(path, after, { shown: oneLine(file), mode: 0o666 });
      written.push({ done: before === null ? "created" : "changed", file });
    }
  } finally {
    io.stdout.write(writtenText(written));
  }
}

async function checkUnchanged({ file, before }: FilePatch, { cwd }: Io): Promise<void> {
  const path = resolve(cwd, file);
  if (before === null && existsSync(path)) {
    throw new RolecallError("file-unwritable", `${oneLine(file)} already exists, and is not overwritten.`, {
      hint: "Move it away, or update a merchant's file with rolecall pull.",
    });
  }
  if (before === null || before === (await readTextFile(path).catch(() => null))) return;
  throw new RolecallError("file-unwritable", `${oneLine(file)} has changed since it was read.`, {
    hint: "Nothing was written. Run the command again.",
  });
}

/** Names the written files; for many in one folder, only their number. */
function writtenText(written: readonly { readonly done: string; readonly file: string }[]): string {
  const groups = new Map<string, string[]>();
  for (const { done, file } of written) {
    const key = `${done} ${dirname(file)}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const lines = [...groups].flatMap(([key, files]) => {
    const done = key.slice(0, key.indexOf(" "));
    return files.length > MAX_NAMED
      ? [`${done} ${counted(files.length, "file")} in ${oneLine(dirname(files[0] ?? ""))}`]
      : files.map((file) => `${done} ${oneLine(file)}`);
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** Maximum number of files in one folder that are named one by one. */
const MAX_NAMED = 10;

async function makeFolder(folder: string, file: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    const isBlocked = ["EEXIST", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    const why = isBlocked ? ": a file has this name" : "";
    throw new RolecallError("file-unwritable", `The folder of ${oneLine(file)} cannot be created${why}.`, {
      hint: isBlocked ? "Move that file away." : "Check that the project's folder is writable.",
      cause: error,
    });
  });
}
