import { oneLine } from "../../../lib/escape.ts";
import { counted, groupByKey } from "../../../lib/text.ts";
import type { Outcome } from "../../../model/apply.ts";
import type { Change } from "../../../model/plan.ts";
import type { Paint, Style } from "../../style.ts";
import {
  type AppliedRun,
  type EndingCause,
  endingCauses,
  type Hit,
  isInvitationLimited,
  isPassword,
  summaryOf,
} from "../../view/ending-view.ts";
import { heldText } from "../../view/held-text.ts";
import { namesText } from "../../view/names-text.ts";
import { renderFailure } from "../failure-text.ts";
import { cutLines, hangingLines } from "../wrap.ts";
import { nextStepFor } from "./next-step-text.ts";

const CAUSES_SHOWN = 8;
const NAMES_SHOWN = 8;

const TITLES = {
  done: "done",
  failed: "failed",
  stale: "stale (changed since it was planned; left as it is)",
  unknown: "unknown (may have taken effect)",
  unfinished: "unfinished (the next run continues it)",
  "not-started": "not started",
} as const satisfies Record<Outcome["status"], string>;

/** Returns a paragraph for each cause: the changes that it affected, and the failure in full. */
export function causeBlocks(
  { run, ends }: Pick<AppliedRun, "run" | "ends">,
  style: Style,
): readonly (readonly string[])[] {
  const causes = endingCauses(ends);
  const several = ends.length > 1;
  const shown = causes.slice(0, CAUSES_SHOWN).map((cause) => causeLines(cause, run, several, style));
  const more = causes.length - shown.length;
  return more > 0 ? [...shown, [`… and ${counted(more, "more cause")}`]] : shown;
}

function causeLines(
  { status, failure, hits, times, attempts }: EndingCause,
  run: string,
  several: boolean,
  style: Style,
): readonly string[] {
  const { hint: _, ...rest } = failure;
  const [first] = hits;
  const limited = first !== undefined && isInvitationLimited(first.outcome);
  const isAboutPasswords = hits.length > 0 && hits.every(({ outcome }) => isPassword(outcome.change));
  const hint =
    status === "unknown" && isAboutPasswords
      ? "The password may have been set: run the rotation again."
      : nextStepFor(status, failure);
  const message = limited ? "The service refuses some invitations for now (429)." : failure.message;
  const paint = limited || status === "unknown" ? style.yellow : style.red;
  return [
    ...(limited
      ? [
          ...titleLines("refused for now", hits, several, paint, style, false),
          ...cutLines(
            hits.map(({ outcome }) => oneLine("failure" in outcome ? (outcome.failure?.message ?? "") : "")),
            style,
          ),
        ]
      : hits.length === 0
        ? []
        : titleLines(TITLES[status], hits, several, paint, style)),
    ...lostLines(hits, run, style),
    ...renderFailure({ ...rest, message, ...(hint !== null && { hint }) }, style, times, attempts)
      .trimEnd()
      .split("\n"),
  ];
}

/**
 * Returns the title of changes with one outcome: a single change by name, several with their number and names below.
 */
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
    const place = several ? ` at ${merchants.join("")}` : "";
    return hangingLines(`${changeName(first.outcome.change)}${place}`, style.columns, head, "  ");
  }
  const place = !several
    ? ""
    : merchants.length === 1
      ? ` at ${merchants.join("")}`
      : ` at ${counted(merchants.length, "merchant")} (${namesText(merchants)})`;
  return [
    ...hangingLines(`${counted(hits.length, "change")}${place}`, style.columns, head, "  "),
    ...(isNamed ? nameLines(hits, merchants.length > 1, style) : []),
  ];
}

/** Names the first changes, those of one kind together: "update members a, b and 229 more", "update role A at 54 merchants". */
function nameLines(hits: readonly Hit[], several: boolean, style: Style): readonly string[] {
  const kinds = groupByKey(
    hits.map(({ merchant, outcome: { change } }) => ({ merchant, change })),
    ({ change }) => `${isPassword(change)} ${change.kind} ${change.resource}`,
  );
  return kinds.flatMap((group) => {
    const [{ change: first }] = group;
    if (group.length === 1) return hangingLines(changeName(first), style.columns, "    ", "  ");
    const verb = isPassword(first) ? "set the passwords of" : first.kind;
    const names = groupByKey(group, ({ change }) => change.name).map((same) => {
      const name = oneLine(same[0].change.name);
      return several && same.length > 1 ? `${name} at ${counted(same.length, "merchant")}` : name;
    });
    return hangingLines(
      namesText(names, NAMES_SHOWN),
      style.columns,
      `    ${verb} ${first.resource}${names.length > 1 ? "s" : ""} `,
      "      ",
    );
  });
}

function changeName(change: Change): string {
  if (isPassword(change)) return `set the password of ${change.resource} ${oneLine(change.name)}`;
  return oneLine(summaryOf(change));
}

/** Lists the access of removed invitations without a known successor, and how to send it again. */
function lostLines(hits: readonly Hit[], run: string, style: Style): readonly string[] {
  const lost = hits.flatMap(({ outcome }) => lostText(outcome) ?? []);
  if (lost.length === 0) return [];
  return [
    ...cutLines(lost, style),
    ...hangingLines(
      `"rolecall undo ${oneLine(run)}" invites them with all of this; "rolecall apply" invites them with what the files list.`,
      style.columns,
      "    → ",
      "      ",
    ),
  ];
}

/** Describes a removed invitation without a known successor, with what it held. */
function lostText(outcome: Outcome): string | null {
  const { change, status } = outcome;
  if (!("removed" in outcome) || change.resource !== "member" || change.before === null) return null;
  const fate =
    outcome.removed === "unknown"
      ? "It is unknown whether the expired invitation was deleted; no new one was sent."
      : `The expired invitation was deleted, and ${status === "unknown" ? "it is unknown whether a new one was sent" : "no new one was sent"}.`;
  return `${oneLine(change.name)}: ${fate} It held: ${oneLine(heldText(change.before))}.`;
}

/** Names the changes that are left without a failure of their own, and those that the journal misses. */
export function restBlocks(
  { run, ends }: Pick<AppliedRun, "run" | "ends">,
  style: Style,
): readonly (readonly string[])[] {
  const several = ends.length > 1;
  const entries = ends.flatMap(({ plan: { merchant }, result }) =>
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
    entries.filter(({ outcome }) => outcome.status === status && !("failure" in outcome && outcome.failure));
  const unfinished = of("unfinished");
  const waits = ends.some(({ result }) => result.status === "incomplete")
    ? " (their holders have not been invited yet)"
    : "";
  return [
    [
      ...titleLines(TITLES.unfinished, unfinished, several, style.yellow, style),
      ...lostLines(unfinished, run, style),
    ],
    titleLines(`${TITLES["not-started"]}${waits}`, of("not-started"), several, style.bold, style),
    lost.length === 0
      ? []
      : [`${style.yellow("not recorded")} (the outcome is not in the journal):`, ...cutLines(lost, style)],
  ];
}
