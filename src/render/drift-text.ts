import type { Drift, DriftCause } from "../model/drift.ts";
import { driftView } from "./drift-view.ts";
import { renderFindings, renderHeading, renderRow } from "./plan-text.ts";
import type { Extent, Style } from "./style.ts";
import { counted, grouped } from "./words.ts";

/** How merchants differ from their files, by the side that moved; what an apply would do stands with each. */
export function renderDrifts(drifts: readonly Drift[], style: Style, extent: Extent = "normal"): string {
  const parts = drifts.map((drift) => renderDrift(drift, style, extent));
  const drifted = drifts.filter(({ changes }) => changes.length > 0).length;
  if (drifts.length > 1) parts.push(`${drifted} of ${counted(drifts.length, "merchant")} drifted.\n`);
  return parts.join("\n");
}

function renderDrift(drift: Drift, style: Style, extent: Extent): string {
  const view = driftView(drift);
  const groups = extent === "quiet" ? [] : view.groups;
  const lines = [
    renderHeading(view, style),
    ...groups.flatMap(({ title, rows }) => [
      "",
      `  ${style.bold(title)}`,
      ...rows.flatMap((row) => renderRow(row, style)),
    ]),
    ...renderFindings(extent === "quiet" ? { ...view, warnings: [] } : view, style),
  ];
  if (extent !== "quiet" || lines.length > 1) lines.push("");
  lines.push(`  ${style.bold("Drift:")} ${driftText(drift.changes.map(({ cause }) => cause))}`);
  return `${lines.join("\n")}\n`;
}

function driftText(causes: readonly DriftCause[]): string {
  if (causes.length === 0) return "none.";
  const of = (cause: DriftCause): number => causes.filter((one) => one === cause).length;
  const parts = [
    [of("outside-git"), "outside git"],
    [of("not-applied"), "not applied"],
    [of("unknown"), "not known"],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, what]) => `${grouped(count)} ${what}`);
  return `${counted(causes.length, "difference")} (${words.join(", ")}).`;
}
