import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptPlanned } from "../../../src/cli/adopt/adopt-planned.ts";
import { adoptNew, newFileText } from "../../../src/cli/adopt/new-file.ts";
import { globMatcher, type PlannedMerchant } from "../../../src/cli/session/session.ts";
import { parseFile } from "../../../src/config/parse-file.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { buildPlan } from "../../../src/plan/build-plan.ts";
import { judgeDeclared } from "../../../src/plan/judge/judge-rules.ts";
import { NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const FILE = "access/mc1.yaml";
const matches = globMatcher();

function stateOf(text: string): DesiredState {
  const { state, diagnostics } = parseFile(FILE, text, { now: NOW, judge: judgeDeclared });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  if (state === null) throw new Error("the file is not valid");
  return state;
}

function planned(state: DesiredState, live: LiveState): PlannedMerchant {
  const plan = buildPlan({ desired: state, live, service: "https://service.example", now: NOW, matches });
  return { status: "planned", session: { state }, live, plan } as unknown as PlannedMerchant;
}

/** Pulls a live state into a text. */
function pulled(text: string, live: LiveState): string {
  const state = stateOf(text);
  const merchant = { planned: planned(state, live), wants: () => true };
  const { patches, conflicts } = adoptPlanned(
    [merchant],
    { all: [state], sources: [{ file: FILE, text }] },
    NOW,
  );
  expect({ text, conflicts }).toEqual({ text, conflicts: [] });
  return patches[0]?.after ?? text;
}

test("the plan is empty after a pull into an existing file, and a second pull changes nothing", () => {
  fc.assert(
    fc.property(wildStates, wildStates, (before, after) => {
      const text = newFileText(adoptNew(before, NOW), { merchant: "MC1", environment: "test" });
      const result = pulled(text, after);
      const { plan } = planned(stateOf(result), after);
      expect({ text, result, changes: plan.changes }).toMatchObject({ changes: [] });
      expect(plan.refusals).toEqual([]);
      expect(plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(pulled(result, after)).toBe(result);
    }),
    { numRuns: runs(40) },
  );
});
