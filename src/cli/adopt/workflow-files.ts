import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ForgeRepository, parseRemote } from "../../app/project/git-remote.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";
import type { FilePatch } from "../../show/text/patch-text.ts";
import { packagePath } from "../io/package-folder.ts";

const WORKFLOWS = ["rolecall-plan.yml", "rolecall-apply.yml", "rolecall-nightly.yml"];

/** The folder of the repository that has a copy of the action. */
const ACTION_FOLDER = ".github/actions/rolecall";

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

/** Returns the release that this package is; `null` if it names no repository, or was not built from a release's tag. */
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
  /** The default branch of the repository. */
  readonly branch: string;
}

/** Returns the workflows and the project's file that do not exist yet, and without a release the files of the action to create or update. */
export function workflowFiles(
  place: WritingPlace,
  { release, branch }: WorkflowOptions,
): readonly FilePatch[] {
  const { root, cwd } = place;
  const reference = release === null ? `./${ACTION_FOLDER}` : referenceTo(release);
  const pushed = /^[a-z][\w./-]*$/i.test(branch) ? branch : JSON.stringify(branch);
  const workflows = WORKFLOWS.map((name) => {
    const text = readFileSync(packagePath(`examples/github/${name}`), "utf8");
    return {
      file: join(root, ".github/workflows", name),
      before: null,
      after: text
        .replaceAll(`uses: ./${ACTION_FOLDER}`, () => `uses: ${reference}`)
        .replace("branches: [main]", () => `branches: [${pushed}]`),
    };
  });
  const settings = readFileSync(packagePath(`examples/github/${PROJECT_FILE}`), "utf8");
  const created = [...workflows, { file: join(root, PROJECT_FILE), before: null, after: settings }];
  return [
    ...created.filter(({ file }) => !existsSync(resolve(cwd, file))),
    ...(release === null ? vendoredAction(place) : []),
  ];
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

const SETTINGS: readonly RepositorySetting[] = [
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
    text: "the environments production, unreviewed-access (with required reviewers) and nightly (without), only for the default branch, and in each the secret ROLECALL_WRITE_KEY (a key that can write)",
    page: "environments",
    menu: "Environments",
  },
  {
    text: "a rule for the default branch, without bypass: a pull request with an approving review from code owners, dismissed by new commits, and the status rolecall plan, with branches up to date",
    page: "rules",
    menu: "Rules → Rulesets",
  },
];

/** Lists the settings of the repository that the workflows need, each with a link to its page. */
export function settingsToConfigure(
  repository: ForgeRepository | null,
  { hasOwners }: { readonly hasOwners: boolean },
): readonly { readonly text: string; readonly link: string }[] {
  const base = repository && `https://${repository.host}/${repository.owner}/${repository.name}/settings`;
  return [
    ...SETTINGS.map(({ text, page, menu }) => ({
      text,
      link: base ? `${base}/${page}` : `Settings → ${menu}`,
    })),
    ...(hasOwners
      ? []
      : [{ text: "code owners of the files", link: "rolecall init --workflows --codeowners @org/team" }]),
  ];
}
