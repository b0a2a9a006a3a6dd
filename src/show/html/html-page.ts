import { oneLine } from "../../lib/escape.ts";
import { counted, sortNaturally } from "../../lib/text.ts";
import { groupUnread } from "../documents/failure.ts";
import type { UnplannedView } from "../markdown/review-sections.ts";
import { dateLines, LATER_TITLE, type LaterView } from "../view/date-lines.ts";
import { countReasons, type FleetView, fleetView } from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import { addCounts, countsText } from "../view/plan-view.ts";
import { ASSETS, type PageAssets } from "./assets.ts";
import { escapeHtml, fleetSection } from "./fleet-html.ts";
import { type PageData, type PageMerchantInput, pageMerchant } from "./page-data.ts";
import { originOf, type PageOrigin, pageFrame, timeTag } from "./page-frame.ts";

/** The content of a page. */
export interface PageInput {
  /** `declared`: from the files alone. */
  readonly about: "plan" | "live" | "declared";
  readonly merchants: readonly PageMerchantInput[];
  readonly unplanned: readonly UnplannedView[];
  readonly fileErrors: number;
  /** Sentences about what the files ignore. */
  readonly ignored?: readonly string[];
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The fingerprint over all plans of the run. */
  readonly run?: string;
  /** Absent: unknown. */
  readonly origin?: PageOrigin;
  /** Changes that dates in the files bring soon. */
  readonly later?: readonly LaterView[];
}

/** Returns one self-contained page, which loads nothing and runs only its own script and style. */
export function renderPage(input: PageInput, assets: PageAssets = ASSETS): string {
  const { now } = input;
  const merchants = sortNaturally(input.merchants, ({ report }) => report.merchant);
  const data: PageData = { now, about: input.about, merchants: merchants.map(pageMerchant) };
  const json = scriptJson(data);
  const title = titleOf(input);
  const fleet = fleetView(
    merchants.flatMap(({ view }) => view ?? []),
    input.run === undefined ? {} : { run: input.run },
  );
  return pageFrame(
    {
      title,
      facts: factsOf(input),
      head: '<div id="picker"></div>\n',
      main: `<div id="shared">
${[noticesOf(input, fleet), laterSection(input.later ?? []), fleetSection(fleet)].filter((part) => part !== "").join("\n")}
</div>
<div id="app"></div>
<noscript><p class="notice error">This page needs JavaScript. To see a plan without it, run rolecall plan --format markdown.</p></noscript>
${originOf(input.origin, now, json)}`,
      end: `<script type="application/json" id="data">${json}</script>
<script>${assets.script}</script>
`,
    },
    assets,
  );
}

/** Returns JSON for a script element that cannot end the element, begin a comment, or break a line of script. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function titleOf({ about, merchants }: PageInput): string {
  const [only] = merchants;
  const where = merchants.length === 1 && only ? only.report.merchant : counted(merchants.length, "merchant");
  return `${about === "plan" ? "Access plan" : "Access report"}: ${where}`;
}

function factsOf({ about, merchants, now }: PageInput): readonly string[] {
  const source = {
    plan: "Live state and plan",
    live: "Live state",
    declared: "Declared in the files; not compared with the live state",
  };
  const services = [...new Set(merchants.flatMap(({ report }) => report.service ?? []))];
  const environments = [...new Set(merchants.flatMap(({ report }) => report.environment ?? []))];
  const people = merchants.length < 2 ? [] : [counted(countPeople(merchants), "person", "people")];
  return [...[source[about], ...environments, ...services, ...people].map(escapeHtml), timeTag(now)];
}

/** Returns how many people have access, each person once, whatever the number of merchants. */
function countPeople(merchants: PageInput["merchants"]): number {
  const names = merchants.flatMap(({ report }) =>
    report.members.flatMap(({ name, before, after }) =>
      before === null && after === null ? [] : [name.toLowerCase()],
    ),
  );
  return new Set(names).size;
}

function noticesOf(
  { about, merchants, unplanned, fileErrors, ignored = [] }: PageInput,
  fleet: FleetView,
): string {
  const views = merchants.flatMap(({ view }) => view ?? []);
  const refusals = views.reduce((sum, view) => sum + view.refusals.length, 0);
  const errors = views.reduce((sum, view) => sum + view.errors.length, 0);
  const notices = [
    ...(fileErrors > 0
      ? [["error", `The files have ${counted(fileErrors, "error")}: rolecall validate lists them.`]]
      : []),
    ...groupUnread(unplanned).map((group) => [
      "error",
      `${namesText(group.merchants)} could not be read: ${group.first.message}`,
    ]),
    ...(errors > 0 ? [["error", `${counted(errors, "problem")} to fix before it can be applied.`]] : []),
    ...(refusals > 0
      ? [["error", `An apply would be refused, for ${counted(countReasons(fleet), "reason")}.`]]
      : []),
    ...(about === "plan"
      ? [["plain", `Plan: ${countsText(addCounts(views.map(({ counts }) => counts)))}.`]]
      : []),
    ...ignored.map((text) => ["plain", text]),
  ] as const;
  return notices
    .map(([kind = "", text = ""]) => `<p class="notice ${kind}">${escapeHtml(text)}</p>`)
    .join("\n");
}

const DATES_SHOWN = 10;

function laterSection(later: readonly LaterView[]): string {
  const { lines, more, refused } = dateLines(later, DATES_SHOWN, oneLine);
  if (lines.length === 0) return "";
  const items = [...lines, ...(more > 0 ? [`and ${counted(more, "more date")}`] : [])];
  return [
    `<section><h2>${escapeHtml(LATER_TITLE)}</h2>`,
    `<ul>${items.map((line) => `<li>${escapeHtml(line)}</li>`).join("")}</ul>`,
    ...refused.map((line) => `<p class="notice error">${escapeHtml(line)}</p>`),
    "</section>",
  ].join("\n");
}
