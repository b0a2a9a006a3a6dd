import { createHash } from "node:crypto";
import { oneLine } from "../../lib/escape.ts";
import { counted, sortNaturally } from "../../lib/text.ts";
import type { UnplannedView } from "../markdown/review-sections.ts";
import { groupUnread } from "../text/failure-text.ts";
import { dateLines, LATER_TITLE, type LaterView } from "../view/date-lines.ts";
import { countReasons, type FleetView, fleetView } from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import { addCounts, countsText } from "../view/plan-view.ts";
import { ASSETS, type PageAssets } from "./assets.ts";
import { escapeHtml, fleetSection } from "./fleet-html.ts";
import { type PageData, type PageMerchantInput, pageMerchant } from "./page-data.ts";

/** The origin of a page: user, machine and commit, as far as they are known. */
export interface PageOrigin {
  readonly version: string;
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly user: string | null;
  readonly host: string;
  /** If not clean, files differed from the commit. */
  readonly commit: { readonly id: string; readonly clean: boolean } | null;
  /** URL of the CI run. */
  readonly job: string | null;
}

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
  const policy = [
    "default-src 'none'",
    `script-src '${assets.scriptHash}'`,
    `style-src '${assets.styleHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${assets.style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<div class="heading">
<h1>${escapeHtml(title)}</h1>
<p class="facts">${factsOf(input)}</p>
</div>
<div id="picker"></div>
</header>
<main id="content" tabindex="-1">
<div id="shared">
${[noticesOf(input, fleet), laterSection(input.later ?? []), fleetSection(fleet)].filter((part) => part !== "").join("\n")}
</div>
<div id="app"></div>
<noscript><p class="notice error">This page needs JavaScript. To see a plan without it, run rolecall plan --format markdown.</p></noscript>
${originOf(input, json)}
</main>
<script type="application/json" id="data">${json}</script>
<script>${assets.script}</script>
</body>
</html>
`;
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

function factsOf({ about, merchants, now }: PageInput): string {
  const source = {
    plan: "Live state and plan",
    live: "Live state",
    declared: "Declared in the files; not compared with the live state",
  };
  const services = [...new Set(merchants.flatMap(({ report }) => report.service ?? []))];
  const environments = [...new Set(merchants.flatMap(({ report }) => report.environment ?? []))];
  const moment = new Date(now).toISOString();
  const time = `<time datetime="${moment}">${moment.slice(0, 16).replace("T", " ")} UTC</time>`;
  const facts = [source[about], ...environments, ...services].map(escapeHtml);
  return [...facts, time].join('<span aria-hidden="true"> · </span>');
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

/** Says who created the page from which data; the hash is that of the text between the tags of the data. */
function originOf({ origin, now }: PageInput, json: string): string {
  const moment = new Date(origin?.time ?? now).toISOString();
  const commit = origin?.commit;
  const facts = [
    ["Made by", origin?.user],
    ["On", origin?.host],
    ["Job", origin?.job],
    ["From commit", commit && `${commit.id}${commit.clean ? "" : ", with changes since"}`],
    ["At", `${moment.slice(0, 19).replace("T", " ")} UTC`],
    ["With rolecall", origin?.version],
    ["Data, SHA-256", createHash("sha256").update(json).digest("hex")],
  ] as const;
  const items = facts.flatMap(([label, value]) =>
    value === undefined || value === null ? [] : `<div><dt>${label}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl class="origin">${items.join("")}</dl>`;
}
