import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Style, Verbosity } from "../style.ts";
import { addSums, type DriftView, differencesIn, knownDriftText } from "../view/drift-view.ts";
import type { CutGroups } from "../view/equal-changes.ts";
import { fleetView, MIN_FLEET } from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import { deferredText } from "../view/plan-view.ts";
import { renderImpact } from "./impact-text.ts";
import {
  renderFindings,
  renderGroups,
  renderHeading,
  renderHiddenRows,
  renderRefusals,
  renderRisks,
} from "./plan-text.ts";
import { type FleetFormat, renderFleet } from "./plans-text.ts";
import { hangingLines, withCutNote, wrapText } from "./wrap.ts";

/** Formats drifts: the rules that live access breaks, the differences, and the side that changed. */
export function renderDrifts(
  views: readonly DriftView[],
  style: Style,
  verbosity: Verbosity = "normal",
): string {
  const text = renderDriftsIn(views, style, verbosity);
  return verbosity === "verbose" ? text : withCutNote(text, views.length > 1, style);
}

function renderDriftsIn(views: readonly DriftView[], style: Style, verbosity: Verbosity): string {
  if (verbosity !== "verbose" && views.length >= MIN_FLEET) {
    return renderFleet(fleetView(views), DRIFTS, style, verbosity);
  }
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

const DRIFTS: FleetFormat<DriftView> = {
  block: renderDrift,
  total: renderDriftTotal,
  broken: "Live access breaks these rules:",
  heads: ["added", "others", "missing", "people", "risks"],
  counts: ["added", "others", "missing"],
};

function renderDriftTotal(views: readonly DriftView[], style: Style): readonly string[] {
  const drifted = views.filter(({ sums }) => differencesIn(sums) > 0).length;
  const broken = views.filter(({ sums }) => sums.violations > 0).map(({ merchant }) => merchant);
  const errors = views.some((view) => view.errors.length > 0);
  const text = knownDriftText(addSums(views), errors, "no drift");
  return [
    ...hangingLines(
      `${text}.`,
      style.columns,
      `${style.bold(`${counted(views.length, "merchant")}:`)} `,
      "  ",
    ),
    `${drifted} of ${counted(views.length, "merchant")} drifted.`,
    ...(broken.length > 0
      ? wrapText(`Live access breaks rules of ${oneLine(namesText(broken, 12))}.`, style.columns).map(
          style.red,
        )
      : []),
  ];
}

function renderDrift(
  view: DriftView & { readonly hidden?: CutGroups["hidden"] },
  style: Style,
  verbosity: Verbosity,
  note = "",
): string {
  const { hidden = [] } = view;
  const { refusals, origin } = view;
  const lines = [
    renderHeading(view, style),
    ...(refusals.length > 0 ? ["", `  ${style.red(style.bold("Live access breaks these rules:"))}`] : []),
    ...renderRefusals(refusals, style),
    ...(verbosity === "quiet"
      ? []
      : [
          ...renderImpact(view.impact, style, verbosity, origin),
          ...renderRisks(view.risks, style, verbosity),
          ...renderGroups(view, style),
          ...renderHiddenRows(hidden, style),
        ]),
    ...renderFindings(view, style, verbosity),
  ];
  if (verbosity !== "quiet" || lines.length > 1) lines.push("");
  lines.push(
    ...hangingLines(
      `${knownDriftText(view.sums, view.errors.length > 0, "none")}.${note}`,
      style.columns,
      `  ${style.bold("Drift:")} `,
      "    ",
    ),
  );
  if (view.deferred.length > 0) lines.push(` ${deferredText(view.deferred.length)}`);
  return `${lines.join("\n")}\n`;
}
