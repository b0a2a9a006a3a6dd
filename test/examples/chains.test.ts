import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import picomatch from "picomatch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RotationInput, rotationsFor } from "../../src/app/apply/passwords.ts";
import { type Loaded, loadStates } from "../../src/app/project/load-states.ts";
import { globMatcher } from "../../src/app/session/session.ts";
import { buildPlan } from "../../src/kernel/plan/build-plan.ts";
import { changedMerchants } from "../../src/kernel/read/changed-merchants.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import type { LiveState } from "../../src/model/live.ts";
import type { Plan } from "../../src/model/plan.ts";
import { judgedRun } from "../support/build.ts";
import { type Files, seedOf } from "../support/chains/chain.ts";
import { CHAINS, type ChainName } from "../support/chains/chains.ts";
import { liveChain } from "../support/chains/live-chain.ts";
import { countedByCode, planOutcome, touchedFiles, touchedLines } from "../support/chains/outcome.ts";
import { TODAY } from "../support/chains/year.ts";
import { yearTable } from "../support/chains/year-table.ts";
import { YEARS } from "../support/chains/years.ts";
import { rolecall, startSandbox } from "../support/rolecall.ts";

const DAY = 86_400_000;
const PAGE = "../../docs/chains.md";

test("the tables of docs/chains.md are those of the years; run it with -u to update them", async () => {
  const page = readFileSync(new URL(PAGE, import.meta.url), "utf8");
  const made = page.replace(/(?<=^<!-- year: (\w+) -->\n\n)(?:\|.*\n)*/gm, (_, name: ChainName) =>
    yearTable(CHAINS[name](TODAY), YEARS[name]),
  );
  expect(made.match(/^<!-- year: /gm)).toHaveLength(Object.keys(YEARS).length);
  await expect(made).toMatchFileSnapshot(PAGE);
});

describe.each(Object.keys(CHAINS) as ChainName[])("the organisation %s", (name) => {
  const chain = CHAINS[name](TODAY);
  const live = liveChain(chain);
  const matches = globMatcher();
  let cwd = "";
  let before: Loaded;
  let planned: readonly RotationInput[] = [];

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "rolecall-chain-"));
    await turn({}, chain.files);
    before = await load(TODAY);
    planned = before.states.map((state) => {
      const planAt = (now: number): Plan => planOf(state, now);
      return {
        session: { state },
        desired: state,
        live: liveOf(state),
        plan: planAt(TODAY),
        planAt,
        judgeAt: (now: number) => () => planAt(now),
        planWithout: () => planAt(TODAY),
      };
    });
  }, 60_000);

  afterAll(async () => {
    await rm(cwd, { recursive: true });
  });

  /** Writes one version of the files over another one. */
  async function turn(from: Files, to: Files): Promise<void> {
    for (const path of touchedFiles(from, to)) {
      const text = to[path];
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await (text === undefined ? rm(join(cwd, path)) : writeFile(join(cwd, path), text));
    }
  }

  const load = (now: number, paths: readonly string[] = []): Promise<Loaded> =>
    loadStates(paths, { merchants: [], cwd, now });

  function liveOf({ merchant }: DesiredState): LiveState {
    const state = live.get(merchant);
    if (state === undefined) throw new Error(`${merchant} is not live.`);
    return state;
  }

  function planOf(desired: DesiredState, now: number, inReview = false): Plan {
    const base = before.states.find(({ merchant }) => inReview && merchant === desired.merchant);
    const service = "https://api.example.com";
    return buildPlan({ desired, live: liveOf(desired), service, now, matches, ...(base && { base }) });
  }

  test("begins with valid files, and plans without changes and warnings", () => {
    expect(before.diagnostics).toEqual([]);
    expect(planned.flatMap(({ plan }) => [...plan.changes, ...plan.findings])).toEqual([]);
  });

  test.each(YEARS[name].filter(({ rotate }) => rotate !== undefined))(
    "$title",
    ({ rotate = "", expected }) => {
      const passwords = rotationsFor([rotate], planned, TODAY);
      expect({
        files: 0,
        lines: 0,
        merchants: passwords.size,
        passwords: [...passwords.values()].flat().length,
      }).toEqual(expected);
    },
  );

  test.each(YEARS[name].filter(({ rotate }) => rotate === undefined))(
    "$title",
    async ({ edits, inDays = 0, inReview = false, expected }) => {
      const files = edits.reduce((texts, edit) => edit(texts), chain.files);
      const touched = touchedFiles(chain.files, files);
      const now = TODAY + inDays * DAY;
      await turn(chain.files, files);
      // A shared file stands for the merchants that it reaches.
      const after = await load(
        now,
        touched.filter((path) => /^(?:access|shared|teams)\//.test(path) && files[path] !== undefined),
      );
      await turn(files, chain.files);
      const changed = changedSince(before.states, after.states);
      // With time, access ends without any change of a file.
      const run = after.states
        .filter(({ merchant }) => changed.has(merchant) || inDays > 0)
        .map((state) => ({ plan: planOf(state, now, inReview), files: state }));
      const plans = judgedRun(run).filter(
        ({ changes, merchant }) => changed.has(merchant) || changes.length > 0,
      );
      const problems = countedByCode(after.diagnostics.map(({ code }) => code));
      expect({
        files: touched.length,
        lines: touchedLines(chain.files, files),
        merchants: plans.length,
        ...planOutcome(plans),
        ...(problems && { problems }),
      }).toEqual(expected);
    },
  );
});

