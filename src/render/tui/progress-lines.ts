import { counted, grouped } from "../../lib/text.ts";
import type { Phase } from "../../model/apply.ts";
import type { Style } from "../style.ts";
import { type ApplyingMerchant, type ApplyView, applySums, spanText } from "../view/apply-progress.ts";
import {
  merchantsIn,
  type ReadingMerchant,
  type ReadingView,
  type RequestMetrics,
  rateText,
} from "../view/reading-progress.ts";
import { line, type Piece, padded, type Size, shown, widthOf } from "./terminal-text.ts";

/** Maximum number of merchants shown while reading, and while applying. */
const [READING_ROWS, APPLYING_ROWS] = [12, 8];
const MOST_IN_FLIGHT = 4;
const WIDEST_CODE = 24;
const BAR = 16;

/** Returns the board of reading: totals, the merchants of interest, and waits. */
export function readingLines(view: ReadingView, { columns, rows }: Size, style: Style): readonly string[] {
  const { merchants, metrics } = view;
  const shownRows = Math.max(Math.min(READING_ROWS, rows - 5), 1);
  const order = [...merchants].sort((one, other) => READING_RANK[one.state] - READING_RANK[other.state]);
  const visible = order.slice(0, shownRows);
  const width = Math.min(
    WIDEST_CODE,
    Math.max(...visible.map(({ merchant }) => widthOf(shown(merchant))), 0),
  );
  return [
    line(readingHeadline(view, style), columns),
    ...visible.map((merchant) => line(readingPieces(merchant, width, style), columns)),
    ...hiddenLine(order.slice(shownRows), columns, style),
    ...waitLines(metrics, columns, style),
  ];
}

const READING_RANK: Readonly<Record<ReadingMerchant["state"], number>> = {
  failed: 0,
  reading: 1,
  waiting: 2,
  read: 3,
};

function readingHeadline(view: ReadingView, style: Style): readonly Piece[] {
  const { merchants, count, metrics } = view;
  const [read, failed] = [merchantsIn(view, "read"), merchantsIn(view, "failed")];
  const members = merchants.reduce((sum, one) => sum + one.members, 0);
  const total = merchants.reduce((sum, one) => sum + (one.total ?? one.members), 0);
  const known =
    total > members ? `${grouped(members)} of ${counted(total, "member")}` : counted(members, "member");
  const sums = count === 1 ? "" : `: ${grouped(read)} read`;
  return [
    [`Reading ${counted(count, "merchant")}`, style.bold],
    [sums],
    [failed === 0 ? "" : `, ${grouped(failed)} failed`, style.red],
    [` · ${known} · ${counted(metrics.requests, "request")}${rateText(metrics.perSecond)}`],
  ];
}

