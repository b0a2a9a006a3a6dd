import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptPlanned } from "../../../src/app/adopt/adopt-planned.ts";
import { globMatcher, type PlannedMerchant } from "../../../src/app/session/session.ts";
import { adoptNew, newFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { parseMerchantFile } from "../../../src/index.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { live, liveMember, liveRole, NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const FILE = "access/mc1.yaml";
const HEADER = { merchant: "MC1", environment: "test" } as const;
const matches = globMatcher();

function stateOf(text: string): DesiredState {
  const { state, diagnostics } = parseMerchantFile(FILE, text, { now: NOW });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  if (state === null) throw new Error("the file is not valid");
  return state;
}

function planned(state: DesiredState, is: LiveState): PlannedMerchant {
  const plan = buildPlan({ desired: state, live: is, service: "https://service.example", now: NOW, matches });
  return { status: "planned", session: { state }, live: is, plan } as unknown as PlannedMerchant;
}

/** Pulls a live state into a text. */
function pulled(text: string, is: LiveState): string {
  const state = stateOf(text);
  const merchant = { planned: planned(state, is), wants: () => true };
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
      const text = newFileText(adoptNew(before, NOW), HEADER);
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

const ROLES = ["Cashier", "Lead", "Night"].map((name, at) =>
  liveRole(`role_${at}`, name, { permissions: ["a", "b"] }),
);

/** Members by number, each with some of the roles. */
const held = fc.uniqueArray(
  fc.tuple(fc.integer({ max: 20, min: 0 }), fc.subarray(ROLES.map(({ id }) => id))),
  {
    selector: ([number]) => number,
    maxLength: 12,
  },
);

const stateWith = (members: readonly (readonly [number, readonly string[]])[]): LiveState =>
  live(
    ROLES,
    members.map(([number, roles]) => liveMember(`mem_${number}`, `user${number}@example.com`, { roles })),
  );

/** Returns a text with comments of its own on, below and between the lines of its members. */
function commented(text: string, gaps: readonly number[]): string {
  const [head = "", members] = text.split("\nmembers:\n");
  if (members === undefined) return text;
  const lines = members.split("\n").map((line, at) => {
    const gap = gaps[at % gaps.length] ?? 0;
    const above = line.startsWith("  - ") && gap > 1 ? `${gap > 2 ? "\n" : ""}  # above ${at}\n` : "";
    const below = line.startsWith("  - ") && gap % 2 === 1 ? `\n    # below ${at}` : "";
    return line === "" ? line : `${above}${line}${gap === 2 ? `  # beside ${at}` : ""}${below}`;
  });
  return `${head}\n\n# The people.\nmembers:\n${lines.join("\n")}`;
}

test("a pull keeps every byte of what does not differ", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(held, held, gaps, (before, after, spaces) => {
      const text = commented(newFileText(adoptNew(stateWith(before), NOW), HEADER), spaces);
      const same = before.filter(([number, roles]) =>
        after.some(([other, others]) => other === number && others.join() === roles.join()),
      );
      const result = pulled(text, stateWith(after));
      expect(planned(stateOf(result), stateWith(after)).plan.changes).toEqual([]);
      for (const [number] of same) {
        const entry = new RegExp(`(?:  # above \\d+\\n)?  - email: user${number}@.*\\n(?:    .*\\n)*`).exec(
          text,
        )?.[0];
        expect(result).toContain(entry);
      }
      if (same.length === before.length && same.length === after.length) expect(result).toBe(text);
      expect(pulled(result, stateWith(after))).toBe(result);
    }),
    { numRuns: runs(60) },
  );
});