test.each(["franchise", "agency"] as const)("the sandbox has the live state of the %s", async (name) => {
  const chain = CHAINS[name](Date.now());
  const folder = await mkdtemp(join(tmpdir(), "rolecall-chain-"));
  for (const [path, text] of Object.entries({ ...chain.files, "live.yaml": seedOf(chain) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const sandbox = await startSandbox(["--seed", join(folder, "live.yaml")]);
  const { stdout, code } = await rolecall(["plan", "--quiet"], { cwd: folder, env: sandbox.env });
  await sandbox.stop();
  await rm(folder, { recursive: true });
  expect(stdout).toMatch(/^\d+ merchants: no changes; \d+ unchanged\.$/m);
  expect(code).toBe(0);
});

test("only head office owns what all franchisees share, and each of them its own folder", () => {
  const { files } = CHAINS.franchise(TODAY);
  for (const path of Object.keys(files)) {
    const [, franchisee = "head-office"] = /^access\/franchise\/(\w+)\//.exec(path) ?? [];
    expect([path, ownersOf(path, files)]).toEqual([path, [`@example/${franchisee}`]]);
  }
});

test("a region owns its areas, and head office everything else that shops share", () => {
  const { files } = CHAINS.retail(TODAY);
  for (const path of Object.keys(files)) {
    const [, region] = /^shared\/areas\/(\w+)-\d\.yaml$/.exec(path) ?? [];
    const [folder = ""] = path.split("/");
    const owner = region ? `region-${region}` : { shared: "head-office", access: "operations" }[folder];
    expect([path, ownersOf(path, files)]).toEqual([path, [`@example/${owner ?? "platform"}`]]);
  }
});

/** Returns the owners of a path as GitHub finds them: the last pattern that matches counts. */
function ownersOf(path: string, files: Files): readonly string[] {
  const lines = (files[".github/CODEOWNERS"] ?? "").split("\n").filter((line) => /^[^#\s]/.test(line));
  const owned = lines.map((line) => line.split(/\s+/)).filter(([pattern = ""]) => owns(pattern, path));
  return owned.at(-1)?.slice(1) ?? [];
}

function owns(pattern: string, path: string): boolean {
  if (pattern === "*") return true;
  if (pattern.endsWith("/")) return `/${path}`.startsWith(pattern);
  return picomatch.isMatch(`/${path}`, pattern);
}

/** Returns the merchants whose access or rules differ from what the files meant before. */
function changedSince(before: readonly DesiredState[], after: readonly DesiredState[]): ReadonlySet<string> {
  const read = new Set(after.map(({ merchant }) => merchant));
  const changed = changedMerchants(
    after,
    before.filter(({ merchant }) => read.has(merchant)),
  );
  return new Set(changed.map(({ merchant }) => merchant));
}
