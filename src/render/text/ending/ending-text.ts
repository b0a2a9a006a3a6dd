import { oneLine } from "../../../lib/escape.ts";
import { counted, grouped, naturally } from "../../../lib/text.ts";
import type { MerchantOutcome, Outcome } from "../../../model/apply.ts";
import type { Change, Deferred, Plan } from "../../../model/plan.ts";
import type { Paint, Style } from "../../style.ts";
import {
  type AppliedRun,
  type Ending,
  type EndingCause,
  endingCauses,
  groupByKey,
  type Hit,
  isInvitationLimited,
  isPassword,
  type MerchantEnd,
  remainingChanges,
  summaryOf,
  type Verification,
} from "../../view/ending-view.ts";
import { namesText } from "../../view/equal-text.ts";
import { nextStepFor, renderFailure } from "../failure-text.ts";
import { hangingLines, wrapIfNarrow, wrapText } from "../wrap.ts";

const CAUSES_SHOWN = 8;
const NAMES_SHOWN = 8;
const ROWS_SHOWN = 10;

/**
 * Formats how an apply ended, as the last lines of a run: what was done, what was not and why, what to do next, and how
 * to undo it. A cause that several changes or merchants share is told once.
 */
export function renderEnding(ending: Ending, style: Style): string {
  const ends = inNaturalOrder(ending.applied?.ends ?? [], ({ plan }) => plan.merchant);
  const begun = new Set(ends.map(({ plan }) => plan.merchant));
  const skipped = inNaturalOrder(ending.outcomes, ({ merchant }) => merchant).filter(
    ({ merchant, status }) => !begun.has(merchant) && (status === "failed" || status === "refused"),
  );
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

function inNaturalOrder<Item>(items: readonly Item[], codeOf: (item: Item) => string): readonly Item[] {
  return items.toSorted((a, b) => naturally(codeOf(a), codeOf(b)));
}

/** Returns whether everything is as the files say. */
function isComplete(outcomes: readonly MerchantOutcome[]): boolean {
  return outcomes.every(({ status }) => status === "applied" || status === "unchanged");
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

function isVerified(
  end: MerchantEnd,
): end is MerchantEnd & { readonly verification: Verification & { status: "verified" } } {
  return end.verification?.status === "verified";
}

function verifiedText(ends: readonly MerchantEnd[], leftOut: number): string {
  const verified = ends.filter(isVerified).map(({ verification }) => verification);
  if (verified.length === 0) return "";
  const sum = (countOf: (one: (typeof verified)[number]) => number): number =>
    verified.reduce((all, one) => all + countOf(one), 0);
  const exceptions = [
    [sum(({ plan }) => plan.deferred.length), "deferred"],
    [sum(({ plan }) => remainingChanges(plan).notCreated.length), "that cannot be created"],
    [leftOut, "left out (the next plan shows them again)"],
  ] as const;
  const open = exceptions.flatMap(([count, what]) => (count === 0 ? [] : [`${grouped(count)} ${what}`]));
  return ` Verified: no changes remain${open.length === 0 ? "" : ` except ${open.join(" and ")}`}.`;
}

/** Names what a complete apply leaves open: deferred changes, and members who cannot be created. */
function openLines(ends: readonly MerchantEnd[], style: Style): readonly string[] {
  const several = ends.length > 1;
  const lines = ends.filter(isVerified).flatMap(({ plan: { merchant }, verification: { plan } }) => {
    const at = several ? `${oneLine(merchant)}  ` : "";
    return [
      ...plan.deferred.map((one) => `${at}${deferredText(one)}`),
      ...remainingChanges(plan).notCreated.map(
        (name) => `${at}member ${oneLine(name)}: not created, since the file declares no roles for it`,
      ),
    ];
  });
  return cutLines(lines, style);
}

function deferredText({ change, role, waitsFor }: Deferred): string {
  const who = waitsFor.map(oneLine).join(" or ");
  return `${oneLine(summaryOf(change))}: waits until ${who} has accepted, so that "${oneLine(role)}" keeps enough holders`;
}

/** Indents lines; of many only the first. */
function cutLines(lines: readonly string[], style: Style): readonly string[] {
  const more = lines.length - ROWS_SHOWN;
  return [
    ...lines.slice(0, ROWS_SHOWN).flatMap((line) => wrapIfNarrow(line, style, "    ", "      ")),
    ...(more > 0 ? [`    … and ${grouped(more)} more ("rolecall plan" shows all)`] : []),
  ];
}

const TITLES = {
  done: "done",
  failed: "failed",
  stale: "stale (changed since it was planned; left as it is)",
  unknown: "unknown (may have taken effect)",
  unfinished: "unfinished (the next run continues it)",
  "not-started": "not started",
} as const satisfies Record<Outcome["status"], string>;

/** Returns a paragraph for each cause: the changes that it hit, and the failure in full. */
function causeBlocks(ends: readonly MerchantEnd[], style: Style): readonly (readonly string[])[] {
  const causes = endingCauses(ends);
  const several = ends.length > 1;
  const shown = causes.slice(0, CAUSES_SHOWN).map((cause) => causeLines(cause, several, style));
  const more = causes.length - shown.length;
  return more > 0
    ? [...shown, [`… and ${counted(more, "more cause")} ("rolecall runs latest" shows all)`]]
    : shown;
}

function causeLines(
  { status, failure, hits, times }: EndingCause,
  several: boolean,
  style: Style,
): readonly string[] {
  const { hint: _, ...rest } = failure;
  const [first] = hits;
  const limited = first !== undefined && isInvitationLimited(first.outcome);
  const hint = nextStepFor(status, failure);
  const message = limited ? "The service refused invitations for the time being (429)." : failure.message;
  const paint = limited || status === "unknown" ? style.yellow : style.red;
  return [
    ...(limited
      ? [
          ...titleLines("refused for the time being", hits, several, paint, style, false),
          ...cutLines(
            hits.map(({ outcome }) => oneLine("failure" in outcome ? (outcome.failure?.message ?? "") : "")),
            style,
          ),
        ]
      : hits.length === 0
        ? []
        : titleLines(TITLES[status], hits, several, paint, style)),
    ...hits.flatMap((hit) => removalLines(hit)).slice(0, ROWS_SHOWN),
    ...renderFailure({ ...rest, message, ...(hint !== null && { hint }) }, style, times)
      .trimEnd()
      .split("\n"),
  ];
}

/** Returns the title of changes with one outcome: one change by name, several counted and named below. */
function titleLines(
  title: string,
  hits: readonly Hit[],
  several: boolean,
  paint: Paint,
  style: Style,
  isNamed = true,
): readonly string[] {
  const [first] = hits;
  if (first === undefined) return [];
  const head = `${paint(title)}: `;
  const merchants = [...new Set(hits.map(({ merchant }) => oneLine(merchant)))];
  if (hits.length === 1 && isNamed) {
    const at = several ? ` at ${merchants.join("")}` : "";
    return wrapped(`${changeName(first.outcome.change)}${at}`, head, style);
  }
  const at = !several
    ? ""
    : merchants.length === 1
      ? ` at ${merchants.join("")}`
      : ` at ${counted(merchants.length, "merchant")} (${namesText(merchants)})`;
  return [
    ...wrapped(`${counted(hits.length, "change")}${at}`, head, style),
    ...(isNamed ? nameLines(hits, style) : []),
  ];
}

/** Names the first changes, those of one kind together: "update members a, b and 229 more". */
function nameLines(hits: readonly Hit[], style: Style): readonly string[] {
  const kinds = groupByKey(
    hits.map(({ outcome: { change } }) => change),
    (change) => `${isPassword(change)} ${change.kind} ${change.resource}`,
  );
  return kinds.flatMap((group) => {
    const [first] = group;
    if (group.length === 1) return wrapped(changeName(first), "    ", style);
    const verb = isPassword(first) ? "set the passwords of" : first.kind;
    const names = group.map(({ name }) => oneLine(name));
    return hangingLines(
      namesText(names, NAMES_SHOWN),
      style.columns,
      `    ${verb} ${first.resource}s `,
      "      ",
    );
  });
}

function wrapped(text: string, head: string, style: Style): readonly string[] {
  return hangingLines(text, style.columns, head, "  ");
}

function changeName(change: Change): string {
  if (isPassword(change)) return `set the password of ${change.resource} ${oneLine(change.name)}`;
  return oneLine(summaryOf(change));
}

/** Describes the roles and metadata of a removed invitation without a known successor. */
function removalLines({ outcome }: Hit): readonly string[] {
  const { change, status } = outcome;
  if (!("removed" in outcome) || change.resource !== "member" || change.before === null) return [];
  const { roles, metadata } = change.before;
  const held = [
    roles.length === 0 ? "no roles" : roles.map(({ name }) => oneLine(name)).join(", "),
    ...(Object.keys(metadata).length === 0 ? [] : [`metadata ${oneLine(JSON.stringify(metadata))}`]),
  ].join("; ");
  const fate =
    outcome.removed === "unknown"
      ? "It is unknown whether the expired invitation was deleted; no new one was sent."
      : `The expired invitation was deleted, and ${status === "unknown" ? "it is unknown whether a new one was sent" : "no new one was sent"}.`;
  return [
    `    ${oneLine(change.name)}: ${fate} It held: ${held}.`,
    "    The journal has this; the next plan that finds the journal sends a new invitation.",
  ];
}

/** Names the changes that are left without a failure of their own, and those that the journal misses. */
function restBlocks(ends: readonly MerchantEnd[], style: Style): readonly (readonly string[])[] {
  const several = ends.length > 1;
  const all = ends.flatMap(({ plan: { merchant }, result }) =>
    result.outcomes.map((outcome) => ({ merchant, outcome })),
  );
  const lost = ends.flatMap(({ plan: { merchant }, result: { outcomes, unrecorded } }) =>
    outcomes.flatMap(({ status, change }) =>
      unrecorded.includes(change)
        ? [`${changeName(change)}${several ? ` at ${oneLine(merchant)}` : ""}: ${status.replace("-", " ")}`]
        : [],
    ),
  );
  const of = (status: Outcome["status"]) =>
    all.filter(({ outcome }) => outcome.status === status && !("failure" in outcome && outcome.failure));
  const unfinished = of("unfinished");
  const waits = ends.some(({ result }) => result.status === "incomplete")
    ? " (their holders have not been invited yet)"
    : "";
  return [
    [
      ...titleLines(TITLES.unfinished, unfinished, several, style.yellow, style),
      ...unfinished.flatMap(removalLines).slice(0, ROWS_SHOWN),
    ],
    titleLines(`${TITLES["not-started"]}${waits}`, of("not-started"), several, style.bold, style),
    lost.length === 0
      ? []
      : [`${style.yellow("not recorded")} (the outcome is not in the journal):`, ...cutLines(lost, style)],
  ];
}

/** Says at which merchants the verification found something, or could not be made. */
function verificationBlocks(ends: readonly MerchantEnd[], style: Style): readonly (readonly string[])[] {
  const found = ends.flatMap(({ plan: { merchant }, verification }) =>
    verification === null ? [] : [{ merchant, verification }],
  );
  const remain = found.flatMap(({ merchant, verification }) => {
    const lines = verification.status === "verified" ? remainLines(verification.plan) : [];
    return lines.length === 0 ? [] : [{ merchant, lines }];
  });
  const unread = found.flatMap(({ merchant, verification }) =>
    verification.status === "unverified" ? [{ merchant, why: verification.why }] : [],
  );
  const unrecorded = found.flatMap(({ merchant, verification }) =>
    verification.status === "verified" && verification.unrecorded !== null
      ? [{ merchant, text: verification.unrecorded }]
      : [],
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
      const text = `verification found ${counts}; somebody else may have changed something in the meantime:`;
      return [...wrapped(text, `${style.red("✗")} ${codes(group)}: `, style), ...cutLines(lines, style)];
    }),
    ...groupByKey(unread, ({ merchant, why }) =>
      typeof why === "string" ? why : why.message.replaceAll(merchant, ""),
    ).map((group) => {
      const [{ why }] = group;
      const text = typeof why === "string" ? uncapital(oneLine(why)) : "it could not be read again.";
      return [
        ...wrapped(
          `the changes are done, but not verified: ${text}`,
          `${style.yellow("?")} ${codes(group)}: `,
          style,
        ),
        ...(typeof why === "string" ? [] : renderFailure(why, style, group.length).trimEnd().split("\n")),
      ];
    }),
    ...groupByKey(unrecorded, ({ text }) => text).map((group) =>
      wrapped(oneLine(group[0].text), `${style.yellow("!")} ${codes(group)}: `, style),
    ),
  ];
}

