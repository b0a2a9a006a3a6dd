import { createHash } from "node:crypto";
import { ASSETS, type PageAssets } from "./assets.ts";
import { escapeHtml } from "./fleet-html.ts";

/** The origin of a page: user, machine and commit, as far as they are known. */
export interface PageOrigin {
  readonly version: string;
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly user: string | null;
  readonly host: string;
  /** Not clean: files differed from the commit. */
  readonly commit: { readonly id: string; readonly clean: boolean } | null;
  /** URL of the CI run. */
  readonly job: string | null;
}

/** The parts of a page; all but the title are HTML. */
export interface PageParts {
  readonly title: string;
  readonly facts: readonly string[];
  /** Beside the heading. */
  readonly head?: string;
  readonly main: string;
  /** After the content: data and a script. Absent for a page that runs none. */
  readonly end?: string;
}

/** Returns one self-contained page, which loads nothing and runs only its own script and style. */
export function pageFrame(
  { title, facts, head = "", main, end }: PageParts,
  assets: PageAssets = ASSETS,
): string {
  const policy = [
    "default-src 'none'",
    ...(end === undefined ? [] : [`script-src '${assets.scriptHash}'`]),
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
<p class="facts">${facts.join('<span aria-hidden="true"> · </span>')}</p>
</div>
${head}</header>
<main id="content" tabindex="-1">
${main}
</main>
${end ?? ""}</body>
</html>
`;
}

/** Returns a time to the minute, in UTC. */
export function timeTag(time: number): string {
  const moment = new Date(time).toISOString();
  return `<time datetime="${moment}">${moment.slice(0, 16).replace("T", " ")} UTC</time>`;
}

/** Says who made the page from what; `json` is its data, whose hash it names. */
export function originOf(origin: PageOrigin | undefined, now: number, json: string): string {
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
