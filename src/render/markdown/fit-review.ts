import { counted, grouped } from "../../lib/text.ts";
import { fenced } from "./markdown-blocks.ts";

/** The least size of a review, in UTF-16 units: the verdict, the number of each risk, and what was left out. */
export const MIN_REVIEW_SIZE = 1500;

/** The size that fits into a comment of common code hosts, in UTF-16 units. */
export const DEFAULT_REVIEW_SIZE = 60_000;

/** A row of the table of merchants; a low rank comes first, and rank 5 is a merchant without changes. */
export interface ReviewRow {
  readonly text: string;
  /** Number of merchants. */
  readonly merchants: number;
  readonly rank: number;
}

/** The folded part of one merchant, in decreasing detail. */
export interface Fold {
  readonly whole: string;
  readonly withoutDetails: string;
  readonly withoutPeople: string;
}

/** Risks of one kind, or equal changes; the title alone has their number. */
export interface RiskBlock {
  readonly title: string;
  /** The lines of each item, for a diff. */
  readonly items: readonly (readonly string[])[];
}

/** Returns a block with its first items, and the number of the others. */
export function blockText({ title, items }: RiskBlock, shown: number = Number.POSITIVE_INFINITY): string {
  // Nothing is counted that could be shown in the place of it.
  const more = items.length > shown + 1 ? items.length - shown : 0;
  const lines =
    more === 0 ? items.flat() : [...items.slice(0, shown).flat(), `  … and ${grouped(more)} more`];
  return `### ${title}\n\n${fenced("diff", lines)}`;
}

/** The numbers of items that the lists of a review are cut to, one after the other. */
const LIST_CUTS = [200, 60, 20, 8];

/** The parts of a review; each is whole Markdown of its own. */
export interface Parts {
  readonly verdict: string;
  /** The section about the rules, which is never left out; may be empty. */
  readonly rules: string;
  /** The most severe first. */
  readonly risks: readonly RiskBlock[];
  /** The effect on people as a table; may be empty. */
  readonly impact: string;
  /** The full lists of names behind equal changes, in decreasing detail; empty if they are all shown. */
  readonly names: readonly string[];
  /** Sorted by rank. */
  readonly rows: readonly ReviewRow[];
  readonly folds: readonly Fold[];
  readonly command: "plan" | "drift";
}

const COLUMNS = {
  plan: "| Merchant | Outcome | Create | Update | Replace | Delete | Unchanged | Risks |",
  drift: "| Merchant | Outcome | Added | Changed | Not live | Others | Unchanged | Risks |",
};

function tableHead(command: Parts["command"]): string {
  return `${COLUMNS[command]}\n|---|---|--:|--:|--:|--:|--:|--:|`;
}

const UNCHANGED = 5;
/** Between two parts, and at the end. */
const GAP = 2;
const END = 1;

/** The number of parts left out so far, by kind. */
interface Cut {
  readonly names: number;
  readonly lists: number;
  readonly unchanged: number;
  readonly details: number;
  readonly people: number;
  readonly folds: number;
  readonly rows: number;
  readonly risks: number;
}

