import { execFileSync } from "node:child_process";

/**
 * Checks that the subjects of commits are `area: verb …` of at most 72 characters, where commas divide several areas:
 * of those after the commit that is named, or else after the one that added this script. A shallow clone checks the
 * commits that it has, and merges are left out.
 *
 *     node scripts/commit-subjects.mjs [BASE]
 */
const FORM = /^[a-z0-9][\w./-]*(?:, [\w./-]+)*: [a-z](?:.*[^.\s])?$/;
const LONGEST = 72;

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();

const base =
  process.argv[2] ?? git("log", "--diff-filter=A", "--format=%H", "-1", "--", "scripts/commit-subjects.mjs");
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
