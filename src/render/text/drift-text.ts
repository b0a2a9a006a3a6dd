import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Style, Verbosity } from "../style.ts";
import { type DriftView, differencesIn, knownDriftText } from "../view/drift-view.ts";
import { deferredText } from "../view/plan-view.ts";
import { renderImpact } from "./impact-text.ts";
import { renderFindings, renderGroups, renderHeading, renderRefusal, renderRisks } from "./plan-text.ts";
import { hangingLines, wrapText } from "./wrap.ts";

/** Formats drifts: the rules that live access breaks, the differences, and the side that changed. */
export function renderDrifts(
  views: readonly DriftView[],
  style: Style,
  verbosity: Verbosity = "normal",
): string {
  const parts = views.map((view) => renderDrift(view, style, verbosity));
  const drifted = views.filter(({ sums }) => differencesIn(sums) > 0).length;
  const broken = views.filter(({ sums }) => sums.violations > 0).map(({ merchant }) => oneLine(merchant));
  if (views.length > 1) {
    parts.push(`${drifted} of ${counted(views.length, "merchant")} drifted.\n`);
    if (broken.length > 0) {
      const lines = wrapText(`Live access breaks rules of ${broken.join(", ")}.`, style.columns);
      parts.push(`${lines.map(style.red).join("\n")}\n`);
    }
  }
  return parts.join("\n");
}

function renderDrift(view: DriftView, style: Style, verbosity: Verbosity): string {
  const { refusals, origin } = view;
  const lines = [
    renderHeading(view, style),
    ...(refusals.length > 0 ? ["", `  ${style.red(style.bold("Live access breaks these rules:"))}`] : []),
    ...refusals.flatMap((refusal) => renderRefusal(refusal, style)),
    ...(verbosity === "quiet"
      ? []
      : [
          ...renderImpact(view.impact, style, verbosity, origin),
          ...renderRisks(view.risks, style, verbosity),
          ...renderGroups(view, style),
        ]),
    ...renderFindings(verbosity === "quiet" ? { ...view, warnings: [] } : view, style),
  ];
  if (verbosity !== "quiet" || lines.length > 1) lines.push("");
  lines.push(
    ...hangingLines(
      `${knownDriftText(view.sums, view.errors.length > 0, "none")}.`,
      style.columns,
      `  ${style.bold("Drift:")} `,
      "    ",
    ),
  );
  if (view.deferred.length > 0) lines.push(` ${deferredText(view.deferred.length)}`);
  return `${lines.join("\n")}\n`;
}