const ERROR = "error: ";

function uncapital(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function remainLines(plan: Plan): readonly string[] {
  const { left, errors } = remainingChanges(plan);
  return [
    ...left.map((change) => {
      const fields = change.fields.map(({ field }) => field);
      return `${oneLine(summaryOf(change))}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`;
    }),
    ...errors.map(({ message }) => `${ERROR}${oneLine(message)}`),
  ];
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
    return wrapped(`${where}: ${text}`, style.red(status), style);
  });
  const more = groups.length - shown.length;
  if (more > 0) shown.push([`… and ${counted(more, "more reason")} (--format json has all)`]);
  return shown.length === 0 ? [] : [shown.flat()];
}

/** Says what to do next, how to undo the run, and where its journals are. */
function nextBlock(
  { applied, outcomes, leftOut }: Ending,
  skipped: readonly MerchantOutcome[],
  style: Style,
): readonly string[] {
  const complete = isComplete(outcomes);
  const next = [
    ...(applied === null ? [] : causeText(applied)),
    ...(complete ? [] : [howToGoOn(applied, skipped)]),
    ...(!complete && leftOut > 0
      ? [
          `${counted(leftOut, "change")} left out; the next plan shows ${leftOut === 1 ? "it" : "them"} again.`,
        ]
      : []),
  ];
  const lines = next.length === 0 ? [] : wrapText(next.join(" "), style.columns);
  return applied === null ? lines : [...lines, ...recordLines(applied, complete ? "  " : "", style)];
}

