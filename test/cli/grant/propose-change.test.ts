import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { StopSignal } from "../../../src/app/io/io.ts";
import { type FakeGithub, startGithub } from "../../action/support/fake-github.ts";
import { NOW } from "../../support/build.ts";
import { type Ended, type RunOptions, rolecall } from "../../support/rolecall.ts";

const SHOP = `version: 1
merchant: MC1
roles: [{ name: Cashier, permissions: [sales_view] }]
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: cy@example.com, roles: [Cashier] }
`;

let folder = "";
let work = "";
let github: FakeGithub;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-propose-"));
  work = join(folder, "work");
  github = await startGithub(() => undefined);
  git(folder, "init", "--quiet", "--bare", "--initial-branch", "main", "remote.git");
  git(folder, "clone", "--quiet", "remote.git", "work");
  git(work, "config", "user.name", "Ada");
  git(work, "config", "user.email", "ada@example.com");
  git(work, "checkout", "--quiet", "-b", "main");
  await put("access/mc1.yaml", SHOP);
  commit("The files");
  git(work, "push", "--quiet", "origin", "main");
});

afterEach(async () => {
  await github.stop();
  await rm(folder, { recursive: true });
});

test("opens a pull request from the default branch, and touches nothing of the user's", async () => {
  git(work, "checkout", "--quiet", "-b", "mine");
  await put("access/mc1.yaml", SHOP.replace("cy@", "dan@"));
  git(work, "add", "--all");
  await put("access/mc1.yaml", `${SHOP}# not added\n`);
  await put("notes.txt", "mine");
  const before = stateOfWork();
  const asked = ["grant", "bo@example.com", "Cashier", "-m", "MC1", "--until", "+7d"];
  const { code, stdout } = await propose(...asked, "--reason", "Stands in <b>@acme/all</b> | `x`");
  expect(code).toBe(0);
  expect(stdout).toContain("+  - { email: bo@example.com, roles: [{ role: Cashier, until: 2026-06-22 }] }\n");
  expect(stdout).toMatch(/\nOpened https:\/\/\S+\/\d+\n$/);
  expect(stateOfWork()).toBe(before);
  const [pull] = github.pulls;
  expect(pull).toMatchObject({ base: "main", title: "Grant bo@example.com Cashier at MC1" });
  expect(pull?.body).toContain(
    "<code>Stands in &#60;b&#62;&#64;acme&#47;all&#60;&#47;b&#62; &#124; &#96;x&#96;</code>",
  );
  expect(pull?.body).not.toMatch(/@|<b>/);
  const branch = pull?.branch ?? "";
  expect(branch).toMatch(/^rolecall\/grant-bo-example-com-[0-9a-f]{10}$/);
  expect(git(remote(), "rev-parse", `${branch}~1`)).toBe(git(remote(), "rev-parse", "main"));
  expect(git(remote(), "show", `${branch}:access/mc1.yaml`)).toBe(
    SHOP.replace(
      "  - { email: cy@",
      "  # Stands in <b>@acme/all</b> | `x`\n  - { email: bo@example.com, roles: [{ role: Cashier, until: 2026-06-22 }] }\n$&",
    ),
  );
});

test("reuses the open pull request of the same request, and replaces its dates", async () => {
  const asked = ["grant", "bo@example.com", "Cashier", "-m", "MC1"];
  await propose(...asked, "--until", "+7d");
  const branch = github.pulls[0]?.branch ?? "";
  const again = await propose(...asked, "--until", "+7d");
  expect(again.stdout).toContain("The pull request has this change already: https://");
  const later = await propose(...asked, "--until", "+14d");
  expect(later.stdout).toContain("\nUpdated https://");
  expect(github.pulls.length).toBe(1);
  expect(github.pulls[0]?.body).toContain("2026&#45;06&#45;29");
  expect(git(remote(), "show", `${branch}:access/mc1.yaml`)).toContain("until: 2026-06-29");
  expect(git(remote(), "rev-list", "--count", `main..${branch}`).trim()).toBe("1");
  await propose("grant", "bo@example.com", "role_employee", "-m", "MC1");
  expect(github.pulls.length).toBe(2);
});

