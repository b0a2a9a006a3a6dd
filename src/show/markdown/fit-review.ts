import { counted, grouped } from "../../lib/text.ts";
import { fenced } from "./markdown-blocks.ts";
import { type FoldDetail, foldText, type MerchantFold, WHOLE } from "./merchant-fold.ts";

/** A row of the table of merchants; a low rank comes first, and rank 5 is a merchant without changes. */
export interface ReviewRow {
  readonly text: string;
  /** Number of merchants. */
  readonly merchants: number;
  readonly rank: number;
}

/** Risks of one kind, or equal changes; the title alone has their number. */
export interface RiskBlock {
  readonly title: string;
  /** The lines of each item, for a diff. */
  readonly items: readonly (readonly string[])[];
  /** The lines of each item with fewer names; absent: the same. */
  readonly shortItems?: readonly (readonly string[])[];
}

/** Returns a block, or its first items with fewer names and the number of the others. */
export function blockText({ title, items, shortItems = items }: RiskBlock, shown?: number): string {
  const most = shown ?? items.length;
  // An item is shown if the count would replace only that item.
  const more = items.length > most + 1 ? items.length - most : 0;
  const listed = shown === undefined ? items : shortItems;
  const lines =
    more === 0 ? listed.flat() : [...listed.slice(0, most).flat(), `  … and ${grouped(more)} more`];
  return `### ${title}\n\n${fenced("diff", lines)}`;
}

/** The maximum lengths of the lists of a review, tried one after the other. */
const LIST_CUTS = [200, 60, 20, 8];

/** Steps by which the parts of merchants are cut: lists of names first, then changes, then their fields. */
const FOLD_CUTS: readonly FoldDetail[] = [
  ...[1000, 500, ...LIST_CUTS].map((names) => ({ ...WHOLE, names })),
  ...[1400, 1000, 700, 500, 350, 250, 175, 125, 90, 60].map((rows) => ({ names: 8, rows, fields: true })),
  ...[60, 20, 8].map((rows) => ({ names: 8, rows, fields: false })),
];

/** The parts of a review; each is complete Markdown by itself. */
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
  readonly folds: readonly MerchantFold[];
  readonly command: "plan" | "drift";
}

const COLUMNS = {
  plan: "| Merchant | Outcome | Create | Update | Replace | Delete | Unchanged | Risks |",
  drift: "| Merchant | Outcome | Added | Changed | Not live | Others | Unchanged | Risks |",
};

function tableHead(command: Parts["command"]): string {
  return `${COLUMNS[command]}\n|---|---|--:|--:|--:|--:|--:|--:|`;
}

/** A merchant's part in its current form. */
interface ShownFold {
  readonly fold: MerchantFold;
  text: string;
  detail: FoldDetail;
}

/** Returns whether a merchant's part has lists that are longer than their maximum. */
function isLonger({ names, rows }: MerchantFold, cut: FoldDetail, by = 0): boolean {
  return names > cut.names + by || rows > cut.rows + by;
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
  readonly fields: number;
  readonly ends: number;
  readonly folds: number;
  readonly rows: number;
  readonly impact: number;
  readonly risks: number;
}

/** Joins the parts, leaving out the least important until they fit, and names what is missing. */
export function fitReview(parts: Parts, maxSize: number): string {
  const rows = [...parts.rows];
  const folds: readonly ShownFold[] = parts.folds.map((fold) => ({
    fold,
    text: foldText(fold, WHOLE),
    detail: WHOLE,
  }));
  const risks = parts.risks.map((risk) => ({ ...risk, text: blockText(risk) }));
  const names = { text: parts.names[0] ?? "" };
  const impact = { text: parts.impact };
  const rules = parts.rules === "" ? [] : [parts.rules];
  const cut = {
    names: 0,
    lists: 0,
    unchanged: 0,
    fields: 0,
    ends: 0,
    folds: 0,
    rows: 0,
    impact: 0,
    risks: 0,
  };
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
  const countFold = ({ fold, text, detail }: ShownFold, by: 1 | -1): void => {
    if (text === "") cut.folds += by;
    else {
      if (!detail.fields) cut.fields += by;
      if (isLonger(fold, detail, 1)) cut.ends += by;
    }
  };
  /** Shortens the largest first, so that as few merchants as possible lose something; `null` leaves them out. */
  const shortenFolds = (detail: FoldDetail | null): void => {
    for (const fold of folds.toSorted((a, b) => b.text.length - a.text.length)) {
      if (fits()) return;
      if (detail?.fields && !isLonger(fold.fold, detail)) continue;
      countFold(fold, -1);
      exchange(fold, detail === null ? "" : foldText(fold.fold, detail));
      fold.detail = detail ?? fold.detail;
      countFold(fold, 1);
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
  for (const detail of [...FOLD_CUTS, null]) shortenFolds(detail);
  while (!fits() && rows.length > 0) {
    dropRow();
    cut.rows += 1;
  }
  if (rows.length === 0 && parts.rows.length > 0) size -= tableHead(parts.command).length + GAP;
  if (!fits() && impact.text !== "") {
    exchange(impact, "");
    cut.impact = 1;
  }
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
  const omitted = [
    cut.names > 0 ? "names behind equal changes" : "",
    cut.lists > 0 ? `the ends of ${counted(cut.lists, "list")}, whose totals are above` : "",
    cut.unchanged > 0 ? `${merchants(cut.unchanged)} without changes` : "",
    cut.ends > 0 ? `the ends of lists of ${merchants(cut.ends)}` : "",
    cut.fields > 0 ? `the field diffs of ${merchants(cut.fields)}` : "",
    cut.folds > 0 ? `all changes of ${merchants(cut.folds)}` : "",
    cut.rows > 0 ? `${counted(cut.rows, "row")} of the table of merchants` : "",
    cut.impact > 0 ? "the table of permissions" : "",
    cut.risks > 0 ? `the names in ${counted(cut.risks, "list")} of risks, whose totals are above` : "",
  ].filter((part) => part !== "");
  if (omitted.length === 0) return "";
  return `> **Left out to keep this short:** ${omitted.join("; ")}. \`rolecall ${command} --verbose\` shows everything, and \`--merchant CODE\` one merchant.`;
}
