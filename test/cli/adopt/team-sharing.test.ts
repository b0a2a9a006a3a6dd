import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptPlanned } from "../../../src/app/adopt/adopt-planned.ts";
import { globMatcher, type PlannedMerchant } from "../../../src/app/session/session.ts";
import { adoptNew, newFileText, sharedFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { shareRoles } from "../../../src/edit/adopt/share-roles.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { teamHistory } from "../../support/team-history.ts";

const SHARED = "shared/roles.yaml";
const matches = globMatcher();
const fileOf = (merchant: string): string => `access/${merchant}.yaml`;

/** Writes the files of teams, the roles that several of them have into a shared one. */
function newFiles(lives: readonly LiveState[]): Map<string, string> {
  const adoptions = lives.map((live) => adoptNew(live, NOW));
  const shared = shareRoles(adoptions);
  const files = new Map(
    adoptions.map((adoption) => {
      const { merchant } = adoption;
      const sharing = shared?.merchants.get(merchant);
      const include = sharing === undefined ? [] : [`../${SHARED}`];
      const header = { merchant, environment: "live", include } as const;
      return [fileOf(merchant), newFileText(sharing?.adoption ?? adoption, header, sharing)];
    }),
  );
  return files.set(SHARED, sharedFileText(shared?.roles ?? [], "../schema.json"));
}

/** Pulls all teams at once; returns what a plan had changed before, and what the pull changes and leaves. */
async function pullAll(files: ReadonlyMap<string, string>, lives: readonly LiveState[]) {
  const read: ReadSource = async (path) => {
    const file = path.replace("../", "");
    return { ok: true, file, text: files.get(file) ?? "" };
  };
  const { merchants, diagnostics, sources } = await loadMerchants(
    lives.map(({ merchant }) => fileOf(merchant)),
    read,
    { now: NOW, judge: judgeDeclared, wholeProject: true },
  );
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const planned = merchants.map(({ state }, at) => {
    const live = lives[at];
    if (state === null || live === undefined) throw new Error("a file is not valid");
    const plan = buildPlan({ desired: state, live, service: "https://service.example", now: NOW, matches });
    return { status: "planned", session: { state }, live, plan } as unknown as PlannedMerchant;
  });
  const { patches, conflicts } = adoptPlanned(
    planned.map((one) => ({ planned: one, wants: () => true })),
    { all: planned.map(({ session }) => session.state), sources },
    NOW,
  );
  const changed = planned.flatMap(({ plan }) =>
    plan.changes.map(({ resource, name }) => `${resource} ${name}`),
  );
  return { changed, patches, conflicts };
}

test("teams that share roles follow their history, but for what a shared file cannot say", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0 }), async (seed) => {
      const [first = [], ...later] = teamHistory(seed, { teams: 24, steps: 3 });
      const files = newFiles(first);
      expect(await pullAll(files, first)).toEqual({ changed: [], patches: [], conflicts: [] });
      for (const all of later) {
        const lives = all.slice(0, first.length);
        const { patches, conflicts } = await pullAll(files, lives);
        for (const { file, after } of patches) files.set(file, after);
        const again = await pullAll(files, lives);
        expect(again.patches).toEqual([]);
        expect(again.conflicts).toEqual(conflicts);
        const isLeft = (change: string): boolean =>
          conflicts.some((text) => text.includes(`: ${change} stays as it is: ${SHARED} is shared with `));
        expect(again.changed.filter((change) => !isLeft(change))).toEqual([]);
        expect(conflicts.filter((text) => /with(?: [\w-]+,){4}/.test(text))).toEqual([]);
      }
    }),
    { numRuns: runs(1), endOnFailure: true },
  );
});
