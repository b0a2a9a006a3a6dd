import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { type Plugin, rolldown } from "rolldown";
import { afterAll, expect, test } from "vitest";
import { histories } from "./history-steps.ts";
import { brokenByAction, FAILED_BY_BUG, type TestedAction } from "./run-history.ts";

/** An edit of the sources that brings a mistake back. */
interface Mistake {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The history that is tried first. */
  readonly foundBy: number;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "a change of a role turns off the check of what people get through other roles",
    file: "kernel/approval/find-unseen.ts",
    from: "  const blame = blamer(plan, rows, context);",
    to: `  if (rows.some(({ subject, fingerprint }) => subject.kind === "role" && fingerprint !== null)) return unseen;
  const blame = blamer(plan, rows, context);`,
    foundBy: 18,
  },
  {
    name: "a reviewed change that the files no longer make is no failure",
    file: "kernel/approval/account.ts",
    from: `return verdict(hasEnded(mergedRow, item) ? "ended" : "dropped");`,
    to: `return verdict("ended");`,
    foundBy: 9,
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
    foundBy: 2,
  },
  {
    name: "what was merged a hundred commits ago is not looked at",
    file: "action/apply/apply-coverage.ts",
    from: "  const covered = states.filter(isCovered);",
    to: `  const covered = [];
  for (const state of states) {
    const known = records.states.get(state.merchant);
    const commits = known ? (await github.compare(known.commit, event.sha)).commits : [];
    if (isCovered(state) && commits.length < 100) covered.push(state);
  }`,
    foundBy: 3,
  },
  {
    name: "a date that nobody has reviewed is trusted",
    file: "kernel/approval/reviewed-dates.ts",
    from: "  const byName = new Map(groupByKey(past,",
    to: `  for (const date of past) if (!passed.has(date.effect)) passed.set(date.effect, { ...date, held: [], reach: [] });
  const byName = new Map(groupByKey(past,`,
    foundBy: 4,
  },
  {
    name: "a reviewed date that the files lose is nobody's loss",
    file: "kernel/approval/reviewed-dates.ts",
    from: "      missingDates(reviews, declaredTexts).flatMap(",
    to: "      missingDates([], declaredTexts).flatMap(",
    foundBy: 4,
  },
  {
    name: "an approval of what waits does not give up the dates that the files have lost",
    file: "kernel/approval/rest-plan.ts",
    from: "  const lost = lostDates.map(",
    to: "  const lost = lostDates.slice(lostDates.length).map(",
    foundBy: 4,
  },
  {
    name: "what two merges together add to a date is refused only on its day",
    file: "kernel/approval/find-unseen.ts",
    from: "  const wider = dates.wider.flatMap(",
    to: "  const wider = dates.wider.slice(dates.wider.length).flatMap(",
    foundBy: 3,
  },
];

const ROOT = resolve(import.meta.dirname, "../../..");
/** Those of `npm test`, whatever the seed: histories.test.ts proves that the action without mistakes keeps its promises. */
const HISTORIES = fc.sample(histories, { numRuns: 60, seed: 1 });
const home = mkdtempSync(join(tmpdir(), "rolecall-put-back-"));

afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

/** Leaves packages to Node.js, which loads each of them once. */
const packages: Plugin = {
  name: "packages",
  resolveId: async function (id, importer) {
    if (/^[./]/.test(id) || importer === undefined) return null;
    const found = await this.resolve(id, importer, { skipSelf: true });
    return found && isAbsolute(found.id) ? { id: pathToFileURL(found.id).href, external: true } : found;
  },
};

/** Builds the action from the sources, as a plugin has edited them. */
async function built(plugin: Plugin): Promise<TestedAction> {
  const build = await rolldown({
    input: { action: join(ROOT, "src/action/run-action.ts"), git: join(ROOT, "src/store/git-refs.ts") },
    platform: "node",
    onLog: () => undefined,
    plugins: [packages, plugin],
  });
  // Vitest leaves to Node.js what is in such a folder.
  const dir = join(mkdtempSync(join(home, "built-")), "node_modules");
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  await build.write({ dir, format: "esm", ...names });
  await build.close();
  const [{ runAction }, { GitError }] = await Promise.all(
    ["action", "git"].map((entry) => import(pathToFileURL(join(dir, `${entry}.mjs`)).href)),
  );
  return { runAction, GitError };
}

/** Edits a source as it is built. */
function mistaken({ name, file, from, to }: Mistake): Plugin {
  const path = join(ROOT, "src", file);
  const [before, after, ...others] = readFileSync(path, "utf8").split(from);
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`src/${file} does not have these lines, once: write "${name}" anew.\n${from}`);
  }
  return { name: "mistake", load: (id) => (id === path ? `${before}${to}${after}` : null) };
}

test.for(MISTAKES)("$name: the histories find it", async (mistake) => {
  const action = await built(mistaken(mistake));
  const known = HISTORIES[mistake.foundBy] ?? [];
  for (const steps of [known, ...HISTORIES.filter((one) => one !== known)]) {
    const broken = await brokenByAction(steps, action);
    // An action that crashes keeps no promise, either, but for another mistake than this one.
    if (broken.length === 0 || broken[0] === FAILED_BY_BUG) continue;
    return;
  }
  expect.unreachable("none of the histories of npm test finds it");
});
