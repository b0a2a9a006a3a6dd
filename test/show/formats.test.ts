import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import type { PageData } from "../../src/show/html/page-data.ts";
import { diagnosticsSarif, renderDiagnosticsGithub } from "../../src/show/machine/diagnostic-formats.ts";
import { plansJson } from "../../src/show/machine/machine-formats.ts";
import { renderReview } from "../../src/show/markdown/render-review.ts";
import { PLAIN } from "../../src/show/style.ts";
import { renderDiagnostics } from "../../src/show/text/diagnostics-text.ts";
import { renderPlans } from "../../src/show/text/plans-text.ts";
import { countsText, planView } from "../../src/show/view/plan-view.ts";
import { riskTitle } from "../../src/show/view/risk-view.ts";
import { HOSTILE } from "../support/hostile.ts";
import { hostilePlan } from "../support/hostile-plan.ts";
import { pageOf } from "../support/report.ts";
import { richPlan, richStates } from "../support/rich-plan.ts";

describe("every format of a plan agrees on", () => {
  const plan = richPlan();
  const view = planView(plan);
  const { want, is } = richStates();
  const text = renderPlans([view], PLAIN);
  const markdown = renderReview({ command: "plan", views: [view], unplanned: [], fileErrors: 0 });
  const html = pageOf(want, is, plan);
  const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "") as PageData;
  const page = data.merchants[0]?.plan;
  const json = JSON.parse(plansJson([plan])).plans[0];

  test("the sums", () => {
    const sums = countsText(view.counts);
    for (const output of [text, markdown, html]) expect(output).toContain(sums);
    expect(page?.summary).toBe(sums);
    const { roles, members } = json.summary;
    expect(`${roles.create + members.create} to create`).toBe(sums.split(",")[0]);
    expect(plan.changes).toHaveLength(12);
  });

  test("the number of changes", () => {
    const { length } = plan.changes;
    expect(text.match(/^ {4}[-+~±] (create|update|replace|delete) (?!owner@)/gm)).toHaveLength(length);
    expect(markdown.match(/^[-+!] (create|update|replace|delete) (role|member) /gm)).toHaveLength(length);
    expect(page?.changes.filter(({ kind }) => kind !== "deferred")).toHaveLength(length);
    expect(json.changes).toHaveLength(length);
  });

  test("the risks, refusals and problems", () => {
    expect(view.risks.map(({ kind }) => kind)).toEqual(["administrators", "sensitive", "reach", "removals"]);
    for (const { kind, items } of view.risks) {
      const title = riskTitle(kind, items);
      for (const output of [text, markdown]) expect(output).toContain(title);
      expect(page?.risks.find((risk) => risk.title === title)?.items).toHaveLength(items.length);
    }
    for (const output of [text, markdown]) {
      expect(output.match(/(guard|policy|check) [a-z-]+: /g)).toHaveLength(plan.refusals.length);
    }
    expect(page?.refusals).toHaveLength(plan.refusals.length);
    expect(page?.errors).toHaveLength(view.errors.length);
    expect(page?.warnings).toHaveLength(view.warnings.length + view.untouched.length);
  });

  test("the access that it would leave behind", () => {
    const members = data.merchants[0]?.members ?? [];
    const after = members.filter((member) => member.after !== null).length;
    const before = members.filter(
      ({ before: was, after: now }) => (was === undefined ? now : was) !== null,
    ).length;
    expect(before).toBe(is.members.length);
    const { create, delete: remove } = plan.summary.members;
    expect(after).toBe(before + create - remove);
  });
});

describe("programs read a name as a name", () => {
  test.each(Object.entries(HOSTILE))("that %s", (_, text) => {
    const diagnostics: readonly Diagnostic[] = [
      {
        code: "unknown-role",
        severity: "error",
        message: `No role is called "${text}".`,
        hint: `Did you mean ${text}?`,
        file: `access/${text}.yaml`,
        span: { line: 1, column: 1, endLine: 1, endColumn: 2 },
        frame: text,
      },
    ];
    const github = renderDiagnosticsGithub(diagnostics);
    expect(github.split("\n")).toHaveLength(2);
    expect(github).toMatch(
      /^::error file=access\/[^:,\n]*,line=1,endLine=1,col=1,endColumn=2,title=unknown-role::/,
    );
    const log = JSON.parse(diagnosticsSarif(diagnostics, { version: "1.0.0", rules: [] }));
    expect(log.runs[0].results).toHaveLength(1);
    const shown = renderDiagnostics(diagnostics, PLAIN);
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e\p{Cs}]/u);
    const plan = hostilePlan(text);
    expect(JSON.parse(plansJson([plan])).plans[0].merchant).toBe(plan.merchant);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(plansJson([plan])).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

test("problems of one rule in a shared file are told once, and the others counted", () => {
  const problems = ["ada", "bob", "cy"].map((name, index) => ({
    severity: "error" as const,
    code: "check-at-most",
    file: "shared.yaml",
    span: { line: 3, column: 5, endLine: 3, endColumn: 6 },
    message: `${name}@example.com and ${index + 3} others have refunds_create.`,
  }));
  const text = renderDiagnostics(problems, PLAIN);
  expect(text).toContain(
    `The same line has 2 more errors: "rolecall validate" and "rolecall lint" list them with --format json.`,
  );
  expect(text.match(/check-at-most/g)).toHaveLength(1);
  expect(text).toContain("\n3 errors\n");
  expect(renderDiagnostics(problems.slice(1), PLAIN).match(/check-at-most/g)).toHaveLength(2);
});