function readingPieces(
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

/** Returns the board of an apply: totals, each merchant's phase, changes in progress, and waits. */
export function applyLines(view: ApplyView, { columns, rows }: Size, style: Style): readonly string[] {
  const flying = Math.max(Math.min(MOST_IN_FLIGHT, rows - 6), 0);
  const most = Math.max(Math.min(APPLYING_ROWS, rows - flying - 5), 1);
  const order = [...view.merchants].sort(
    (one, other) => APPLYING_RANK[one.state] - APPLYING_RANK[other.state],
  );
  const visible = order.slice(0, most);
  const width = Math.min(
    WIDEST_CODE,
    Math.max(...visible.map(({ merchant }) => widthOf(shown(merchant))), 0),
  );
  const hidden = order.length - visible.length;
  return [
    ...applyingHeadlines(view, columns, style),
    ...visible.map((merchant) => line(applyingPieces(merchant, width, style), columns)),
    ...(hidden > 0 ? [line([[`    and ${counted(hidden, "merchant")} more`, style.dim]], columns)] : []),
    ...inFlightLines(view, flying, columns, style),
    ...waitLines(view.metrics, columns, style),
  ];
}

/** Sort order of merchants: failures first, then those in progress. */
const APPLYING_RANK: Readonly<Record<ApplyingMerchant["state"], number>> = {
  stopped: 0,
  incomplete: 1,
  applying: 2,
  waiting: 3,
  done: 4,
};

function applyingHeadlines(view: ApplyView, columns: number, style: Style): readonly string[] {
  const { changes, done, failed } = applySums(view);
  const { metrics, perSecond, leftMs } = view;
  const sums: readonly Piece[] = [
    ["Applying", style.bold],
    [` ${counted(changes, "change")}: ${grouped(done)} done`],
    [failed === 0 ? "" : `, ${grouped(failed)} failed`, style.red],
  ];
  const pace: readonly Piece[] = [
    [rateText(perSecond)],
    [metrics.retries === 0 ? "" : ` · ${counted(metrics.retries, "retry", "retries")}`],
    [leftMs === null ? "" : ` · about ${spanText(leftMs)} left`],
  ];
  return [line([...sums, ...pace], columns)];
}

/** The verb shown for each phase. */
const DOING: Readonly<Record<Phase, string>> = {
  "free-names": "renames roles",
  "create-roles": "creates roles",
  "update-roles": "updates roles",
  "clear-invitations": "clears expired invitations",
  "write-members": "writes members",
  "set-passwords": "sets passwords",
  "delete-members": "removes members",
  "delete-roles": "removes roles",
};

function applyingPieces(one: ApplyingMerchant, width: number, style: Style): readonly Piece[] {
  const { merchant, state, changes, done, failed } = one;
  const code = `${padded(shown(merchant), width)}  `;
  const sum = `${bar(done, changes)} ${grouped(done)}/${grouped(changes)}  `;
  switch (state) {
    case "waiting":
      return [[`  · ${code}${sum}`], ["queued", style.dim]];
    case "applying":
      return [["  … ", style.cyan], [`${code}${sum}`], [phaseText(one)]];
    case "stopped":
      return [["  ✗ ", style.red], [`${code}${sum}`], [`stopped, ${grouped(failed)} failed`, style.red]];
    case "incomplete":
      return [
        ["  ! ", style.yellow],
        [`${code}${sum}`],
        [`${grouped(failed)} refused for the time being`, style.yellow],
      ];
    case "done":
      return [["  ✓ ", style.green], [`${code}${sum}`], [readAgainText(one)]];
    default:
      return state satisfies never;
  }
}

function phaseText({ phase, phaseEnded, phaseChanges }: ApplyingMerchant): string {
  return phase === null ? "" : `${DOING[phase]} ${grouped(phaseEnded)}/${grouped(phaseChanges)}`;
}

function readAgainText({ readAgain }: ApplyingMerchant): string {
  if (readAgain === null) return "done";
  const { members, total } = readAgain;
  return `verifying: ${grouped(members)}${total === null ? "" : ` of ${grouped(total)}`} members`;
}

/** `####....`: how much of it is done, also without colours. */
function bar(done: number, of: number): string {
  const full = of === 0 ? BAR : Math.floor((done / of) * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
}

function inFlightLines(
  { inFlight, merchants }: ApplyView,
  most: number,
  columns: number,
  style: Style,
): readonly string[] {
  const visible = inFlight.slice(0, most);
  const where = (merchant: string): string => (merchants.length === 1 ? "" : `  ${shown(merchant)}`);
  const more = inFlight.length - visible.length;
  return visible.map(({ merchant, change }, index) =>
    line(
      [
        [`    ${change.kind} ${change.resource} ${shown(change.name)}${where(merchant)}`, style.dim],
        [
          index === visible.length - 1 && more > 0 ? `, and ${grouped(more)} more in progress` : "",
          style.dim,
        ],
      ],
      columns,
    ),
  );
}

/** Returns a line for each wait, with the seconds left. */
function waitLines({ waits }: RequestMetrics, columns: number, style: Style): readonly string[] {
  return waits.map(({ reason, ms }) =>
    line([[`  waiting ${spanText(ms)}: ${shown(reason)}`, style.yellow]], columns),
  );
}
