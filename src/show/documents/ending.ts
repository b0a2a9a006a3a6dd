import { counted, groupByKey, grouped, naturally } from "../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../model/apply.ts";
import type { Deferred, Plan } from "../../model/plan.ts";
import {
  type Block,
  cutItems,
  type Document,
  ITEMS_SHOWN,
  type Sentence,
  sentence,
  toned,
} from "../blocks/block.ts";
import { cutList, cutText, hasCutList } from "../blocks/cut-list.ts";
import { documentText } from "../blocks/text-blocks.ts";
import { PLAIN, type Style } from "../style.ts";
import {
  type Ending,
  type EndingRefusals,
  isComplete,
  isPassword,
  isRotation,
  type MerchantEnd,
  remainingChanges,
  summaryOf,
  type Verification,
} from "../view/ending-view.ts";
import { namesText, textOfSeveral } from "../view/names-text.ts";
import { causes, rest } from "./causes.ts";
import { failureBlocks } from "./failure.ts";
import { next } from "./next-step.ts";
import { overrideStep } from "./remedies.ts";

/** Prints how an apply ended, as the last lines of a run. */
export function renderEnding(ending: Ending, style: Style): string {
  return `${isComplete(ending.outcomes) ? "" : "\n"}${documentText(endingDocument(ending), style)}`;
}

/**
 * Says how an apply ended: what was done, what was not and why, what to do next, and how to undo it. A cause that several
 * changes or merchants share is reported once.
 */
function endingDocument(ending: Ending): Document {
  const ends = (ending.applied?.ends ?? []).toSorted((a, b) => naturally(a.plan.merchant, b.plan.merchant));
  const begun = new Set(ends.map(({ plan }) => plan.merchant));
  const skipped = ending.outcomes
    .filter(({ merchant, status }) => !begun.has(merchant) && (status === "failed" || status === "refused"))
    .toSorted((a, b) => naturally(a.merchant, b.merchant));
  const unapproved = (ending.unapproved ?? []).filter(({ merchant }) => begun.has(merchant));
  const lacking = [...skipped, ...unapproved];
  const applied = ending.applied && { ...ending.applied, ends };
  const told = [
    [headline(ending)],
    ...(applied === null ? [] : [...causes(applied), ...rest(applied)]),
    ...verifications(ends),
    skippedMerchants(lacking, begun.size > 0, ending.refusals),
  ];
  const isCut = ending.isCutAbove === true || hasCutList(documentText(told, PLAIN));
  const document = [...told, next(ending, lacking, isCut)];
  return isComplete(ending.outcomes) ? [document.flat()] : document;
}

function headline({ command, applied, outcomes, leftOut }: Ending): Sentence {
  const verb = command === "apply" ? "Apply" : "Undo";
  if (applied === null) {
    const how = outcomes.some(({ status }) => status === "refused") ? "refused" : "failed";
    const where = placeText(
      outcomes.flatMap((outcome) => (outcome.status === "unchanged" ? [] : outcome.merchant)),
    );
    return sentence([toned("bold", `${verb} ${how} at ${where}:`), " nothing was changed."], {
      mark: "failed",
    });
  }
  const { ends, cause } = applied;
  const sums = sumsText(ends.flatMap(({ result }) => result.outcomes));
  if (isComplete(outcomes)) {
    const where = placeText(ends.map(({ plan }) => plan.merchant));
    const text = ` ${sums}.${verifiedText(ends, leftOut)}`;
    return sentence([toned("bold", `${verb} complete at ${where}:`), text], {
      mark: "ok",
      below: cutItems(openTexts(ends)),
    });
  }
  // Everything that the total of the merchants below counts.
  const where = placeText(outcomes.map(({ merchant }) => merchant));
  const stopped = ends.filter(({ result }) => result.status === "stopped").length;
  const how = stopped === ends.length || (stopped > 0 && cause !== null) ? "stopped" : "incomplete";
  return sentence([toned("bold", `${verb} ${how} at ${where}:`), ` ${sums}.`], {
    mark: "failed",
    below: outcomes.length === 1 ? [] : [sentence(merchantsSum(outcomes, ends))],
  });
}

