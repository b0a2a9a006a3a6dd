import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultBranch, parseRemote } from "../../../src/app/project/git-remote.ts";
import { ownRelease, workflowFiles } from "../../../src/cli/adopt/workflow-files.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-workflows-"));
});

afterEach(() => rm(folder, { recursive: true }));

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

async function releaseOf(manifest: object, isReleased = true) {
  const path = join(folder, "package.json");
  await writeFile(path, JSON.stringify({ version: "1.2.3", ...manifest }));
  await mkdir(join(folder, "dist"), { recursive: true });
  if (isReleased) await writeFile(join(folder, "dist/release.json"), JSON.stringify({ commit: COMMIT }));
  return ownRelease(path);
}

test("a package of a release refers to its action by owner, commit and version, and vendors nothing", async () => {
  const release = await releaseOf({ repository: { url: "git+https://github.example/acme/rolecall.git" } });
  const files = await workflowFiles({ root: ".", cwd: folder }, { release, vendor: false, branch: "main" });
  const workflows = files.filter(({ file }) => file.startsWith(".github/"));
  expect(files.map(({ file }) => file)).toEqual([
    ...["plan", "apply", "nightly"].map((name) => `.github/workflows/rolecall-${name}.yml`),
    "rolecall.yaml",
  ]);
  for (const { after } of workflows) {
    expect(after).toContain(`      - uses: acme/rolecall@${COMMIT} # v1.2.3\n`);
    expect(after).not.toContain("uses: ./");
  }
});

test("a package without a repository, or not built from a release's tag, has no release", async () => {
  expect(await releaseOf({})).toBeNull();
  expect((await releaseOf({ repository: "github:acme/rolecall" }))?.repository).toMatchObject({
    owner: "acme",
  });
  await rm(join(folder, "dist"), { recursive: true });
  expect(await releaseOf({ repository: "github:acme/rolecall" }, false)).toBeNull();
});

test.each([
  ["trunk", "[trunk]"],
  ["release/2", "[release/2]"],
  ["1.0", '["1.0"]'],
  ["$&", '["$&"]'],
])("the apply runs on pushes to the default branch %s", async (branch, shown) => {
  const files = await workflowFiles({ root: ".", cwd: folder }, { release: null, vendor: false, branch });
  const apply = files.find(({ file }) => file.endsWith("rolecall-apply.yml"))?.after;
  expect(apply).toContain(`    branches: ${shown} #`);
  expect(apply).not.toContain("[main]");
});

test("the default branch is that of origin, else one with a usual name, else the current one, else main", async () => {
  expect(await defaultBranch(folder)).toBe("main");
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: folder });
  git("init", "-q", "-b", "trunk");
  expect(await defaultBranch(folder)).toBe("trunk");
  git("-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "--allow-empty", "-m", "one");
  git("update-ref", "refs/remotes/origin/master", "HEAD");
  expect(await defaultBranch(folder)).toBe("master");
  git("config", "init.defaultBranch", "main");
  git("branch", "main");
  expect(await defaultBranch(folder)).toBe("main");
  git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/2");
  expect(await defaultBranch(folder)).toBe("release/2");
});

test.each([
  ["https://github.example/acme/access.git", "github.example"],
  ["https://token@github.example/acme/access", "github.example"],
  ["https://github.example:8443/acme/access/", "github.example:8443"],
  ["git@github.example:acme/access.git", "github.example"],
  ["ssh://git@github.example:22/acme/access.git", "github.example"],
  ["ssh://git@github.example:7999/acme/access.git", "github.example"],
  ["ssh://git@ssh.github.com:443/acme/access.git", "github.com"],
])("the remote %s is a repository", (address, host) => {
  expect(parseRemote(address)).toEqual({ host, owner: "acme", name: "access" });
});

test.each([["/srv/git/access.git"], ["../access"], ["https://github.example/acme"], [""]])(
  "the remote %j is none",
  (address) => {
    expect(parseRemote(address)).toBeNull();
  },
);
