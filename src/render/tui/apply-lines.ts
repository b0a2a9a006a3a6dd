import { counted, grouped } from "../../lib/text.ts";
import type { Phase } from "../../model/apply.ts";
import type { Style } from "../style.ts";
import { type ApplyingMerchant, type ApplyView, applySums, spanText } from "../view/apply-progress.ts";
import { rateText } from "../view/reading-progress.ts";
import { line, type Piece, padded, type Size, shown, widthOf } from "./cells.ts";
import { waitLines } from "./reading-lines.ts";

const MOST_ROWS = 8;
const MOST_IN_FLIGHT = 4;
const WIDEST_CODE = 24;
const BAR = 16;

/** Returns the board of an apply: totals, each merchant's phase, changes in progress, and waits. */
export function applyLines(view: ApplyView, { columns, rows }: Size, style: Style): readonly string[] {
  const flying = Math.max(Math.min(MOST_IN_FLIGHT, rows - 6), 0);
  const most = Math.max(Math.min(MOST_ROWS, rows - flying - 5), 1);
  const order = [...view.merchants].sort((one, other) => RANK[one.state] - RANK[other.state]);
  const visible = order.slice(0, most);
  const width = Math.min(
    WIDEST_CODE,
    Math.max(...visible.map(({ merchant }) => widthOf(shown(merchant))), 0),
  );
  const hidden = order.length - visible.length;
  return [
    ...headlines(view, columns, style),
    ...visible.map((merchant) => line(merchantPieces(merchant, width, style), columns)),
    ...(hidden > 0 ? [line([[`    and ${counted(hidden, "merchant")} more`, style.dim]], columns)] : []),
    ...inFlightLines(view, flying, columns, style),
    ...waitLines(view.metrics, columns, style),
  ];
}

const RANK: Readonly<Record<ApplyingMerchant["state"], number>> = {
  stopped: 0,
  incomplete: 1,
  applying: 2,
  waiting: 3,
  done: 4,
};

function headlines(view: ApplyView, columns: number, style: Style): readonly string[] {
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

function merchantPieces(one: ApplyingMerchant, width: number, style: Style): readonly Piece[] {
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
