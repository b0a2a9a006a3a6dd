import { oneLine } from "../../lib/escape.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { FailureJson } from "../../model/events.ts";
import { PLAIN } from "../style.ts";
import { renderDrifts } from "../text/drift-text.ts";
import { renderDates } from "../text/plan-text.ts";
import { renderPlans } from "../text/plans-text.ts";
import type { LaterView } from "../view/date-lines.ts";
import type { DriftView } from "../view/drift-view.ts";
import type { PlanView, RefusalView } from "../view/plan-view.ts";

/** A test case; it passed if it has no problem. */
interface TestCase {
  readonly name: string;
  readonly file?: string;
  readonly problem?: Problem;
}

/** The reason why a case did not pass: a violated rule is a failure; anything that prevents a judgement is an error. */
interface Problem {
  readonly kind: "failure" | "error";
  readonly code: string;
  readonly message: string;
  /** Location, hint and override, as far as there are any. */
  readonly more: readonly (string | null | undefined)[];
}

interface TestSuite {
  readonly name: string;
  readonly cases: readonly TestCase[];
  /** Lines that are safe to print. */
  readonly output: string;
}

/** Returns diagnostics as a JUnit report with a suite for each file; warnings are its output. */
export function diagnosticsJunit(
  diagnostics: readonly Diagnostic[],
  files: readonly string[],
  name: string,
): string {
  const names = new Set([...files, ...diagnostics.map(({ file }) => file)]);
  const suites = [...names].map((file): TestSuite => {
    const ofFile = diagnostics.filter((diagnostic) => diagnostic.file === file);
    const errors = ofFile.filter(({ severity }) => severity === "error").map(diagnosticCase);
    const warnings = ofFile.filter(({ severity }) => severity === "warning");
    return {
      name: file,
      cases: errors.length > 0 ? errors : [{ name: "valid", file }],
      output: warnings
        .map((warning) => oneLine(`${placeOf(warning)}: ${warning.message} [${warning.code}]`))
        .join("\n"),
    };
  });
  return junitXml(name, suites);
}

function diagnosticCase(diagnostic: Diagnostic): TestCase {
  const { code, message, hint, file, refusal } = diagnostic;
  const kind = refusal === true ? "failure" : "error";
  return { name: code, file, problem: { kind, code, message, more: [placeOf(diagnostic), hint] } };
}

function placeOf({ file, span }: Diagnostic): string {
  return span === undefined ? file : `${file}:${span.line}:${span.column}`;
}

/** Returns plans as a JUnit report with a suite for each merchant: refusals fail, and the plan is the output. */
export function plansJunit(
  views: readonly PlanView[],
  failures: readonly FailureJson[],
  later: readonly LaterView[] = [],
): string {
  const suites = views.map((view): TestSuite => {
    const laterChanges = later.filter(({ merchant }) => merchant === view.merchant);
    const output = `${renderPlans([view], PLAIN)}${renderDates(laterChanges, PLAIN)}`;
    return { name: view.merchant, cases: [...problemCases(view), { name: "planned" }], output };
  });
  return junitXml("rolecall plan", [...failures.map(failureSuite), ...suites]);
}

/** Returns drifts as a JUnit report with a suite for each merchant: differences and violated rules fail. */
export function driftsJunit(views: readonly DriftView[], failures: readonly FailureJson[]): string {
  const suites = views.map((view): TestSuite => {
    const differences = view.groups.flatMap(({ title, rows }) =>
      rows.map(({ resource, name, verb, kind, remark }): TestCase => {
        const message = `${resource} ${name}: ${verb ?? kind}${remark === "" ? "" : ` (${remark})`}`;
        return { name: message, problem: { kind: "failure", code: "drift", message, more: [title] } };
      }),
    );
    const cases = [...problemCases(view), ...differences];
    const output = renderDrifts([view], PLAIN);
    return { name: view.merchant, cases: cases.length > 0 ? cases : [{ name: "no drift" }], output };
  });
  return junitXml("rolecall drift", [...failures.map(failureSuite), ...suites]);
}

function problemCases({ errors, refusals }: PlanView): readonly TestCase[] {
  return [
    ...errors.map(({ code, name, message, hint, place }): TestCase => {
      return { name: `${code}: ${name}`, problem: { kind: "error", code, message, more: [place, hint] } };
    }),
    ...refusals.map(refusalCase),
  ];
}

function refusalCase({ rule, code, message, hint, override, place }: RefusalView): TestCase {
  const more = [place, hint, override];
  return { name: `${rule} ${code}`, problem: { kind: "failure", code, message, more } };
}

function failureSuite({ merchant, file, code, message, hint }: FailureJson): TestSuite {
  const name = merchant ?? file ?? "files";
  return {
    name,
    cases: [{ name: code, problem: { kind: "error", code, message, more: [file, hint] } }],
    output: "",
  };
}

function junitXml(name: string, suites: readonly TestSuite[]): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name, ...totals(suites.flatMap(({ cases }) => cases)) })}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite ${attributes({ name: suite.name, ...totals(suite.cases) })}>`,
      ...suite.cases.flatMap((testCase) => caseXml(testCase, suite.name)),
      ...(suite.output === "" ? [] : [`    <system-out>${escapeXml(suite.output)}</system-out>`]),
      "  </testsuite>",
    ]),
    "</testsuites>",
  ];
  return `${lines.join("\n")}\n`;
}

function totals(cases: readonly TestCase[]): Readonly<Record<string, number>> {
  const countOf = (kind: Problem["kind"]): number =>
    cases.filter(({ problem }) => problem?.kind === kind).length;
  return { tests: cases.length, failures: countOf("failure"), errors: countOf("error"), skipped: 0, time: 0 };
}

function caseXml({ name, file, problem }: TestCase, suite: string): readonly string[] {
  const given = attributes({ classname: suite, name, ...(file !== undefined && { file }), time: 0 });
  if (problem === undefined) return [`    <testcase ${given}/>`];
  const { kind, code, message, more } = problem;
  const text = [message, ...more].flatMap((part) => (part ? [escapeXml(oneLine(part))] : []));
  return [
    `    <testcase ${given}>`,
    `      <${kind} ${attributes({ type: code, message })}>${text.join("\n")}</${kind}>`,
    "    </testcase>",
  ];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}="${escapeXml(oneLine(String(value))).replaceAll('"', "&quot;")}"`)
    .join(" ");
}

/** Escapes text for XML, which cannot contain U+FFFE and U+FFFF at all. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