function recordLines({ run, journals, ends }: AppliedRun, indent: string, style: Style): readonly string[] {
  if (journals.length === 0) return [];
  const revertible = ends.some(
    ({ result: { outcomes, writes } }) =>
      writes > 0 && outcomes.some(({ status, change }) => status !== "not-started" && !isPassword(change)),
  );
  return [
    ...(revertible
      ? hangingLines(`rolecall undo ${oneLine(run)}`, style.columns, `${indent}To undo it: `, `${indent}  `)
      : []),
    `${indent}${renderJournals(run, journals)}`,
  ];
}

/** Returns the paths of a run's journals in one line. */
export function renderJournals(run: string, files: readonly string[]): string {
  const [first = "", ...more] = files;
  if (more.length === 0) return `journal: ${oneLine(first)}`;
  const folder = first.slice(0, Math.max(first.lastIndexOf("/"), first.lastIndexOf("\\")) + 1);
  return `journals: ${oneLine(`${folder}${run}-*.jsonl`)} (${counted(files.length, "merchant")})`;
}

/** Returns the cause of a stop at merchants without failures of their own. */
function causeText({ cause, ends }: Pick<AppliedRun, "cause" | "ends">): readonly string[] {
  if (cause === null) return [];
  switch (cause.by) {
    case "merchant":
      if (ends.length === 1) return [];
      return [`The failure at ${oneLine(cause.merchant)} stopped the run at every merchant.`];
    case "signal":
      return [`The run was stopped by ${cause.signal}.`];
    case "output":
      return [`The run was stopped because ${cause.stream} could not be written to.`];
    default:
      return cause satisfies never;
  }
}

