import { counted } from "../../lib/text.ts";
import type { Evidence } from "../../model/evidence.ts";
import { escapeHtml } from "../html/fleet-html.ts";
import { originOf, type PageOrigin, pageFrame, timeTag } from "../html/page-frame.ts";
import { RECORD_TRUST } from "../view/run-view.ts";
import {
  accessChangeText,
  CHANGE_VERBS,
  evidenceCaveats,
  evidenceJson,
  gapCount,
  gapGroups,
  minuteText,
  periodText,
  type ReviewView,
  reviewView,
  runnerOf,
} from "./evidence-view.ts";

/** Returns the evidence as one page to print, which runs no script. */
export function renderEvidencePage(evidence: Evidence, origin: PageOrigin): string {
  const { gaps, changes, runs, commits } = evidence;
  const asked = [...evidence.reviews.values()].map(({ asked }) => asked);
  const runById = new Map(runs.map((run) => [run.run, run]));
  const short = (id: string | null): string => (id ?? "").slice(0, 12);
  const tiles = gapGroups(evidence).map((group) => {
    const isUnknown = group.unasked !== null && group.gaps.length === 0;
    return `<div><dt>${group.title}</dt><dd${isUnknown ? ' class="unknown"' : ""}>${gapCount(group)}</dd></div>`;
  });
  const sections = [
    `<section><h2>Gaps</h2><dl class="tiles">${tiles.join("")}</dl></section>`,
    ...gapGroups(evidence)
      .filter((group) => group.gaps.length > 0)
      .map((group) =>
        tableSection(
          group.title,
          ["Time (UTC)", "Merchant", "What", "Run", "Commit"],
          group.gaps.map(({ at, merchant, what, run, commit }) => [
            minuteText(at),
            merchant ?? "",
            what,
            run ?? "",
            short(commit),
          ]),
        ),
      ),
    listSection("Not known", evidenceCaveats(evidence)),
    tableSection(
      `Changes of access (${changes.length})`,
      ["Time (UTC)", "Merchant", "What", "Run", "By", "Commit", ...REVIEW_HEADS],
      changes.map(({ at, merchant, change, run: id }) => {
        const run = runById.get(id ?? "");
        const what = `${change.resource} ${change.name} ${CHANGE_VERBS[change.kind]}${detail(accessChangeText({ change }))}`;
        const commit = run?.commit ?? null;
        const who = run === undefined ? "" : runnerOf(run);
        return [
          minuteText(at),
          merchant,
          what,
          id ?? "none: outside git",
          who,
          short(commit),
          ...reviewCells(reviewView(evidence, commit, run?.pulls)),
        ];
      }),
    ),
    tableSection(
      `Runs (${runs.length})`,
      ["Run", "Merchants", "Outcome", "By", "Job", "Commit", "Record", ...REVIEW_HEADS],
      runs.map((run) => [
        run.run,
        run.merchants.join(", "),
        run.outcome,
        runnerOf(run),
        run.job ?? "",
        short(run.commit),
        RECORD_TRUST[run.signature],
        ...reviewCells(reviewView(evidence, run.commit, run.pulls)),
      ]),
    ),
    tableSection(
      `Commits of the files (${commits.length})`,
      ["Time (UTC)", "Commit", "Author", "Subject", ...REVIEW_HEADS],
      commits.map(({ id, at, author, subject }) => [
        minuteText(at),
        short(id),
        author,
        subject,
        ...reviewCells(reviewView(evidence, id)),
      ]),
    ),
    `<div>${originOf(origin, origin.time, evidenceJson(evidence))}</div>`,
  ];
  const reviewed =
    asked.length === 0 ? "Reviews: not asked" : `Reviews as of ${minuteText(asked.sort().at(-1) ?? "")} UTC`;
  return pageFrame({
    title: `Evidence of access: ${periodText(evidence)}`,
    facts: [escapeHtml(counted(gaps.length, "gap")), escapeHtml(reviewed), timeTag(origin.time)],
    main: sections.filter((section) => section !== "").join("\n"),
  });
}

const REVIEW_HEADS = ["Pull requests", "Approved by", "Checks"];

function reviewCells({ pulls, approvedBy, checks }: ReviewView): readonly string[] {
  return [pulls, approvedBy, checks];
}

function detail(text: string): string {
  return text === "" ? "" : `: ${text}`;
}

function listSection(title: string, texts: readonly string[]): string {
  if (texts.length === 0) return "";
  const items = texts.map((text) => `<li>${escapeHtml(text)}</li>`).join("");
  return `<section class="block warning"><h2>${escapeHtml(title)}</h2><ul>${items}</ul></section>`;
}

function tableSection(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const body =
    rows.length === 0
      ? '<p class="empty">None.</p>'
      : `<table class="plain-table">
<thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join("")}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("")}</tr>`).join("\n")}
</tbody>
</table>`;
  return `<section><h3>${escapeHtml(title)}</h3>${body}</section>`;
}
