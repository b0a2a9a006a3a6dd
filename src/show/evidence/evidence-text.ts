import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Evidence } from "../../model/evidence.ts";
import type { Style } from "../style.ts";
import { hangingLines } from "../text/wrap.ts";
import { evidenceCaveats, gapCount, gapGroups, minuteText, periodText } from "./evidence-view.ts";

/** Formats the gaps of a period, how much else there is, and what could not be known. */
export function renderEvidence(evidence: Evidence, style: Style): string {
  const { gaps, changes, runs, commits } = evidence;
  const groups = gapGroups(evidence).flatMap((group) => {
    const count = gapCount(group);
    const paint = group.gaps.length > 0 ? style.yellow : style.dim;
    return [
      `  ${group.title}: ${paint(count)}`,
      ...group.gaps.flatMap(({ at, merchant, what, run, commit }) => {
        const origin = run ?? commit?.slice(0, 12);
        const text = `${merchant === null ? "" : `${merchant}: `}${what}${origin ? ` (${origin})` : ""}.`;
        return hangingLines(oneLine(text), style.columns, `    ${minuteText(at)}  `, "      ");
      }),
    ];
  });
  const sums = [
    counted(changes.length, "change"),
    counted(runs.length, "run"),
    counted(commits.length, "commit"),
  ];
  return [
    style.bold(`Evidence of ${periodText(evidence)}: ${counted(gaps.length, "gap")}`),
    ...groups,
    "",
    ...hangingLines(
      `${sums[0]} of access, ${sums[1]} and ${sums[2]} of the files: see --format html or csv.`,
      style.columns,
      "",
      "  ",
    ),
    ...evidenceCaveats(evidence).flatMap((text) =>
      hangingLines(oneLine(text), style.columns, "note: ", "  ").map(style.dim),
    ),
    "",
  ].join("\n");
}
