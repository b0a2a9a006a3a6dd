import { oneLine } from "../../../lib/escape.ts";
import { counted, grouped, naturally } from "../../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../../model/apply.ts";
import type { Style } from "../../style.ts";
import { type Ending, groupByKey, isComplete, type MerchantEnd } from "../../view/ending-view.ts";
import { namesText } from "../../view/equal-text.ts";
import { hangingLines, ROWS_SHOWN, wrapText } from "../wrap.ts";
import { causeBlocks, restBlocks } from "./causes-text.ts";
import { nextBlock } from "./next-step-text.ts";
import { openLines, verificationBlocks, verifiedText } from "./verification-text.ts";

/**
 * Formats how an apply ended, as the last lines of a run: what was done, what was not and why, what to do next, and how
 * to undo it. A cause that several changes or merchants share is told once.
 */
export function renderEnding(ending: Ending, style: Style): string {
  const ends = (ending.applied?.ends ?? []).toSorted((a, b) => naturally(a.plan.merchant, b.plan.merchant));
  const begun = new Set(ends.map(({ plan }) => plan.merchant));
  const skipped = ending.outcomes
    .filter(({ merchant, status }) => !begun.has(merchant) && (status === "failed" || status === "refused"))
    .toSorted((a, b) => naturally(a.merchant, b.merchant));
  const blocks = [
    headBlock(ending, style),
    ...causeBlocks(ends, style),
    ...restBlocks(ends, style),
    ...verificationBlocks(ends, style),
    ...skippedBlocks(skipped, begun.size > 0, style),
    nextBlock(ending, skipped, style),
  ].filter((lines) => lines.length > 0);
  const isShort = isComplete(ending.outcomes);
  const [before, between] = isShort ? ["", "\n"] : ["\n", "\n\n"];
  return `${before}${blocks.map((lines) => lines.join("\n")).join(between)}\n`;
}

function headBlock({ command, applied, outcomes, leftOut }: Ending, style: Style): readonly string[] {
  const verb = command === "apply" ? "Apply" : "Undo";
  if (applied === null) {
    const how = outcomes.some(({ status }) => status === "refused") ? "refused" : "failed";
    const where = placeText(outcomes.flatMap((one) => (one.status === "unchanged" ? [] : one.merchant)));
    return headline(`${verb} ${how} at ${where}:`, "nothing was changed.", style.red("✗"), style);
  }
  const { ends, cause } = applied;
  const where = placeText(ends.map(({ plan }) => plan.merchant));
  const all = ends.flatMap(({ result }) => result.outcomes);
  if (isComplete(outcomes)) {
    const text = `${sumsText(all)}.${verifiedText(ends, leftOut)}`;
    return [
      ...headline(`${verb} complete at ${where}:`, text, style.green("✓"), style),
      ...openLines(ends, style),
    ];
  }
  const stopped = ends.filter(({ result }) => result.status === "stopped").length;
  const how = stopped === ends.length || (stopped > 0 && cause !== null) ? "stopped" : "incomplete";
  return [
    ...headline(`${verb} ${how} at ${where}:`, `${sumsText(all)}.`, style.red("✗"), style),
    ...(outcomes.length === 1 ? [] : hangingLines(merchantsSum(outcomes, ends), style.columns, "  ", "  ")),
  ];
}

function headline(head: string, text: string, mark: string, style: Style): readonly string[] {
  const [first = "", ...rest] = wrapText(`${head} ${text}`, style.columns - 2);
  const painted = first.startsWith(head)
    ? `${style.bold(head)}${first.slice(head.length)}`
    : style.bold(first);
  return [`${mark} ${painted}`, ...rest.map((line) => `  ${line}`)];
}

function placeText(merchants: readonly string[]): string {
  return merchants.length === 1 ? oneLine(merchants.join("")) : counted(merchants.length, "merchant");
}

const MERCHANT_STATUS = {
  applied: "applied",
  unchanged: "with nothing to do",
  partial: "partly applied",
  refused: "refused",
  failed: "failed",
} as const satisfies Record<MerchantOutcome["status"], string>;

/** "Merchants: 58 applied, 1 partly applied, 1 refused." */
function merchantsSum(outcomes: readonly MerchantOutcome[], ends: readonly MerchantEnd[]): string {
  const idle = ends.filter(({ result }) => result.outcomes.every(({ status }) => status === "not-started"));
  const notStarted = new Set(idle.map(({ plan }) => plan.merchant));
  const words = outcomes.map(({ merchant, status }) =>
    status === "failed" && notStarted.has(merchant) ? "not started" : MERCHANT_STATUS[status],
  );
  const counts = [...Object.values(MERCHANT_STATUS), "not started"].flatMap((word) => {
    const count = words.filter((one) => one === word).length;
    return count === 0 ? [] : [`${grouped(count)} ${word}`];
  });
  return `Merchants: ${counts.join(", ")}.`;
}

/** "2 changes done, 1 failed, 3 not started". */
function sumsText(outcomes: readonly Outcome[]): string {
  const count = (status: Outcome["status"]): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  // "0 changes done" would be wrong if a change is half done.
  const half = outcomes.some((outcome) => outcome.status === "unfinished" || "removed" in outcome);
  const rest = (["failed", "stale", "unknown", "unfinished", "not-started"] as const).flatMap((status) =>
    count(status) === 0 ? [] : [`${grouped(count(status))} ${status.replace("-", " ")}`],
  );
  const done = count("done") === 0 && half ? [] : [`${counted(count("done"), "change")} done`];
  return [...done, ...rest].join(", ");
}

/** Says why merchants were not begun, equal reasons once. */
function skippedBlocks(
  skipped: readonly MerchantOutcome[],
  several: boolean,
  style: Style,
): readonly (readonly string[])[] {
  const reasons = skipped.flatMap(({ merchant, status, reasons: all }) =>
    all.map((reason) => ({ merchant, status, reason })),
  );
  const named = several || skipped.length > 1;
  const groups = groupByKey(
    reasons,
    ({ merchant, status, reason }) => `${status} ${reason.replaceAll(merchant, "…")}`,
  );
  const shown = groups.slice(0, ROWS_SHOWN).map((group) => {
    const [{ status, reason, merchant }] = group;
    const text = group.length > 1 ? reason.replaceAll(merchant, "…") : reason;
    const codes = namesText(group.map((one) => oneLine(one.merchant)));
    const where = named
      ? ` at ${group.length > 1 ? `${counted(group.length, "merchant")} (${codes})` : codes}`
      : "";
    return hangingLines(`${where}: ${text}`, style.columns, style.red(status), "  ");
  });
  const more = groups.length - shown.length;
  if (more > 0) shown.push([`… and ${counted(more, "more reason")} (--format json has all)`]);
  return shown.length === 0 ? [] : [shown.flat()];
}
