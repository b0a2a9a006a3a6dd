import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { rolldown } from "rolldown";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { runAction } from "../../../src/action/run-action.ts";
import { histories } from "./history-steps.ts";
import { brokenByAction } from "./run-history.ts";

/** An edit of the sources that brings a mistake back. */
interface Mistake {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "a change of a role turns off the check of what people get through other roles",
    file: "kernel/approval/find-unseen.ts",
    from: "  const blame = blamer(plan, rows, context);",
    to: `  if (rows.some(({ subject, fingerprint }) => subject.kind === "role" && fingerprint !== null)) return unseen;
  const blame = blamer(plan, rows, context);`,
  },
  {
    name: "a reviewed change that the files no longer make is no failure",
    file: "kernel/approval/account.ts",
    from: `return verdict(hasEnded(mergedRow, item) ? "ended" : "dropped");`,
    to: `return verdict("ended");`,
  },
  {
    name: "an apply takes dates for enforced at merchants that it does not look at",
    file: "review/record-apply.ts",
    from: "    // A merchant that no file declares any more starts",
    to: `    for (const [merchant, now] of current) {
      if (!now || edits.has(merchant)) continue;
      const open = now.open.map((one) => {
        const dates = one.state.dates.filter(({ at }) => at > end.plannedAt);
        return { ...one, state: { ...one.state, dates } };
      });
      edits.set(merchant, { ...now, at: end.plannedAt, open });
    }
    // A merchant that no file declares any more starts`,
  },
  {
    name: "what was merged a hundred commits ago is not looked at",
    file: "action/review/apply-coverage.ts",
    from: "  const covered = states.filter(isCovered);",
    to: `  const covered = [];
  for (const state of states) {
    const known = records.states.get(state.merchant);
    const commits = known ? (await github.compare(known.commit, event.sha)).commits : [];
    if (isCovered(state) && commits.length < 100) covered.push(state);
  }`,
  },
  {
    name: "a date that nobody has reviewed is trusted",
    file: "kernel/approval/passed-dates.ts",
    from: "return dates.length > 0 && dates.every(({ text }) => seen.has(text));",
    to: "return dates.length > 0;",
  },
];

const ROOT = resolve(import.meta.dirname, "../../..");
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rolecall-put-back-"));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

/** Builds the action from a copy of the sources with a mistake. */
async function actionWith({ file, from, to }: Mistake): Promise<typeof runAction> {
  cpSync(join(ROOT, "src"), join(home, "src"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  const path = join(home, "src", file);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  const build = await rolldown({
    input: join(home, "src/action/run-action.ts"),
    platform: "node",
    external: ["react-devtools-core"],
    onLog: () => undefined,
  });
  // Vitest leaves to Node.js what is in such a folder.
  const dist = join(home, "dist/node_modules");
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  await build.write({ dir: dist, format: "esm", ...names });
  await build.close();
  return (await import(pathToFileURL(join(dist, "run-action.mjs")).href)).runAction;
}

test.for(MISTAKES)("$name: the histories find it", async (mistake) => {
  const action = await actionWith(mistake);
  const found = await fc.check(
    fc.asyncProperty(histories, async (steps) => (await brokenByAction(steps, action)).length === 0),
    { numRuns: 60, endOnFailure: true },
  );
  expect(found.failed).toBe(true);
});
