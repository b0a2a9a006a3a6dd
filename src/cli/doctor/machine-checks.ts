import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Io, OLDEST_NODE, VERSION } from "../../app/io/io.ts";
import { type DeclaredMerchant, declaredMerchants } from "../../app/project/declared-merchants.ts";
import { ifAnyFiles } from "../../app/project/find-files.ts";
import { projectRoot } from "../../app/project/project-root.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { HealthCheck } from "../../model/reports.ts";

/** The project's files, as far as they can be read. */
export interface CheckedFiles {
  readonly merchants: readonly DeclaredMerchant[];
  /** Number of errors in the files, and the file of the first. */
  readonly errors: { readonly count: number; readonly first: string } | null;
  /** Why there are no files; `null` if there are some. */
  readonly failure: RolecallError | null;
}

/** Reads the project's files; never throws for invalid or missing ones. */
export async function readProject(paths: readonly string[], { cwd }: Pick<Io, "cwd">): Promise<CheckedFiles> {
  try {
    const loaded = await ifAnyFiles(paths, () => declaredMerchants(paths, cwd));
    if (loaded === null) return { merchants: [], errors: null, failure: NO_FILES };
    const { merchants, problems, invalid } = loaded;
    const files = [
      ...problems.map(({ location }) => location.file),
      ...invalid.map(({ file }) => file),
    ].sort();
    const [first] = files;
    return {
      merchants,
      errors: first === undefined ? null : { count: files.length, first },
      failure: null,
    };
  } catch (error) {
    return { merchants: [], errors: null, failure: rolecallErrorOf(error) };
  }
}

const NO_FILES = new RolecallError("no-files", "There is no folder access/ with files.", {
  hint: "rolecall init writes files from the live state.",
});

/** The checks that need no network. */
const MACHINE_CHECKS: readonly (readonly [
  name: string,
  run: (project: CheckedFiles, io: Pick<Io, "cwd" | "nodeVersion">) => Omit<HealthCheck, "name">,
])[] = [
  ["Node.js", (_, { nodeVersion }) => checkNode(nodeVersion)],
  ["Project", (_, { cwd }) => checkRoot(cwd)],
  ["Files", checkFiles],
];

/** Checks the versions and the files. */
export function checkMachine(
  project: CheckedFiles,
  io: Pick<Io, "cwd" | "nodeVersion">,
): readonly HealthCheck[] {
  return MACHINE_CHECKS.map(([name, run]) => ({ name, ...run(project, io) }));
}

function checkNode(version: string): Omit<HealthCheck, "name"> {
  const [major = 0, minor = 0] = numbersOf(version);
  const [oldestMajor = 0, oldestMinor = 0] = numbersOf(OLDEST_NODE);
  const isEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isEnough) return { status: "ok", detail: `${version}, with rolecall ${VERSION}` };
  return {
    status: "failed",
    detail: `${version}; rolecall ${VERSION} needs ${OLDEST_NODE} or newer`,
    next: `Install Node.js ${OLDEST_NODE} or newer.`,
  };
}

function numbersOf(version: string): readonly number[] {
  return version.replace(/^v/, "").split(".").map(Number);
}

function checkRoot(cwd: string): Omit<HealthCheck, "name"> {
  const root = projectRoot(cwd, cwd);
  if (existsSync(join(root, ".git"))) return { status: "ok", detail: `${root}, a git repository` };
  return {
    status: "unknown",
    detail: `${root}, not a git repository: drift cannot tell which side changed last`,
  };
}

function checkFiles({ merchants, errors, failure }: CheckedFiles): Omit<HealthCheck, "name"> {
  if (failure !== null) {
    return {
      status: "failed",
      detail: failure.message,
      ...(failure.hint !== undefined && { next: failure.hint }),
    };
  }
  const count = counted(merchants.length, "merchant");
  if (errors === null) return { status: "ok", detail: `${count}; rolecall validate checks their content` };
  return {
    status: "failed",
    detail: `${count}, ${counted(errors.count, "error")}, the first in ${errors.first}`,
    next: "rolecall validate shows every error in the files.",
  };
}
