import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { renderDiagnosticsGithub } from "../../../src/show/machine/diagnostic-formats.ts";

const span = { line: 3, column: 5, endLine: 3, endColumn: 9 };
const base: Diagnostic = {
  code: "bad-email",
  severity: "error",
  message: "Wrong.",
  file: "access/a.yaml",
  span,
};

describe("annotations on GitHub", () => {
  test("stand at their lines, with the code as title and what to do below the message", () => {
    expect(renderDiagnosticsGithub([{ ...base, hint: "Write it right." }])).toBe(
      "::error file=access/a.yaml,line=3,endLine=3,col=5,endColumn=9,title=bad-email::Wrong.%0AWrite it right.\n",
    );
  });

  test("stand at the file where the problem has no line", () => {
    const { span: _, ...whole } = base;
    expect(renderDiagnosticsGithub([{ ...whole, severity: "warning" }])).toBe(
      "::warning file=access/a.yaml,title=bad-email::Wrong.\n",
    );
  });

  test("are nothing where there is no problem", () => {
    expect(renderDiagnosticsGithub([])).toBe("");
  });

  test("are at most ten errors and ten warnings, errors first, refusals last of them; the rest is counted", () => {
    const many = (count: number, severity: "error" | "warning", message: string) =>
      Array.from({ length: count }, (_, index) => ({ ...base, severity, message: `${message} ${index}.` }));
    const text = renderDiagnosticsGithub([
      ...many(11, "warning", "Minor"),
      { ...base, refusal: true, message: "Refused." },
      ...many(9, "error", "Major"),
      ...many(3, "error", "Further"),
    ]);
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(21);
    expect(lines.map((line) => line.split(" ")[0])).toEqual([
      ...Array.from({ length: 10 }, () => "::error"),
      ...Array.from({ length: 10 }, () => "::warning"),
      "::notice::3",
    ]);
    expect(text).not.toContain("Refused");
    expect(lines.at(-1)).toBe(
      "::notice::3 more errors and 1 more warning: rolecall validate shows all of them.",
    );
    expect(renderDiagnosticsGithub(many(12, "warning", "Minor"), "lint")).toContain(
      "::notice::2 more warnings: rolecall lint shows all of them.",
    );
  });
});

describe("hostile text", () => {
  const hostile = [
    "x\n::error::fake",
    "x\r\n::set-output name=a::b",
    "%0A::error::fake",
    "::stop-commands::x",
    "##[error]fake",
    "\u001b[31mred\u0007",
    "a\u2028::error::b",
    "\u202eetirw",
    "a,line=9::b",
    "x".repeat(100_000),
  ];

  test.each(hostile)("in a message, a hint, a file's name or a code stays in its one command: %j", (text) => {
    const shown = renderDiagnosticsGithub([{ ...base, file: text, message: text, hint: text, code: text }]);
    expect(shown.match(/\n/g)).toHaveLength(1);
    expect(shown.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u);
    const [, properties] = /^::error (.*?)::/.exec(shown) ?? [];
    expect(properties?.split(",").map((each) => each.split("=")[0])).toEqual([
      ..."file line endLine col endColumn title".split(" "),
    ]);
    expect(properties).not.toMatch(/:|%(?!25|3A|2C)/);
    expect(shown.length).toBeLessThan(text.length * 2 + 10_000);
  });

  test("a percent sign survives GitHub's decoding", () => {
    expect(renderDiagnosticsGithub([{ ...base, message: "25% of %0A" }])).toContain("::25%25 of %250A\n");
  });
});
