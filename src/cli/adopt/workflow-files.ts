import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ForgeRepository, isOtherForge, parseRemote } from "../../app/project/git-remote.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import { oneLine } from "../../lib/escape.ts";
import { listText, quoted } from "../../lib/text.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { parseWorkflow } from "../github/workflow-file.ts";
import { packagePath } from "../io/package-folder.ts";

/** The workflows, with the commands that they run. */
const WORKFLOWS = {
  "rolecall-plan.yml": ["plan"],
  "rolecall-apply.yml": ["apply"],
  "rolecall-nightly.yml": ["due", "drift"],
};

/** The folder of the repository that has a copy of the action. */
const ACTION_FOLDER = ".github/actions/rolecall";

/** How a workflow names the copy. */
const COPY = `./${ACTION_FOLDER}`;

/** The files of the action, in the package and below its folder. */
const ACTION_FILES = ["action.yml", "dist/action.mjs", "dist/action.licenses.txt"];

/** The folder in which files are written. */
export interface WritingPlace {
  /** The project's folder, relative to `cwd`. */
  readonly root: string;
  readonly cwd: string;
}

/** The published version of the action that a workflow can refer to. */
export interface ActionRelease {
  readonly repository: Pick<ForgeRepository, "owner" | "name">;
  readonly version: string;
  readonly commit: string;
}

/**
 * Returns the release that this package comes from; `null` if it names no repository, or was not built from a release's
 * tag.
 */
export function ownRelease(manifestPath = packagePath("package.json")): ActionRelease | null {
  const { repository, version } = JSON.parse(readFileSync(manifestPath, "utf8"));
  const address = typeof repository === "string" ? repository : repository?.url;
  const named = typeof address === "string" ? parseRemote(address.replace(/^github:/, "github.com/")) : null;
  const built = join(dirname(manifestPath), "dist/release.json");
  if (named === null || !existsSync(built)) return null;
  const { commit } = JSON.parse(readFileSync(built, "utf8"));
  return { repository: named, version, commit };
}

/** The values in workflows that differ from those of the examples. */
export interface WorkflowOptions {
  /** The release that they refer to; `null` for a copy of the action. */
  readonly release: ActionRelease | null;
  /** Whether the copy is written even if no workflow uses it. */
  readonly vendor: boolean;
  /** The default branch of the repository. */
  readonly branch: string;
}

/** Returns the workflows and the project's file that do not exist yet, and the files of the action to create or update. */
export async function workflowFiles(
  place: WritingPlace,
  { release, vendor, branch }: WorkflowOptions,
): Promise<readonly FilePatch[]> {
  const { root, cwd } = place;
  const reference = release === null ? COPY : referenceTo(release);
  const pushed = /^[a-z][\w./-]*$/i.test(branch) ? branch : JSON.stringify(branch);
  const workflows = Object.keys(WORKFLOWS).map((name) => {
    const text = readFileSync(packagePath(`examples/github/${name}`), "utf8");
    return {
      file: workflowPath(root, name),
      before: null,
      after: text
        .replaceAll(`uses: ${COPY}`, () => `uses: ${reference}`)
        .replace("branches: [main]", () => `branches: [${pushed}]`),
    };
  });
  const settings = readFileSync(packagePath(`examples/github/${PROJECT_FILE}`), "utf8");
  const created = [...workflows, { file: join(root, PROJECT_FILE), before: null, after: settings }].filter(
    ({ file }) => !existsSync(resolve(cwd, file)),
  );
  const kept = (await keptWorkflows(place)).flatMap(({ uses }) => uses);
  const usesCopy =
    (release === null && created.some(({ file }) => file.endsWith(".yml"))) ||
    kept.some((use) => use.reference === COPY);
  return [...created, ...(vendor || usesCopy ? vendoredAction(place) : [])];
}

function workflowPath(root: string, name: string): string {
  return join(root, ".github/workflows", name);
}

