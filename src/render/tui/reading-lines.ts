import { counted, grouped } from "../../lib/text.ts";
import type { Style } from "../style.ts";
import { spanText } from "../view/apply-progress.ts";
import {
  merchantsIn,
  type ReadingMerchant,
  type ReadingView,
  type RequestMetrics,
  rateText,
} from "../view/reading-progress.ts";
import { line, type Piece, padded, type Size, shown, widthOf } from "./cells.ts";

const MOST_ROWS = 12;
const WIDEST_CODE = 24;

/** Returns the board of reading: totals, the merchants of interest, and waits. */
export function readingLines(view: ReadingView, { columns, rows }: Size, style: Style): readonly string[] {
  const { merchants, metrics } = view;
  const shownRows = Math.max(Math.min(MOST_ROWS, rows - 5), 1);
  const order = [...merchants].sort((one, other) => RANK[one.state] - RANK[other.state]);
  const visible = order.slice(0, shownRows);
  const width = Math.min(
    WIDEST_CODE,
    Math.max(...visible.map(({ merchant }) => widthOf(shown(merchant))), 0),
  );
  return [
    line(headline(view, style), columns),
    ...visible.map((merchant) => line(merchantPieces(merchant, width, style), columns)),
    ...hiddenLine(order.slice(shownRows), columns, style),
    ...waitLines(metrics, columns, style),
  ];
}

/** Sort order of merchants: failures first, then those in progress. */
const RANK: Readonly<Record<ReadingMerchant["state"], number>> = {
  failed: 0,
  reading: 1,
  waiting: 2,
  read: 3,
};

function headline(view: ReadingView, style: Style): readonly Piece[] {
  const { merchants, metrics } = view;
  const [read, failed] = [merchantsIn(view, "read"), merchantsIn(view, "failed")];
  const members = merchants.reduce((sum, one) => sum + one.members, 0);
  const total = merchants.reduce((sum, one) => sum + (one.total ?? one.members), 0);
  const known =
    total > members ? `${grouped(members)} of ${counted(total, "member")}` : counted(members, "member");
  const sums = merchants.length === 1 ? "" : `: ${grouped(read)} read`;
  return [
    [`Reading ${counted(merchants.length, "merchant")}`, style.bold],
    [sums],
    [failed === 0 ? "" : `, ${grouped(failed)} failed`, style.red],
    [` · ${known} · ${counted(metrics.requests, "request")}${rateText(metrics.perSecond)}`],
  ];
}

function merchantPieces(
  { merchant, state, members, total, problem }: ReadingMerchant,
  width: number,
  style: Style,
): readonly Piece[] {
  const code = `${padded(shown(merchant), width)}  `;
  switch (state) {
    case "waiting":
      return [[`  · ${code}`], ["queued", style.dim]];
    case "reading": {
      const pages =
        total === null ? counted(members, "member") : `${grouped(members)} of ${counted(total, "member")}`;
      return [["  … ", style.cyan], [code], [members === 0 && total === null ? "asks" : pages]];
    }
    case "read":
      return [["  ✓ ", style.green], [code], [`${counted(members, "member")} read`]];
    case "failed":
      return [["  ✗ ", style.red], [code], [`failed: ${shown(problem)}`, style.red]];
    default:
      return state satisfies never;
  }
}

function hiddenLine(hidden: readonly ReadingMerchant[], columns: number, style: Style): readonly string[] {
  if (hidden.length === 0) return [];
  const of = (state: ReadingMerchant["state"], word: string): readonly string[] => {
    const count = hidden.filter((one) => one.state === state).length;
    return count === 0 ? [] : [`${grouped(count)} ${word}`];
  };
  const parts = [
    ...of("failed", "failed"),
    ...of("reading", "in progress"),
    ...of("waiting", "waiting"),
    ...of("read", "read"),
  ];
  return [
    line([[`    and ${counted(hidden.length, "merchant")} more: ${parts.join(", ")}`, style.dim]], columns),
  ];
}

/** Returns a line for each wait, with the seconds left. */
export function waitLines({ waits }: RequestMetrics, columns: number, style: Style): readonly string[] {
  return waits.map(({ reason, ms }) =>
    line([[`  waiting ${spanText(ms)}: ${shown(reason)}`, style.yellow]], columns),
  );
}
