import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const SCRIPT = resolve(import.meta.dirname, "../../scripts/commit-subjects.mjs");

const SUBJECTS = [
  "plan: name the rule of a refusal",
  "kernel/fields, rules: read, compare and send a field by its table",
  "Name the rule of a refusal",
  "plan: Name the rule",
  "plan: name the rule.",
  `plan: name ${"the rule ".repeat(7)}`.trim(),
];

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-subjects-"));
  const git = (...args: readonly string[]) => {
    const identity = [
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.com",
      "-c",
      "commit.gpgSign=false",
    ];
    execFileSync("git", [...identity, ...args], { cwd: folder });
  };
  git("init", "-q", "--initial-branch=main");
  git("commit", "-q", "--allow-empty", "-m", "Is merged, whatever it is called.");
  git("clone", "-q", ".", "clone");
  git("checkout", "-q", "-b", "proposed");
  for (const subject of SUBJECTS) git("commit", "-q", "--allow-empty", "-m", subject);
  git("-C", "clone", "pull", "-q", "--ff-only", "origin", "proposed");
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function check(cwd: string, ...args: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { cwd, encoding: "utf8" });
  return { status, lines: stderr.split("\n").map((line) => line.replace(/^[0-9a-f]+ /, "")) };
}

test.each(["", "clone"])("a subject is an area, a verb and at most 72 characters", (clone) => {
  expect(check(join(folder, clone))).toEqual({
    status: 1,
    lines: [
      `${SUBJECTS.at(-1)}: it has 73 characters instead of at most 72`,
      'plan: name the rule.: it is not "area: verb …"',
      'plan: Name the rule: it is not "area: verb …"',
      'Name the rule of a refusal: it is not "area: verb …"',
      "",
    ],
  });
});

test("commits that are merged, or up to the one that is named, are not checked", () => {
  expect(check(folder, "HEAD")).toEqual({ status: 0, lines: [""] });
  expect(check(folder, "HEAD~2").lines).toHaveLength(3);
  execFileSync("git", ["branch", "-q", "-f", "main", "proposed"], { cwd: folder });
  execFileSync("git", ["fetch", "-q"], { cwd: join(folder, "clone") });
  for (const merged of ["", "clone"]) expect(check(join(folder, merged))).toEqual({ status: 0, lines: [""] });
});

test("a checkout of one commit, without a branch, checks nothing", () => {
  execFileSync("git", ["init", "-q", "checkout"], { cwd: folder });
  execFileSync("git", ["fetch", "-q", "--depth", "1", "..", "proposed"], { cwd: join(folder, "checkout") });
  execFileSync("git", ["checkout", "-q", "FETCH_HEAD"], { cwd: join(folder, "checkout") });
  expect(check(join(folder, "checkout"))).toEqual({ status: 0, lines: [""] });
});