/** Reads the workflows that a folder has, with the commands that each should run. */
async function keptWorkflows({ root, cwd }: WritingPlace) {
  const names = Object.entries(WORKFLOWS).map(([name, commands]) => ({
    file: workflowPath(root, name),
    commands,
  }));
  return Promise.all(
    names
      .filter(({ file }) => existsSync(resolve(cwd, file)))
      .map(async ({ file, commands }) => {
        const { uses } = await parseWorkflow(readFileSync(resolve(cwd, file), "utf8"));
        return { file, commands, uses };
      }),
  );
}

/** Says which workflows do not do what they are for, or with `vendor` do not use the copy of the action. */
export async function workflowNotes(place: WritingPlace, vendor: boolean): Promise<readonly string[]> {
  return (await keptWorkflows(place)).flatMap(({ file, commands, uses }) => {
    const shown = oneLine(file);
    const lacking = commands.filter((wanted) => !uses.some(({ command }) => command === wanted));
    if (lacking.length > 0) {
      const what = listText(lacking.map(quoted), "or");
      return `${shown} does not run ${what} with the action, and was left unchanged. Move it away, and run init --workflows again.`;
    }
    const other = vendor ? uses.find(({ reference }) => reference !== COPY) : undefined;
    return other === undefined
      ? []
      : `${shown} does not use the copy of the action. To use it, replace "${oneLine(other.reference)}" with "${COPY}".`;
  });
}

/** Returns how a workflow names a release: by its commit, with its version as a comment. */
function referenceTo({ repository: { owner, name }, commit, version }: ActionRelease): string {
  return `${owner}/${name}@${commit} # v${version}`;
}

/** Returns the files of the action, with their checksums, that a repository lacks or has another version of. */
function vendoredAction({ root, cwd }: WritingPlace): readonly FilePatch[] {
  const files = ACTION_FILES.map((file) => ({ file, text: readFileSync(packagePath(file), "utf8") }));
  const sums = files.map(({ file, text }) => `${createHash("sha256").update(text).digest("hex")}  ${file}\n`);
  const others = [
    { file: "SHA256SUMS", text: sums.join("") },
    // Many repositories ignore folders of this name.
    { file: ".gitignore", text: "!dist/\n" },
  ];
  return [...files, ...others].flatMap(({ file, text }) => {
    const path = join(root, ACTION_FOLDER, file);
    const before = existsSync(resolve(cwd, path)) ? readFileSync(resolve(cwd, path), "utf8") : null;
    return before === text ? [] : [{ file: path, before, after: text }];
  });
}

/** A setting of the repository that the workflows need. */
interface RepositorySetting {
  readonly text: string;
  /** The page of the repository's settings, and the way to it. */
  readonly page: string;
  readonly menu: string;
}

function settingsOf(branch: string): readonly RepositorySetting[] {
  return [
    {
      text: "the variable ROLECALL_BASE_URL: the service's URL",
      page: "variables/actions",
      menu: "Secrets and variables → Actions → Variables",
    },
    {
      text: "the secrets ROLECALL_READ_KEY (a read-only key) and ROLECALL_APPROVAL_SECRET (openssl rand -hex 32)",
      page: "secrets/actions",
      menu: "Secrets and variables → Actions",
    },
    {
      text: `the environments production, unreviewed-access (with required reviewers) and nightly (without), only for the branch ${branch}, and in each the secret ROLECALL_WRITE_KEY (a key that can write)`,
      page: "environments",
      menu: "Environments",
    },
    {
      text: `a rule for the default branch, ${branch}, without bypass: a pull request with an approving review from code owners, dismissed by new commits, and the status rolecall plan, with branches up to date`,
      page: "rules",
      menu: "Rules → Rulesets",
    },
  ];
}

/** Lists the settings of the repository that the workflows need, each with the link or the way to its page. */
export function settingsToConfigure(
  repository: ForgeRepository | null,
  branch: string,
): readonly { readonly text: string; readonly lines: readonly string[] }[] {
  const base =
    repository &&
    !isOtherForge(repository.host) &&
    `https://${repository.host}/${repository.owner}/${repository.name}/settings`;
  return settingsOf(branch).map(({ text, page, menu }) => ({
    text,
    lines: [base ? `${base}/${page}` : `Settings → ${menu}`],
  }));
}