function placeText(merchants: readonly string[]): string {
  return merchants.length === 1 ? merchants.join("") : counted(merchants.length, "merchant");
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
function openTexts(ends: readonly MerchantEnd[]): readonly string[] {
  return ends.filter(isVerified).flatMap(({ plan: { merchant }, verification: { plan } }) => {
    const prefix = ends.length > 1 ? `${merchant}  ` : "";
    return [
      ...plan.deferred.map((deferred) => `${prefix}${deferredText(deferred)}`),
      ...remainingChanges(plan).notCreated.map(
        (name) => `${prefix}member ${name}: not created, since the file declares no roles for it`,
      ),
    ];
  });
}

function deferredText({ change, role, waitsFor }: Deferred): string {
  if (waitsFor.length === 0) return `${summaryOf(change)}: the next apply makes it`;
  const who = waitsFor.join(" or ");
  return `${summaryOf(change)}: waits until ${who} has accepted${role === null ? "" : `, so that "${role}" keeps enough holders`}`;
}

/** Says at which merchants the verification found something, or could not be made. */
function verifications(ends: readonly MerchantEnd[]): Document {
  const verified = ends
    .filter(isVerified)
    .map(({ plan: { merchant }, verification }) => ({ ...verification, merchant }));
  const remain = verified
    .map(({ merchant, plan }) => ({ merchant, lines: remainTexts(plan) }))
    .filter(({ lines }) => lines.length > 0);
  const unread = ends.flatMap(({ plan: { merchant }, verification }) =>
    verification?.status === "unverified" ? [{ merchant, why: verification.why }] : [],
  );
  const unrecorded = verified.flatMap(({ merchant, unrecorded: text }) =>
    text === null ? [] : [{ merchant, text }],
  );
  const codes = (group: readonly { readonly merchant: string }[]): string =>
    namesText(group.map(({ merchant }) => merchant));
  return [
    ...groupByKey(remain, ({ lines }) => lines.join("\n")).map((group) => {
      const [{ lines }] = group;
      const errors = lines.filter((line) => line.startsWith(ERROR)).length;
      const counts = [
        ...(lines.length > errors ? [counted(lines.length - errors, "remaining change")] : []),
        ...(errors > 0 ? [counted(errors, "problem")] : []),
      ].join(" and ");
      const text = `${codes(group)}: the verification found ${counts}; somebody else may have made changes in the meantime:`;
      return [sentence(text, { mark: "failed", below: cutItems(lines) })];
    }),
    ...groupByKey(unread, ({ merchant, why }) =>
      typeof why === "string" ? why : why.message.replaceAll(merchant, ""),
    ).map((group) => {
      const [{ why }] = group;
      const text = typeof why === "string" ? uncapital(why) : "it could not be read again.";
      return [
        sentence(`${codes(group)}: ${NOT_VERIFIED}: ${text}`, { mark: "unknown" }),
        ...(typeof why === "string" ? [] : failureBlocks(why, group.length)),
      ];
    }),
    ...groupByKey(unrecorded, ({ text }) => text).map((group) => [
      sentence(`${codes(group)}: ${group[0].text}`, { mark: "warning" }),
    ]),
  ];
}

const ERROR = "error: ";

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function remainTexts(plan: Plan): readonly string[] {
  const { left: remaining, errors } = remainingChanges(plan);
  return [
    ...remaining.map((change) => {
      const fields = change.fields.map(({ field }) => field);
      return `${summaryOf(change)}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
    }),
    ...errors.map(({ message }) => `${ERROR}${message}`),
  ];
}

/** Says why merchants were not begun, equal reasons once, and what overrides the refusals. */
function skippedMerchants(
  skipped: readonly MerchantOutcome[],
  several: boolean,
  { rules, overrides }: EndingRefusals = { rules: new Map(), overrides: [] },
): readonly Block[] {
  const reasons = skipped.flatMap(({ merchant, status, reasons: merchantReasons }) =>
    merchantReasons.map((reason) => ({ merchant, status, reason })),
  );
  const isMerchantShown = several || skipped.length > 1;
  const groups = groupByKey(
    reasons,
    ({ merchant, status, reason }) => `${status} ${reason.replaceAll(merchant, "…")}`,
  );
  const shown = groups.slice(0, ITEMS_SHOWN).map((group) => {
    const [{ status, reason, merchant }] = group;
    const said = group.length > 1 ? textOfSeveral(reason, merchant) : reason;
    const rule = rules.get(reason);
    const text = rule === undefined ? said : `${rule}: ${said}`;
    const codes = namesText(group.map((skip) => skip.merchant));
    const where = isMerchantShown
      ? ` at ${group.length > 1 ? `${counted(group.length, "merchant")} (${codes})` : codes}`
      : "";
    return sentence([toned("red", status), `${where}: ${text}`]);
  });
  const more = groups.length - shown.length;
  if (more > 0) shown.push(sentence(`… and ${counted(more, "more reason")}`));
  const last = groups.findLastIndex(([{ reason }]) => rules.has(reason));
  if (last < 0) return shown;
  const before = shown.slice(0, last + 1);
  const cut = cutList(overrides, ITEMS_SHOWN);
  const below = [
    ...cut.shown.map(overrideStep),
    ...(cut.hidden.length > 0 ? [sentence(cutText(cut.hidden.length))] : []),
  ];
  return [
    ...before.slice(0, -1),
    ...before.slice(-1).map((each) => ({ ...each, below })),
    ...shown.slice(last + 1),
  ];
}