test("does not overwrite what others have added to the branch", async () => {
  const asked = ["revoke", "cy@example.com", "-m", "MC1"];
  await propose(...asked);
  const branch = github.pulls[0]?.branch ?? "";
  git(work, "fetch", "--quiet", "origin", branch);
  git(work, "checkout", "--quiet", "FETCH_HEAD");
  await put("access/mc1.yaml", `${SHOP}# more\n`);
  commit("More");
  git(work, "push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
  const tip = git(remote(), "rev-parse", branch);
  const { code, stderr } = await propose(...asked);
  expect({ code, tip: git(remote(), "rev-parse", branch) }).toEqual({ code: 1, tip });
  expect(stderr).toContain(`error: The branch ${branch} has commits by others.\n`);
});

test("leaves nothing behind if the pull request cannot be opened, and says what to do", async () => {
  github.refusals.push({
    method: "POST",
    path: /pulls$/,
    status: 403,
    message: "Resource not\n::error::accessible",
    times: 1,
  });
  const before = stateOfWork();
  const { code, stderr } = await propose("revoke", "cy@example.com", "-m", "MC1");
  expect(code).toBe(1);
  expect(stderr).toContain("error: GitHub: Resource not\\n::error::accessible (403).\n");
  expect(stderr.replaceAll(/\s+/g, " ")).toContain("may write contents and pull requests");
  expect(stderr).not.toContain(github.token);
  expect(git(remote(), "branch", "--format=%(refname:short)")).toBe("main\n");
  expect(stateOfWork()).toBe(before);
});

test("Ctrl-C removes the branch that is being pushed, and a second one says that it may be left", async () => {
  const stop = (...signals: readonly StopSignal[]): RunOptions["io"] => ({
    onStopSignal: (listener) => {
      for (const signal of signals) listener(signal);
      return () => undefined;
    },
    exit: () => {
      throw new Error("ended");
    },
  });
  const asked = ["revoke", "cy@example.com", "-m", "MC1", "--pr", "--yes", "--declared"];
  const once = await run(asked, stop("SIGINT"));
  expect(once.code).toBe(1);
  expect(once.stderr).toContain("SIGINT: finishing, so that no branch is left behind.");
  expect(once.stderr).toContain("error: Interrupted: no pull request was opened or updated.\n");
  expect(git(remote(), "branch", "--format=%(refname:short)")).toBe("main\n");
  expect(github.pulls).toEqual([]);
  const twice = await run(asked, stop("SIGHUP", "SIGHUP", "SIGTERM"));
  expect(twice.stderr.match(/may be left at the remote/g)?.length).toBe(1);
});

test("a branch that cannot be removed is named, and used again", async () => {
  git(remote(), "config", "receive.denyDeletes", "true");
  github.refusals.push({ method: "POST", path: /pulls$/, status: 422, message: "Not now", times: 1 });
  const failed = await propose("revoke", "cy@example.com", "-m", "MC1");
  expect(failed.stderr).toMatch(/The branch rolecall\/revoke-cy-example-com-\w+ may be left at the remote\./);
  expect(failed.stderr).toContain("Not now");
  expect((await propose("revoke", "cy@example.com", "-m", "MC1")).code).toBe(0);
  expect(git(remote(), "branch", "--format=%(refname:short)").trim().split("\n").length).toBe(2);
});

test("a change that is not confirmed, not needed or not possible leaves no branch", async () => {
  const before = stateOfWork();
  // Git cannot add worktrees of one repository at the same time.
  const ends = [
    await run(["grant", "bo@example.com", "Cashier", "-m", "MC1", "--pr", "--declared"]),
    await propose("grant", "cy@example.com", "Cashier", "-m", "MC1"),
    await propose("grant", "cy@example.com", "Cachier", "-m", "MC1"),
    await propose("revoke", "cy@example.com", "-m", "MC1", "--check"),
  ];
  expect(ends.map(({ code }) => code)).toEqual([1, 0, 1, 2]);
  expect(ends[0]?.stderr).toContain("there is no terminal to ask on");
  expect(git(remote(), "branch", "--format=%(refname:short)")).toBe("main\n");
  expect(stateOfWork()).toBe(before);
});

test("what may be requested is read from the default branch", async () => {
  await put("rolecall.yaml", "version: 1\nrequestable:\n  - { roles: [Cashier], for: 7d }\n");
  commit("Rules");
  git(work, "push", "--quiet", "origin", "main");
  await put("rolecall.yaml", "version: 1\n");
  commit("No rules");
  const refused = await propose("grant", "bo@example.com", "Cashier", "-m", "MC1");
  expect(refused.code).toBe(3);
  expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(
    "error: Cashier at MC1 can be requested for at most 7d (rolecall.yaml:3), and the grant would have no end.",
  );
  expect(github.pulls).toEqual([]);
  expect((await propose("grant", "bo@example.com", "Cashier", "-m", "MC1", "--until", "+7d")).code).toBe(0);
});

test("the token is that of gh if the environment has none; without gh, says what is missing", async () => {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await writeFile(
    join(bin, "gh"),
    `#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo '${github.token}'\n`,
  );
  await chmod(join(bin, "gh"), 0o755);
  const asked = ["revoke", "cy@example.com", "-m", "MC1", "--pr", "--yes", "--declared"];
  const { code, stdout } = await run(asked, {}, { GH_TOKEN: "", PATH: `${bin}:${process.env["PATH"]}` });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("\nOpened https://") });
  expect(github.pulls).toMatchObject([{ title: "Revoke from cy@example.com the membership at MC1" }]);
  const gitOnly = join(folder, "git-only");
  await mkdir(gitOnly);
  const where = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  await writeFile(join(gitOnly, "git"), `#!/bin/sh\nPATH='${process.env["PATH"]}' exec '${where}' "$@"\n`);
  await chmod(join(gitOnly, "git"), 0o755);
  const without = await run(asked, {}, { GH_TOKEN: "", PATH: gitOnly });
  expect(without.stderr).toContain("error: There is no token for github.com.\n");
  expect(without.stderr.replaceAll(/\s+/g, " ")).toContain("may write contents and pull requests");
});

