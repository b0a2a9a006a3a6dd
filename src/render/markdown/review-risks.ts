import { oneLine } from "../../lib/escape.ts";
import { counted, shellWord } from "../../lib/text.ts";
import type { ChangeOrigin } from "../report-phrases.ts";
import { PLAIN } from "../style.ts";
import { renderFailure } from "../text/failure-text.ts";
import { type RiskKind, riskTitle } from "../view/risk-view.ts";
import type { RiskBlock } from "./fit-review.ts";
import { fenced } from "./markdown-blocks.ts";
import { hanging } from "./review-changes.ts";
import type { ReviewInput } from "./review-input.ts";

const ORIGINS: readonly ChangeOrigin[] = ["plan", "outside-git", "unknown"];
const KINDS: readonly RiskKind[] = ["administrators", "sensitive", "removals", "ignored"];

/** Groups the problems, refusals and risks of all merchants, in that order. */
export function groupRisks(input: ReviewInput): readonly RiskBlock[] {
  const { command } = input;
  return [
    ...problems(input),
    ...(command === "drift" ? brokenRules(input) : refusals(input)),
    ...ORIGINS.flatMap((origin) => KINDS.flatMap((kind) => risksOfKind(input, kind, origin))),
  ];
}

function problems({ views, unplanned }: ReviewInput): readonly RiskBlock[] {
  const unread = unplanned.flatMap(({ merchant, failure }) => [
    `- ${oneLine(merchant)} could not be read`,
    ...renderFailure(failure, { ...PLAIN, columns: 96 })
      .trimEnd()
      .split("\n")
      .map((line) => `    ${line}`),
  ]);
  const found = views.flatMap(({ merchant, errors }) =>
    errors.flatMap(({ message, hint }) => [
      ...hanging(`${oneLine(merchant)}: ${oneLine(message)}`, "- ", "-   "),
      ...(hint === null ? [] : hanging(oneLine(hint), "    → ", "      ")),
    ]),
  );
  const count = unplanned.length + views.reduce((sum, { errors }) => sum + errors.length, 0);
  return block(`❌ ${counted(count, "problem")} to solve before it can be applied`, [...unread, ...found]);
}

function brokenRules(input: ReviewInput): readonly RiskBlock[] {
  const count = input.views.reduce((sum, view) => sum + view.refusals.length, 0);
  return block(`⛔ Live access breaks ${counted(count, "rule")}`, refusalLines(input));
}

function refusals(input: ReviewInput): readonly RiskBlock[] {
  const count = input.views.reduce((sum, view) => sum + view.refusals.length, 0);
  return block(`⛔ An apply would be refused, for ${counted(count, "reason")}`, refusalLines(input));
}

function refusalLines({ views }: ReviewInput): readonly string[] {
  return views.flatMap(({ merchant, refusals: all }) =>
    all.flatMap(({ rule, code, message, hint, allow, place }) => [
      ...hanging(`${oneLine(merchant)}: ${rule} ${code}: ${oneLine(message)}`, "- ", "-   "),
      ...(place === null ? [] : [`    written at ${oneLine(place)}`]),
      ...hanging(oneLine(hint), "    → ", "      "),
      ...(allow === null ? [] : [`    → To override: apply --allow ${oneLine(shellWord(allow))}`]),
    ]),
  );
}

function risksOfKind({ views }: ReviewInput, kind: RiskKind, origin: ChangeOrigin): readonly RiskBlock[] {
  const sign = kind === "removals" ? "-" : "+";
  const items = views.flatMap(({ merchant, risks }) =>
    risks
      .filter((risk) => risk.kind === kind && risk.origin === origin)
      .flatMap((risk) => risk.items.map((item) => ({ ...item, merchant }))),
  );
  const lines = items.flatMap(({ merchant, name, what, resource }) =>
    hanging(
      `${oneLine(merchant)}: ${resource} ${oneLine(name)}${what === "" ? "" : `: ${oneLine(what)}`}`,
      `${sign} `,
      `${sign}   `,
    ),
  );
  return block(`⚠️ ${riskTitle(kind, items, origin)}`, lines);
}

function block(title: string, lines: readonly string[]): readonly RiskBlock[] {
  return lines.length === 0 ? [] : [{ title, whole: `### ${title}\n\n${fenced("diff", lines)}` }];
}
