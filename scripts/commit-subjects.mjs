import { execFileSync, spawnSync } from "node:child_process";

/**
 * Checks that the subjects of commits are `area: verb …` of at most 72 characters, where commas divide several areas.
 * Checks only commits that can still be reworded: those that are not in BASE, by default the default branch of the
 * remote or, without a remote, `main`. Where neither exists, checks nothing. Leaves out merges.
 *
 *     node scripts/commit-subjects.mjs [BASE]
 */
const FORM = /^[a-z0-9][\w./-]*(?:, [\w./-]+)*: [a-z](?:.*[^.\s])?$/;
const LONGEST = 72;

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();

const exists = (commit) => spawnSync("git", ["rev-parse", "-q", "--verify", commit]).status === 0;

const base = process.argv[2] ?? ["origin/HEAD", "main"].find(exists) ?? "HEAD";
const commits = git("log", "--no-merges", "--format=%h %s", `${base}..HEAD`).split("\n").filter(Boolean);

for (const commit of commits) {
  const subject = commit.slice(commit.indexOf(" ") + 1);
  const wrong = [
    ...(FORM.test(subject) ? [] : ['it is not "area: verb …"']),
    ...(subject.length > LONGEST
      ? [`it has ${subject.length} characters instead of at most ${LONGEST}`]
      : []),
  ];
  if (wrong.length === 0) continue;
  console.error(`${commit}: ${wrong.join(", and ")}`);
  process.exitCode = 1;
}