/** Everything of the clone that the user may see. */
function stateOfWork(): string {
  const commands = [
    ["status", "--porcelain"],
    ["branch", "--all", "--verbose", "--verbose"],
    ["diff", "--cached"],
    ["worktree", "list"],
    ["stash", "list"],
  ];
  return commands.map((args) => git(work, ...args)).join("\n");
}

function propose(...args: readonly string[]): Promise<Ended> {
  return run([...args, "--pr", "--yes", "--declared"]);
}

function run(
  args: readonly string[],
  io: RunOptions["io"] = {},
  others: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  // As GitHub knows what was pushed.
  github.incidents.push({
    method: "POST",
    path: /pulls$/,
    happens: () => {
      for (const line of git(remote(), "for-each-ref", "--format=%(refname:short) %(objectname)").split(
        "\n",
      )) {
        const [branch = "", sha = ""] = line.split(" ");
        github.branches.set(branch, sha);
      }
    },
  });
  const env = { GITHUB_REPOSITORY: "acme/access", GITHUB_API_URL: github.url, GH_TOKEN: github.token };
  return rolecall(args, { cwd: work, env: { ...env, ...others }, now: () => NOW, io });
}

const remote = (): string => join(folder, "remote.git");

function commit(message: string): void {
  git(work, "add", "--all");
  git(work, "commit", "--quiet", "--message", message);
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(join(work, file, ".."), { recursive: true });
  await writeFile(join(work, file), text);
}

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
