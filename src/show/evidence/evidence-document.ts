import { counted } from "../../lib/text.ts";
import type { Evidence } from "../../model/evidence.ts";
import { below, type Document, fold, sentence, toned } from "../blocks/block.ts";
import { evidenceCaveats, gapCount, gapGroups, minuteText, periodText } from "./evidence-view.ts";

/** Returns the gaps of a period, how much else there is, and what could not be known. */
export function evidenceDocument(evidence: Evidence): Document {
  const { gaps, changes, runs, commits } = evidence;
  const groups = gapGroups(evidence).map((group) => {
    const count = toned(group.gaps.length > 0 ? "yellow" : "dim", gapCount(group));
    const texts = group.gaps.map(({ at, merchant, what, run, commit }) => {
      const origin = run ?? commit?.slice(0, 12);
      return `${minuteText(at)}  ${merchant === null ? "" : `${merchant}: `}${what}${origin ? ` (${origin})` : ""}.`;
    });
    return below(
      [`${group.title}: `, count],
      texts.map((text) => sentence(text)),
    );
  });
  const sums = `${counted(changes.length, "change")} of access, ${counted(runs.length, "run")} and ${counted(commits.length, "commit")} of the files: see --format html or csv.`;
  return [
    [fold(`Evidence of ${periodText(evidence)}: ${counted(gaps.length, "gap")}`, groups)],
    [sentence(sums), ...evidenceCaveats(evidence).map((text) => sentence(`note: ${text}`, { tone: "dim" }))],
  ];
}
