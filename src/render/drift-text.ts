import type { Drift, DriftCause } from "../model/drift.ts";
import { rowOf } from "./change-view.ts";
import { renderFindings, renderHeading, renderRow } from "./plan-text.ts";
import { planView } from "./plan-view.ts";
import type { Style } from "./style.ts";
import { counted } from "./words.ts";

const TITLES: Readonly<Record<DriftCause, string>> = {
  "outside-git": "Changed outside git: live is newer than the file",
  "not-applied": "Merged, but not applied: the file is newer than what is live",
  unknown: "Different, and not known which side moved",
};
const CAUSES: readonly DriftCause[] = ["outside-git", "not-applied", "unknown"];

/** How merchants differ from their files, by the side that moved; what an apply would do stands with each. */
export function renderDrifts(drifts: readonly Drift[], style: Style): string {
  const parts = drifts.map((drift) => renderDrift(drift, style));
  const drifted = drifts.filter(({ changes }) => changes.length > 0).length;
  if (drifts.length > 1) parts.push(`${drifted} of ${counted(drifts.length, "merchant")} drifted.\n`);
  return parts.join("\n");
}

function renderDrift({ plan, changes }: Drift, style: Style): string {
  const view = planView(plan);
  const causes = new Map(changes.map(({ fingerprint, cause }) => [fingerprint, cause]));
  const lines = [renderHeading(view, style)];
  for (const cause of CAUSES) {
    const rows = plan.changes.filter(({ fingerprint }) => causes.get(fingerprint) === cause).map(rowOf);
    if (rows.length === 0) continue;
    lines.push("", `  ${style.bold(TITLES[cause])}`, ...rows.flatMap((row) => renderRow(row, style)));
  }
  lines.push(...renderFindings(view, style));
  lines.push("", `  ${style.bold("Drift:")} ${driftText(changes.map(({ cause }) => cause))}`);
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
  const words = parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count.toLocaleString("en-US")} ${what}`);
  return `${counted(causes.length, "difference")} (${words.join(", ")}).`;
}
