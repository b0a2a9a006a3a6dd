import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import type { FailureJson } from "../../../src/model/events.ts";
import { diagnosticsJunit, driftsJunit, plansJunit } from "../../../src/show/machine/junit-report.ts";
import type { DriftView } from "../../../src/show/view/drift-view.ts";
import { planView } from "../../../src/show/view/plan-view.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { hostilePlan } from "../../support/hostile-plan.ts";
import { richPlan } from "../../support/rich-plan.ts";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

/** Parses well-formed XML into its elements, in document order. */
function parseXml(xml: string): readonly Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: "" };
    elements.push(element);
    open.push(element);
  });
  parser.on("text", (text) => {
    const last = open.at(-1);
    if (last) last.text += text;
  });
  parser.on("closetag", () => open.pop());
  parser.write(xml).close();
  return elements;
}

const named = (elements: readonly Element[], name: string) => elements.filter((one) => one.name === name);

const failure: FailureJson = {
  merchant: "MC0CLOSED",
  file: null,
  line: null,
  column: null,
  code: "unauthorized",
  message: "The key was refused.",
  hint: "Check it with rolecall doctor.",
};

describe("a JUnit report of a plan", () => {
  test("has a suite for each merchant: refusals fail, and the plan is the output", () => {
    const plan = richPlan();
    const all = parseXml(plansJunit([planView(plan)], [failure]));
    const [root] = all;
    expect(plan.refusals.length).toBeGreaterThan(0);
    const errors = plan.findings.filter(({ severity }) => severity === "error").length + 1;
    expect(root).toMatchObject({
      name: "testsuites",
      attributes: {
        name: "rolecall plan",
        failures: String(plan.refusals.length),
        errors: String(errors),
        tests: String(plan.refusals.length + errors + 1),
      },
    });
    expect(named(all, "testsuite").map(({ attributes }) => attributes["name"])).toEqual([
      "MC0CLOSED",
      plan.merchant,
    ]);
    expect(named(all, "failure").map(({ attributes }) => attributes["message"])).toEqual(
      plan.refusals.map(({ message }) => message),
    );
    expect(named(all, "error")[0]?.text).toBe("The key was refused.\nCheck it with rolecall doctor.");
    expect(named(all, "system-out")[0]?.text).toContain(plan.changes[0]?.name);
  });

  test("is well-formed whatever the names are", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (name) => {
        const xml = plansJunit(
          [planView(hostilePlan(name))],
          [{ ...failure, merchant: name, message: name }],
        );
        parseXml(xml);
        // Nothing that a terminal would act on.
        expect(xml.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u);
      }),
    );
    parseXml(plansJunit([planView(hostilePlan("]]>\ufffe\uffff\ud800\u0000<!--&amp;\"'"))], []));
  });
});

describe("a JUnit report of files", () => {
  const base: Diagnostic = {
    code: "bad-email",
    severity: "error",
    message: "Not an address.",
    hint: "Write name@example.com.",
    file: "access/b.yaml",
    span: { line: 3, column: 5, endLine: 3, endColumn: 9 },
  };

  test("has a suite for each file: errors and broken rules do not pass, warnings are output", () => {
    const xml = diagnosticsJunit(
      [
        base,
        { ...base, code: "check-only", refusal: true, message: "Too many can." },
        { ...base, file: "access/a.yaml", severity: "warning", code: "rule-unused" },
      ],
      ["access/a.yaml", "access/b.yaml"],
      "rolecall validate",
    );
    const all = parseXml(xml);
    expect(all[0]?.attributes).toMatchObject({ tests: "3", failures: "1", errors: "1" });
    expect(
      named(all, "testcase").map(({ attributes }) => [attributes["classname"], attributes["name"]]),
    ).toEqual([
      ["access/a.yaml", "valid"],
      ["access/b.yaml", "bad-email"],
      ["access/b.yaml", "check-only"],
    ]);
    expect(named(all, "system-out").map(({ text }) => text)).toEqual([
      "access/a.yaml:3:5: Not an address. [rule-unused]",
    ]);
    expect(named(all, "error")[0]?.text).toBe("Not an address.\naccess/b.yaml:3:5\nWrite name@example.com.");
  });
});

describe("a JUnit report of drift", () => {
  const clean = { ...planView(richPlan()), groups: [], errors: [], refusals: [] };
  const sums = { added: 0, changed: 0, missing: 0, notApplied: 0, due: 0, unknown: 0, violations: 0 };

  test("passes without drift; every difference and every broken rule fails", () => {
    const none: DriftView = { ...clean, sums };
    const quiet = parseXml(driftsJunit([none], []));
    expect(quiet[0]?.attributes).toMatchObject({ name: "rolecall drift", tests: "1", failures: "0" });
    const row = planView(richPlan()).groups[0]?.rows[0];
    if (row === undefined) throw new Error("the plan has no change");
    const title = "Changed outside git";
    const drifted: DriftView = {
      ...clean,
      groups: [{ title, rows: [{ ...row, verb: "added outside git", remark: "" }] }],
      refusals: planView(richPlan()).refusals.slice(0, 1),
      sums: { ...sums, added: 1, violations: 1 },
    };
    const all = parseXml(driftsJunit([drifted], []));
    expect(all[0]?.attributes).toMatchObject({ tests: "2", failures: "2" });
    expect(named(all, "failure").at(-1)?.text).toBe(
      `${row.resource} ${row.name}: added outside git\n${title}`,
    );
  });
});
