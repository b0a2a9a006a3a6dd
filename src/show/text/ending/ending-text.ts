import { oneLine } from "../../../lib/escape.ts";
import { counted, groupByKey, grouped, naturally } from "../../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../../model/apply.ts";
import type { Deferred, Plan } from "../../../model/plan.ts";
import type { Style } from "../../style.ts";
import {
  type AppliedRun,
  type Ending,
  type EndingRefusals,
  isComplete,
  isPassword,
  isRotation,
  type MerchantEnd,
  remainingChanges,
  summaryOf,
  type Verification,
} from "../../view/ending-view.ts";
import { namesText, textOfSeveral } from "../../view/names-text.ts";
import { renderFailure } from "../failure-text.ts";
import { renderOverride } from "../plan-text.ts";
import { cutLines, cutText, hangingLines, hasCutList, ROWS_SHOWN, wrapText } from "../wrap.ts";
import { causeBlocks, restBlocks } from "./causes-text.ts";
import { nextBlock } from "./next-step-text.ts";

/**
 * Formats how an apply ended, as the last lines of a run: what was done, what was not and why, what to do next, and how
 * to undo it. A cause that several changes or merchants share is reported once.
 */
export function renderEnding(ending: Ending, style: Style): string {
  const ends = (ending.applied?.ends ?? []).toSorted((a, b) => naturally(a.plan.merchant, b.plan.merchant));
  const begun = new Set(ends.map(({ plan }) => plan.merchant));
  const skipped = ending.outcomes
    .filter(({ merchant, status }) => !begun.has(merchant) && (status === "failed" || status === "refused"))
    .toSorted((a, b) => naturally(a.merchant, b.merchant));
  const unapproved = (ending.unapproved ?? []).filter(({ merchant }) => begun.has(merchant));
  const lacking = [...skipped, ...unapproved];
  const told = [
    headBlock(ending, style),
    ...(ending.applied === null ? [] : endedBlocks({ ...ending.applied, ends }, style)),
    ...verificationBlocks(ends, style),
    ...skippedBlocks(lacking, begun.size > 0, style, ending.refusals),
  ];
  const isCut = ending.isCutAbove === true || hasCutList(told.flat().join("\n"));
  const blocks = [...told, nextBlock(ending, lacking, isCut, style)].filter((lines) => lines.length > 0);
  const isShort = isComplete(ending.outcomes);
  const [before, between] = isShort ? ["", "\n"] : ["\n", "\n\n"];
  return `${before}${blocks.map((lines) => lines.join("\n")).join(between)}\n`;
}

function endedBlocks(applied: AppliedRun, style: Style): readonly (readonly string[])[] {
  return [...causeBlocks(applied, style), ...restBlocks(applied, style)];
}

