import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { PAGES } from "../support/pages.ts";

const TESTS = resolve(import.meta.dirname, "..");

/** The rows of the tables of threats, as lists of cells. */
const rows = (PAGES.get("docs/security.md") ?? "")
  .split("\n## Threats\n")[1]
  ?.split("\n## ")[0]
  ?.split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| Threat "))
  .map((line) => line.slice(2, -2).split(" | "));

test("every threat of docs/security.md has an answer, and tests that exist by that name", () => {
  expect(rows?.length).toBeGreaterThan(30);
  const mistakes = (rows ?? []).flatMap(([threat = "", answer = "", proof = "", ...more]) => {
    const proofs = [...proof.matchAll(/(?<=^|; )`([^`]+)`: (.+?)(?=; `|$)/g)];
    const isWhole = proofs.map(([text]) => text).join("; ") === proof;
    return [
      ...(answer === "" || more.length > 0 ? [`${threat}: not three cells`] : []),
      ...(isWhole && proofs.length > 0 ? [] : [`${threat}: no tests in ${proof}`]),
      ...proofs
        .filter(([, file = "", title = ""]) => !hasTest(file, title))
        .map(([, file, title]) => `${threat}: ${file} has no test "${title}"`),
      ...proofs
        .filter(([, file = ""]) => !RUNS_ALL.test(file))
        .map(([, file]) => `${threat}: ${file} runs a part`),
    ];
  });
  expect(mistakes).toEqual([]);
});

/** The tests that run the whole program, the library, the action, the page or the sandbox, or check the workflows. */
const RUNS_ALL =
  /^(?:(?:commands|program|examples|browser|api|sandbox|action\/\w+)\/|action\/workflows\.test)/;

/** Whether a file has a test, or a group of tests, of a title. */
function hasTest(file: string, title: string): boolean {
  const path = resolve(TESTS, file);
  if (!/\.test\.tsx?$/.test(file) || !existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  const literal = JSON.stringify(title);
  return [...text.matchAll(/\b(?:test|describe)(?:\.each)?\(/g)].some(
    ({ index }) => titleAfter(text, index) === literal,
  );
}

/** Returns the string that a call of `test`, or of what `test.each` returns, begins with; null if there is none. */
function titleAfter(text: string, start: number): string | null {
  const rest = text.slice(start);
  const direct = /^\w+\(\s*("(?:[^"\\]|\\.)*")/.exec(rest);
  if (direct) return direct[1] ?? null;
  // The table of test.each comes first, with brackets of its own.
  const open = rest.indexOf("(");
  let depth = 0;
  for (let at = open; at < rest.length; at += 1) {
    const string = /^"(?:[^"\\\n]|\\.)*"|^`(?:[^`\\]|\\.)*`/.exec(rest.slice(at, at + 2000))?.[0];
    if (string) at += string.length - 1;
    else if (rest[at] === "(") depth += 1;
    else if (rest[at] === ")") depth -= 1;
    if (depth === 0) return /^\)\(\s*("(?:[^"\\]|\\.)*")/.exec(rest.slice(at, at + 400))?.[1] ?? null;
  }
  return null;
}
