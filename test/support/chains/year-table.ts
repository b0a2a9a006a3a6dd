import { diagnosticTable } from "../../../src/kernel/rules/every-rule.ts";
import { counted, grouped } from "../../../src/lib/text.ts";
import type { Chain } from "./chain.ts";
import { touchedFiles } from "./outcome.ts";
import type { Outcome, YearChange } from "./year.ts";

/** Returns the changes of a year as a table in Markdown. */
export function yearTable({ files }: Chain, year: readonly YearChange[]): string {
  const rows = year.map(({ title, edits, command, expected }) => {
    const touched = touchedFiles(
      files,
      edits.reduce((texts, edit) => edit(texts), files),
    );
    const where = command === undefined ? whereOf(touched) : `\`${command}\``;
    const counts = [expected.files, expected.lines, expected.merchants].map(grouped);
    return [title, where, ...counts, planOf(expected)];
  });
  const lines = [HEAD, ["---", "---", "--:", "--:", "--:", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

const HEAD = ["Change", "Where", "Files", "Lines", "Merchants", "Plan"];

function whereOf(paths: readonly string[]): string {
  const names = paths.slice(0, 2).map((path) => `\`${path}\``);
  const more = paths.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""}`;
}

const WARNINGS: ReadonlySet<string> = new Set(
  diagnosticTable().flatMap(({ code, severity }) => (severity === "warning" ? [code] : [])),
);
const REFUSALS: ReadonlySet<string> = new Set(
  diagnosticTable().flatMap(({ code, refusal }) => (refusal ? [code] : [])),
);

function planOf(outcome: Outcome): string {
  const { create = 0, update = 0, deferred = 0, gain = 0, sensitive = 0 } = outcome;
  const { refused = {}, overridden = {}, problems = {} } = outcome;
  const errors = Object.keys(problems).filter((code) => !WARNINGS.has(code) && !REFUSALS.has(code));
  if (errors.length > 0) return `**error** ${codes(errors)}`;
  const changes = [
    create > 0 ? counted(create, "creation") : "",
    update > 0 ? counted(update, "update") : "",
    outcome.delete ? counted(outcome.delete, "deletion") : "",
    outcome.passwords ? counted(outcome.passwords, "new password") : "",
  ].filter((text) => text !== "");
  const gained =
    sensitive > 0
      ? `${counted(sensitive, "member gains", "members gain")} sensitive permissions`
      : `${counted(gain, "member gains", "members gain")} permissions`;
  return [
    changes.join(", ") || "no changes",
    Object.keys(refused).length > 0 ? `**refused**: ${codes(Object.keys(refused))}` : "",
    Object.keys(overridden).length > 0 ? `overridden: ${codes(Object.keys(overridden))}` : "",
    update > 0 && gain > 0 && Object.keys(refused).length === 0 ? gained : "",
    deferred > 0 ? `${counted(deferred, "removal")} deferred` : "",
    ...Object.entries(problems).flatMap(([code, count]) =>
      WARNINGS.has(code) ? `${counted(count, "warning")} \`${code}\`` : [],
    ),
  ]
    .filter((text) => text !== "")
    .join("; ");
}

function codes(all: readonly string[]): string {
  return all.map((code) => `\`${code}\``).join(", ");
}