function headBlock({ command, applied, outcomes, leftOut }: Ending, style: Style): readonly string[] {
  const verb = command === "apply" ? "Apply" : "Undo";
  if (applied === null) {
    const how = outcomes.some(({ status }) => status === "refused") ? "refused" : "failed";
    const where = placeText(
      outcomes.flatMap((outcome) => (outcome.status === "unchanged" ? [] : outcome.merchant)),
    );
    return headline(`${verb} ${how} at ${where}:`, "nothing was changed.", style.red("✗"), style);
  }
  const { ends, cause } = applied;
  const applyOutcomes = ends.flatMap(({ result }) => result.outcomes);
  if (isComplete(outcomes)) {
    const where = placeText(ends.map(({ plan }) => plan.merchant));
    const text = `${sumsText(applyOutcomes)}.${verifiedText(ends, leftOut)}`;
    return [
      ...headline(`${verb} complete at ${where}:`, text, style.green("✓"), style),
      ...openLines(ends, style),
    ];
  }
  // Everything that the total of the merchants below counts.
  const where = placeText(outcomes.map(({ merchant }) => merchant));
  const stopped = ends.filter(({ result }) => result.status === "stopped").length;
  const how = stopped === ends.length || (stopped > 0 && cause !== null) ? "stopped" : "incomplete";
  return [
    ...headline(`${verb} ${how} at ${where}:`, `${sumsText(applyOutcomes)}.`, style.red("✗"), style),
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
  unchanged: "without changes",
  partial: "partly applied",
  refused: "refused",
  failed: "failed",
} as const satisfies Record<MerchantOutcome["status"], string>;

/** The state of a merchant where all changes are done, but not verified. */
const NOT_VERIFIED = "applied, not verified";

/** "Merchants: 58 applied, 1 partly applied, 1 refused." */
function merchantsSum(outcomes: readonly MerchantOutcome[], ends: readonly MerchantEnd[]): string {
  const idle = ends.filter(({ result }) => result.outcomes.every(({ status }) => status === "not-started"));
  const notStarted = new Set(idle.map(({ plan }) => plan.merchant));
  const unverified = new Set(
    ends
      .filter(({ result, verification }) => result.status === "done" && verification?.status !== "verified")
      .map(({ plan }) => plan.merchant),
  );
  const words = outcomes.map(({ merchant, status }) => {
    if (unverified.has(merchant)) return NOT_VERIFIED;
    return status === "failed" && notStarted.has(merchant) ? "not started" : MERCHANT_STATUS[status];
  });
  const { applied, ...otherStatuses } = MERCHANT_STATUS;
  const counts = [applied, NOT_VERIFIED, ...Object.values(otherStatuses), "not started"].flatMap((word) => {
    const count = words.filter((status) => status === word).length;
    return count === 0 ? [] : [`${grouped(count)} ${word}`];
  });
  return `Merchants: ${counts.join(words.includes(NOT_VERIFIED) ? "; " : ", ")}.`;
}

/** "2 changes done, 1 failed, 3 not started". */
function sumsText(outcomes: readonly Outcome[]): string {
  const kept = outcomes.filter(
    (outcome) => outcome.status === "done" && outcome.already && isPassword(outcome.change),
  ).length;
  const count = (status: Outcome["status"]): number =>
    outcomes.filter((outcome) => outcome.status === status).length - (status === "done" ? kept : 0);
  // "0 changes done" would be wrong if a change is partly done.
  const half = outcomes.some((outcome) => outcome.status === "unfinished" || "removed" in outcome);
  const rest = (["failed", "stale", "unknown", "unfinished", "not-started"] as const).flatMap((status) =>
    count(status) === 0 ? [] : [`${grouped(count(status))} ${status.replace("-", " ")}`],
  );
  const done = count("done") === 0 && half ? [] : [`${counted(count("done"), "change")} done`];
  return [...done, ...(kept === 0 ? [] : [`${counted(kept, "password")} kept`]), ...rest].join(", ");
}

function isVerified(
  end: MerchantEnd,
): end is MerchantEnd & { readonly verification: Verification & { status: "verified" } } {
  return end.verification?.status === "verified";
}

/** Returns the sentence about what remains after a complete apply; empty if nothing was verified. */
function verifiedText(ends: readonly MerchantEnd[], leftOut: number): string {
  const verified = ends.filter(isVerified).map(({ verification }) => verification);
  if (verified.length === 0) return "";
  if (isRotation(ends)) return " Verified: every user's status is as planned.";
  const sum = (countOf: (one: (typeof verified)[number]) => number): number =>
    verified.reduce((total, end) => total + countOf(end), 0);
  const exceptions = [
    [sum(({ plan }) => plan.deferred.length), "deferred"],
    [sum(({ plan }) => remainingChanges(plan).notCreated.length), "that cannot be created"],
    [leftOut, "left out (the next plan shows them again)"],
  ] as const;
  const remaining = exceptions.flatMap(([count, what]) => (count === 0 ? [] : [`${grouped(count)} ${what}`]));
  return ` Verified: no changes remain${remaining.length === 0 ? "" : ` except ${remaining.join(" and ")}`}.`;
}

/** Names what remains after a complete apply: deferred changes, and members who cannot be created. */
function openLines(ends: readonly MerchantEnd[], style: Style): readonly string[] {
  const several = ends.length > 1;
  const lines = ends.filter(isVerified).flatMap(({ plan: { merchant }, verification: { plan } }) => {
    const prefix = several ? `${oneLine(merchant)}  ` : "";
    return [
      ...plan.deferred.map((deferred) => `${prefix}${deferredText(deferred)}`),
      ...remainingChanges(plan).notCreated.map(
        (name) => `${prefix}member ${oneLine(name)}: not created, since the file declares no roles for it`,
      ),
    ];
  });
  return cutLines(lines, style);
}

function deferredText({ change, role, waitsFor }: Deferred): string {
  if (waitsFor.length === 0) return `${oneLine(summaryOf(change))}: the next apply makes it`;
  const who = waitsFor.map(oneLine).join(" or ");
  return `${oneLine(summaryOf(change))}: waits until ${who} has accepted${role === null ? "" : `, so that "${oneLine(role)}" keeps enough holders`}`;
}

/** Says at which merchants the verification found something, or could not be made. */
function verificationBlocks(ends: readonly MerchantEnd[], style: Style): readonly (readonly string[])[] {
  const verified = ends
    .filter(isVerified)
    .map(({ plan: { merchant }, verification }) => ({ ...verification, merchant }));
  const remain = verified
    .map(({ merchant, plan }) => ({ merchant, lines: remainLines(plan) }))
    .filter(({ lines }) => lines.length > 0);
  const unread = ends.flatMap(({ plan: { merchant }, verification }) =>
    verification?.status === "unverified" ? [{ merchant, why: verification.why }] : [],
  );
  const unrecorded = verified.flatMap(({ merchant, unrecorded: text }) =>
    text === null ? [] : [{ merchant, text }],
  );
  const codes = (group: readonly { readonly merchant: string }[]): string =>
    oneLine(namesText(group.map(({ merchant }) => merchant)));
  return [
    ...groupByKey(remain, ({ lines }) => lines.join("\n")).map((group) => {
      const [{ lines }] = group;
      const errors = lines.filter((line) => line.startsWith(ERROR)).length;
      const counts = [
        ...(lines.length > errors ? [counted(lines.length - errors, "remaining change")] : []),
        ...(errors > 0 ? [counted(errors, "problem")] : []),
      ].join(" and ");
      const text = `the verification found ${counts}; somebody else may have made changes in the meantime:`;
      return [
        ...hangingLines(text, style.columns, `${style.red("✗")} ${codes(group)}: `, "  "),
        ...cutLines(lines, style),
      ];
    }),
    ...groupByKey(unread, ({ merchant, why }) =>
      typeof why === "string" ? why : why.message.replaceAll(merchant, ""),
    ).map((group) => {
      const [{ why }] = group;
      const text = typeof why === "string" ? uncapital(oneLine(why)) : "it could not be read again.";
      return [
        ...hangingLines(
          `${NOT_VERIFIED}: ${text}`,
          style.columns,
          `${style.yellow("?")} ${codes(group)}: `,
          "  ",
        ),
        ...(typeof why === "string" ? [] : renderFailure(why, style, group.length).trimEnd().split("\n")),
      ];
    }),
    ...groupByKey(unrecorded, ({ text }) => text).map((group) =>
      hangingLines(oneLine(group[0].text), style.columns, `${style.yellow("!")} ${codes(group)}: `, "  "),
    ),
  ];
}

const ERROR = "error: ";

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function remainLines(plan: Plan): readonly string[] {
  const { left: remaining, errors } = remainingChanges(plan);
  return [
    ...remaining.map((change) => {
      const fields = change.fields.map(({ field }) => field);
      return `${oneLine(summaryOf(change))}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
    }),
    ...errors.map(({ message }) => `${ERROR}${oneLine(message)}`),
  ];
}

/** An override stands deeper in a plan than in an ending. */
const OVERRIDE_INDENT = 4;

/** Says why merchants were not begun, equal reasons once, and what overrides the refusals. */
function skippedBlocks(
  skipped: readonly MerchantOutcome[],
  several: boolean,
  style: Style,
  { rules, overrides }: EndingRefusals = { rules: new Map(), overrides: [] },
): readonly (readonly string[])[] {
  const reasons = skipped.flatMap(({ merchant, status, reasons: merchantReasons }) =>
    merchantReasons.map((reason) => ({ merchant, status, reason })),
  );
  const isMerchantShown = several || skipped.length > 1;
  const groups = groupByKey(
    reasons,
    ({ merchant, status, reason }) => `${status} ${reason.replaceAll(merchant, "…")}`,
  );
  const shown = groups.slice(0, ROWS_SHOWN).map((group) => {
    const [{ status, reason, merchant }] = group;
    const said = group.length > 1 ? textOfSeveral(reason, merchant) : reason;
    const rule = rules.get(reason);
    const text = rule === undefined ? said : `${rule}: ${said}`;
    const codes = namesText(group.map((skip) => oneLine(skip.merchant)));
    const where = isMerchantShown
      ? ` at ${group.length > 1 ? `${counted(group.length, "merchant")} (${codes})` : codes}`
      : "";
    return hangingLines(`${where}: ${text}`, style.columns, style.red(status), "  ");
  });
  const more = groups.length - shown.length;
  if (more > 0) shown.push([`… and ${counted(more, "more reason")}`]);
  const commands = overrides
    .slice(0, ROWS_SHOWN)
    .flatMap((override) => renderOverride(override, style).map((line) => line.slice(OVERRIDE_INDENT)));
  if (overrides.length > ROWS_SHOWN) commands.push(`  ${cutText(overrides.length - ROWS_SHOWN)}`);
  const last = groups.findLastIndex(([{ reason }]) => rules.has(reason));
  if (last >= 0) shown.splice(Math.min(last, shown.length - 1) + 1, 0, commands);
  return shown.length === 0 ? [] : [shown.flat()];
}
