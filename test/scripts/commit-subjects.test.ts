import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const SCRIPT = resolve(import.meta.dirname, "../../scripts/commit-subjects.mjs");

const SUBJECTS = [
  "Adds the script that checks the commits after this one.",
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
  git("init", "-q");
  cpSync(SCRIPT, join(folder, "scripts/commit-subjects.mjs"));
  git("add", ".");
  for (const subject of SUBJECTS) git("commit", "-q", "--allow-empty", "-m", subject);
  git("clone", "-q", "--depth", "2", `file://${folder}`, "shallow");
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function check(cwd: string, ...args: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { cwd, encoding: "utf8" });
  return { status, lines: stderr.split("\n").map((line) => line.replace(/^[0-9a-f]+ /, "")) };
}

test("a subject is an area, a verb and at most 72 characters", () => {
  expect(check(folder)).toEqual({
    status: 1,
    lines: [
      `${SUBJECTS[6]}: it has 73 characters instead of at most 72`,
      'plan: name the rule.: it is not "area: verb …"',
      'plan: Name the rule: it is not "area: verb …"',
      'Name the rule of a refusal: it is not "area: verb …"',
      "",
    ],
  });
});

test("commits up to the one that is named are not checked", () => {
  expect(check(folder, "HEAD")).toEqual({ status: 0, lines: [""] });
  expect(check(folder, "HEAD~2").lines).toHaveLength(3);
});

test("a clone without the history checks what it has", () => {
  expect(check(join(folder, "shallow")).lines).toEqual([expect.stringContaining("73 characters"), ""]);
});
