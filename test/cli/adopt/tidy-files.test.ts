import fc from "fast-check";
import { expect, test } from "vitest";
import { isSameAccess } from "../../../src/ask/lint/same-access.ts";
import { editYaml } from "../../../src/edit/yaml/edit-yaml.ts";
import { tidyEdits } from "../../../src/edit/yaml/tidy-edits.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import { judgeDeclared } from "../../../src/kernel/rules/judge-rules.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { live, liveMember, liveRole, matches, NOW, planOf } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

const ROLES = ["Lead", "Desk", "role_employee"];
const EMAILS = ["ada@x.example", "bob@x.example", "cy@x.example", "eve@x.example"];
const DAY_MS = 24 * 3_600_000;

const date = fc.constantFrom("2026-01-01", "2026-05-31", "2026-07-31", "2027-01-01");
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const grant = fc.oneof(
  fc.constantFrom(...ROLES),
  fc.record({ role: fc.constantFrom(...ROLES), until: date }),
  fc.record({
    role: fc.constantFrom(...ROLES),
    from: fc.constant("2026-06-20"),
    until: fc.constant("2027-01-01"),
  }),
);
const entry = fc.record({
  roles: fc.array(grant, { maxLength: 4 }),
  until: some(date),
  suspended: some(fc.record({ until: date })),
});
const file = fc.record({
  merchant: fc.constant("MC1"),
  sync: fc.record({
    roles: fc.constantFrom("authoritative", "additive"),
    members: fc.constantFrom("authoritative", "additive"),
  }),
  ignore: fc.record({ members: fc.array(fc.constantFrom("*@a.example", "*@b.example"), { maxLength: 3 }) }),
  roles: fc
    .tuple(...["Lead", "Desk"].map(() => fc.array(fc.constantFrom("view", "edit"), { maxLength: 3 })))
    .map((lists) => lists.map((permissions, index) => ({ name: ROLES[index], permissions }))),
  members: fc
    .tuple(fc.subarray(EMAILS), fc.array(entry, { minLength: EMAILS.length, maxLength: EMAILS.length }))
    .map(([emails, entries]) => emails.map((email, index) => ({ email, ...entries[index] }))),
});
const liveState: fc.Arbitrary<LiveState> = fc
  .array(fc.subarray(["r1", "r2", "r3", "role_employee"]), { minLength: 5, maxLength: 5 })
  .chain((held) =>
    fc.subarray([...EMAILS, "zoe@x.example"]).map((emails) =>
      live(
        [
          liveRole("r1", "Lead", { permissions: ["view"] }),
          liveRole("r2", "Desk"),
          liveRole("r3", "Other"),
          liveRole("role_employee", "Employee", { predefined: true }),
        ],
        emails.map((email, index) => liveMember(`m${index}`, email, { roles: held[index] ?? [] })),
      ),
    ),
  );

async function stateOf(text: string): Promise<DesiredState | null> {
  const read = async () => ({ ok: true as const, file: "shop.yaml", text });
  const { merchants } = await loadMerchants(["shop.yaml"], read, { now: NOW, judge: judgeDeclared });
  return merchants[0]?.state ?? null;
}

/** Returns what a plan changes, whatever its reasons. */
const changesOf = (state: DesiredState, is: LiveState, now: number): readonly string[] =>
  planOf(state, is, now)
    .changes.map(({ fingerprint }) => fingerprint)
    .sort();

test("what is taken for the same access changes any live state in the same way, now and later", async () => {
  const seen = { same: 0, other: 0 };
  await fc.assert(
    fc.asyncProperty(file, fc.array(liveState, { minLength: 3, maxLength: 3 }), async (value, states) => {
      const text = JSON.stringify({ version: 1, ...value });
      const before = await stateOf(text);
      const edits = tidyEdits(text, NOW);
      if (before === null || edits.length === 0) return;
      const edited = editYaml(text, edits);
      if (!("text" in edited)) return;
      const after = await stateOf(edited.text);
      if (after === null || !isSameAccess(before, after, NOW, matches)) {
        seen.other += 1;
        return;
      }
      seen.same += 1;
      for (const is of states) {
        for (const days of [0, 30, 90, 400]) {
          const now = NOW + days * DAY_MS;
          expect(changesOf(after, is, now)).toEqual(changesOf(before, is, now));
        }
      }
    }),
    { numRuns: runs(150) },
  );
  expect(seen.same).toBeGreaterThan(20);
  expect(seen.other).toBeGreaterThan(3);
});