function howToGoOn(applied: AppliedRun | null, skipped: readonly MerchantOutcome[]): string {
  const ends = applied?.ends ?? [];
  const outcomes = ends.flatMap(({ result }) => result.outcomes);
  const writes = ends.reduce((sum, { result }) => sum + result.writes, 0);
  const plan = 'run "rolecall plan"';
  const unknown = outcomes.filter(({ status }) => status === "unknown").length;
  const what =
    writes > unknown
      ? "Completed changes remain."
      : unknown > 0
        ? "It is unknown whether anything was changed."
        : "Nothing was changed.";
  const isRefused = skipped.some(({ status }) => status === "refused");
  if (ends.length === 0)
    return isRefused
      ? "To continue, correct the files, or override or approve what is refused, and apply again."
      : "To continue, fix the problems above, and apply again.";
  if (unknown > 0) return `${what} To continue, ${plan} to see what remains, and apply again.`;
  const hasFailures = ends.some(
    ({ result, verification }) =>
      result.journalFailure !== null ||
      verification !== null ||
      result.outcomes.some((outcome) => "failure" in outcome && outcome.failure),
  );
  if (!hasFailures && skipped.length === 0) return `${what} To continue, run the command again.`;
  if (skipped.length === 0 && outcomes.every(({ status }) => status === "done"))
    return `${what} Run "rolecall plan" to see whether changes remain.`;
  // A refused invitation only needs time.
  const isToFix =
    skipped.length > 0 ||
    outcomes.some((outcome) => outcome.status === "failed" && !isInvitationLimited(outcome));
  return `${what} To continue, ${isToFix ? "fix the problem, then " : ""}${plan} to see what ${writes > 0 ? "remains" : "would change"}, and apply again.`;
}
