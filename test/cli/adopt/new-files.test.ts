import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { globMatcher } from "../../../src/app/session/session.ts";
import { firstRules, ruleEdit } from "../../../src/cli/adopt/first-rules.ts";
import { writePatches } from "../../../src/cli/adopt/new-files.ts";
import { leftOutTexts } from "../../../src/edit/adopt/entry-texts.ts";
import { adoptNew, newFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { formatFile } from "../../../src/edit/format/format-file.ts";
import { parseMerchantFile } from "../../../src/index.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { live, liveMember, liveRole, NOW } from "../../support/build.ts";
import { testIo } from "../../support/io.ts";
import { runs } from "../../support/property-runs.ts";
import { wildStates } from "../../support/wild-states.ts";

const matches = globMatcher();

function planOfFile(text: string, live: LiveState) {
  const { state, diagnostics } = parseMerchantFile("access/mc1.yaml", text, { now: NOW });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  if (state === null) throw new Error("the file is not valid");
  return buildPlan({ desired: state, live, service: "https://service.example", now: NOW, matches });
}

test("the plan of a new file has no changes, for every live state", () => {
  fc.assert(
    fc.property(wildStates, (live) => {
      const text = newFileText(adoptNew(live, NOW), { merchant: "MC1", environment: "test" });
      const plan = planOfFile(text, live);
      expect(plan.changes).toEqual([]);
      expect(plan.refusals).toEqual([]);
      expect(plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});

test("the rules of a new file are met by every live state", () => {
  const counts = { rules: 0 };
  fc.assert(
    fc.property(wildStates, (live) => {
      const adoption = adoptNew(live, NOW);
      const rules = firstRules(live, adoption);
      counts.rules += rules.length;
      const header = { merchant: "MC1", environment: "test" } as const;
      const text = newFileText(adoption, header, { rules: rules.map(ruleEdit) });
      expect(formatFile("access/mc1.yaml", text)).toEqual({ text, changed: false });
      const plan = planOfFile(text, live);
      expect(plan.changes).toEqual([]);
      expect(plan.refusals).toEqual([]);
      expect(plan.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      // A role whose permissions are unknown may grant more.
      const codes = plan.findings.map(({ code }) => code);
      expect(codes.filter((code) => /^(?:policy|check)-/.test(code) && code !== "check-unknown")).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
  expect(counts.rules).toBeGreaterThan(0);
});

test("what the files do not declare is named with its reason, and with the holders of ignored roles", () => {
  const state = live(
    [liveRole("role_1", "Payer"), liveRole("role_2", "Payer")],
    [liveMember("mem_1", "ada@example.com", { roles: ["role_1", "role_2"] })],
  );
  const adoption = adoptNew(state, NOW);
  expect(leftOutTexts(adoption)).toEqual([
    "role Payer (role_2): another entry has its name or address",
    "Payer (role_2) of ada@example.com: the role is ignored",
  ]);
  expect(newFileText(adoption, { merchant: "MC1", environment: "test" })).toContain(
    "  # Also has ignored roles: Payer (role_2).\n  - email: ada@example.com\n    roles: [Payer]\n",
  );
});

test("a new file is formatted", () => {
  fc.assert(
    fc.property(wildStates, (live) => {
      const text = newFileText(adoptNew(live, NOW), { merchant: "MC1", environment: "test" });
      expect(formatFile("access/mc1.yaml", text)).toEqual({ text, changed: false });
    }),
    { numRuns: runs(30) },
  );
});

test("a name that no file can hold is in the comment on its entry as YAML writes it", () => {
  const names = ["a\u001b[31mred", "two\nlines", "over\u202eride"];
  const state = live(names.map((name, index) => liveRole(`role_${index}`, name)));
  const text = newFileText(adoptNew(state, NOW), { merchant: "MC1", environment: "test" });
  expect(text.split("\n").filter((line) => line.includes("- name:"))).toEqual([
    String.raw`# - name: "a\u001b[31mred" # ignored: a file cannot express its name or address`,
    String.raw`# - name: "over\u202eride" # ignored: a file cannot express its name or address`,
    String.raw`# - name: "two\nlines" # ignored: a file cannot express its name or address`,
  ]);
});

test("no file is written if one has changed, or has gone, since it was read", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "rolecall-patches-"));
  try {
    writeFileSync(join(cwd, "a.yaml"), "version: 1\n");
    writeFileSync(join(cwd, "b.yaml"), "version: 1 # saved meanwhile\n");
    const patch = (file: string) => ({ file, before: "version: 1\n", after: "version: 2\n" });
    const { io, written } = testIo({ cwd });
    for (const other of ["b.yaml", "c.yaml"]) {
      await expect(writePatches([patch("a.yaml"), patch(other)], io)).rejects.toMatchObject({
        message: `${other} has changed since it was read.`,
        hint: "Nothing was written. Run the command again.",
      });
    }
    expect(readFileSync(join(cwd, "a.yaml"), "utf8")).toBe("version: 1\n");
    expect(readFileSync(join(cwd, "b.yaml"), "utf8")).toContain("saved meanwhile");
    await writePatches([patch("a.yaml")], io);
    expect(written.stdout).toBe("changed a.yaml\n");
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