/** Joins the parts, leaving out the least important until they fit, and names what is missing. */
export function fitReview(parts: Parts, maxSize: number): string {
  const rows = [...parts.rows];
  const folds = parts.folds.map((fold) => ({ fold, text: fold.whole }));
  const risks = parts.risks.map((risk) => ({ ...risk, text: blockText(risk) }));
  const names = { text: parts.names[0] ?? "" };
  const impact = { text: parts.impact };
  const rules = parts.rules === "" ? [] : [parts.rules];
  const cut = { names: 0, lists: 0, unchanged: 0, details: 0, people: 0, folds: 0, rows: 0, risks: 0 };
  let size = [parts.verdict, ...rules, ...[...risks, impact, names, ...folds].map(({ text }) => text)]
    .filter((text) => text !== "")
    .map((text) => text.length + GAP)
    .concat(
      tableHead(parts.command).length + GAP,
      rows.map(({ text }) => text.length + 1),
    )
    .reduce((sum, length) => sum + length, END - GAP);
  const fits = (): boolean => {
    const notice = noticeText(cut, parts.command).length;
    return size + (notice === 0 ? 0 : notice + GAP) <= maxSize;
  };
  const exchange = (entry: { text: string }, text: string): void => {
    if (entry.text === "") return;
    size += text === "" ? -(entry.text.length + GAP) : text.length - entry.text.length;
    entry.text = text;
  };
  const dropRow = (): number => {
    const row = rows.pop();
    size -= (row?.text.length ?? 0) + 1;
    return row?.merchants ?? 0;
  };
  /** Shortens the largest first, so that as few merchants as possible lose detail. */
  const shorten = (to: (fold: Fold) => string, what: "details" | "people" | "folds"): void => {
    const saving = new Map(folds.map((one) => [one, one.text.length - to(one.fold).length]));
    for (const one of [...folds].sort((a, b) => (saving.get(b) ?? 0) - (saving.get(a) ?? 0))) {
      if (fits()) return;
      if (one.text === to(one.fold)) continue;
      exchange(one, to(one.fold));
      cut[what] += 1;
    }
  };

  const shortenLists = (): void => {
    for (const shorter of [...parts.names.slice(1), ""]) {
      if (fits() || names.text === "") break;
      exchange(names, shorter);
      cut.names += 1;
    }
    for (const shown of LIST_CUTS) {
      for (const risk of risks.toSorted((a, b) => b.text.length - a.text.length)) {
        if (!fits()) exchange(risk, blockText(risk, shown));
      }
    }
    cut.lists = risks.filter((risk) => risk.text !== blockText(risk)).length;
  };

  shortenLists();
  if (!fits()) {
    while (rows.at(-1)?.rank === UNCHANGED) cut.unchanged += dropRow();
  }
  shorten(({ withoutDetails }) => withoutDetails, "details");
  shorten(({ withoutPeople }) => withoutPeople, "people");
  shorten(() => "", "folds");
  while (!fits() && rows.length > 0) {
    dropRow();
    cut.rows += 1;
  }
  if (rows.length === 0 && parts.rows.length > 0) size -= tableHead(parts.command).length + GAP;
  if (!fits()) exchange(impact, "");
  for (const risk of [...risks].reverse()) {
    if (fits()) break;
    exchange(risk, `### ${risk.title}`);
    cut.risks += 1;
  }
  return [
    parts.verdict,
    ...rules,
    ...[...risks, impact].map(({ text }) => text),
    ...(rows.length > 0 ? [[tableHead(parts.command), ...rows.map(({ text }) => text)].join("\n")] : []),
    ...[names, ...folds].map(({ text }) => text),
    noticeText(cut, parts.command),
  ]
    .filter((text) => text !== "")
    .join("\n\n")
    .concat("\n");
}

function noticeText(cut: Cut, command: Parts["command"]): string {
  const merchants = (count: number): string => counted(count, "merchant");
  const left = [
    cut.names > 0 ? "names behind equal changes" : "",
    cut.lists > 0 ? `the ends of ${counted(cut.lists, "list")}, whose totals are above` : "",
    cut.unchanged > 0 ? `${merchants(cut.unchanged)} without changes` : "",
    cut.details > 0 ? `the field diffs of ${merchants(cut.details)}` : "",
    cut.people > 0 ? `the people of ${merchants(cut.people)}` : "",
    cut.folds > 0 ? `all changes of ${merchants(cut.folds)}` : "",
    cut.rows > 0 ? `${counted(cut.rows, "row")} of the table of merchants` : "",
    cut.risks > 0 ? `the names in ${counted(cut.risks, "list")} of risks, whose totals are above` : "",
  ].filter((part) => part !== "");
  if (left.length === 0) return "";
  return `> **Left out to keep this short:** ${left.join("; ")}. \`rolecall ${command} --verbose\` shows everything, and \`--merchant CODE\` one merchant.`;
}
