import { counted, groupByKey } from "../../lib/text.ts";
import type { Outcome } from "../../model/apply.ts";
import type { Change } from "../../model/plan.ts";
import {
  type Block,
  cutItems,
  type Document,
  indented,
  type Sentence,
  sentence,
  toned,
} from "../blocks/block.ts";
import type { Tone } from "../style.ts";
import {
  type AppliedRun,
  type EndingCause,
  endingCauses,
  type Hit,
  isInvitationLimited,
  isPassword,
  summaryOf,
} from "../view/ending-view.ts";
import { heldText } from "../view/held-text.ts";
import { namesText } from "../view/names-text.ts";
import { failureBlocks } from "./failure.ts";
import { nextStepFor } from "./next-step.ts";

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
export function causes({ run, ends }: Pick<AppliedRun, "run" | "ends">): Document {
  const found = endingCauses(ends);
  const shown = found.slice(0, CAUSES_SHOWN).map((cause) => causeBlocks(cause, run, ends.length > 1));
  const more = found.length - shown.length;
  return more > 0 ? [...shown, [sentence(`… and ${counted(more, "more cause")}`)]] : shown;
}

function causeBlocks(
  { status, failure, hits, times, attempts }: EndingCause,
  run: string,
  several: boolean,
): readonly Block[] {
  const { hint: _, ...rest } = failure;
  const [first] = hits;
  const limited = first !== undefined && isInvitationLimited(first.outcome);
  const isAboutPasswords = hits.length > 0 && hits.every(({ outcome }) => isPassword(outcome.change));
  const hint =
    status === "unknown" && isAboutPasswords
      ? "The password may have been set: run the rotation again."
      : nextStepFor(status, failure);
  const message = limited ? "The service refuses some invitations for now (429)." : failure.message;
  const tone = limited || status === "unknown" ? "yellow" : "red";
  const refused = hits.map(({ outcome }) => ("failure" in outcome ? (outcome.failure?.message ?? "") : ""));
  return [
    ...(limited
      ? titled("refused for now", hits, several, tone, [...cutItems(refused), ...lost(hits, run)])
      : titled(TITLES[status], hits, several, tone, lost(hits, run))),
    ...failureBlocks({ ...rest, message, ...(hint !== null && { hint }) }, times, attempts),
  ];
}

/** Returns changes with one outcome: a single one by name, several with their number, and unless `below` names them. */
function titled(
  title: string,
  hits: readonly Hit[],
  several: boolean,
  tone: Tone,
  below: readonly Block[],
): readonly Sentence[] {
  const [first] = hits;
  if (first === undefined) return [];
  const merchants = [...new Set(hits.map(({ merchant }) => merchant))];
  const isLimited = title === "refused for now";
  const isNamed = hits.length === 1 && !isLimited;
  const what = isNamed ? changeName(first.outcome.change) : counted(hits.length, "change");
  const place = !several
    ? ""
    : merchants.length === 1
      ? ` at ${merchants.join("")}`
      : ` at ${counted(merchants.length, "merchant")} (${namesText(merchants)})`;
  const kinds = isNamed || isLimited ? [] : kindTexts(hits, merchants.length > 1);
  return [
    sentence([toned(tone, title), `: ${what}${place}`], {
      below: [indented(kinds.map((text) => sentence(text))), ...below],
    }),
  ];
}

/** Names the first changes, those of one kind together: "update members a, b and 229 more", "update role A at 54 merchants". */
function kindTexts(hits: readonly Hit[], several: boolean): readonly string[] {
  const kinds = groupByKey(
    hits.map(({ merchant, outcome: { change } }) => ({ merchant, change })),
    ({ change }) => `${isPassword(change)} ${change.kind} ${change.resource}`,
  );
  return kinds.map((group) => {
    const [{ change: first }] = group;
    if (group.length === 1) return changeName(first);
    const verb = isPassword(first) ? "set the passwords of" : first.kind;
    const names = groupByKey(group, ({ change }) => change.name).map((same) => {
      const { name } = same[0].change;
      return several && same.length > 1 ? `${name} at ${counted(same.length, "merchant")}` : name;
    });
    return `${verb} ${first.resource}${names.length > 1 ? "s" : ""} ${namesText(names, NAMES_SHOWN)}`;
  });
}

function changeName(change: Change): string {
  if (isPassword(change)) return `set the password of ${change.resource} ${change.name}`;
  return summaryOf(change);
}

/** Lists the access of removed invitations without a known successor, and how to send it again. */
function lost(hits: readonly Hit[], run: string): readonly Block[] {
  const texts = hits.flatMap(({ outcome }) => lostText(outcome) ?? []);
  if (texts.length === 0) return [];
  const again = `"rolecall undo ${run}" invites them with all of this; "rolecall apply" invites them with what the files list.`;
  return [...cutItems(texts), indented([sentence(again, { mark: "next" })])];
}

/** Describes a removed invitation without a known successor, with what it held. */
function lostText(outcome: Outcome): string | null {
  const { change, status } = outcome;
  if (!("removed" in outcome) || change.resource !== "member" || change.before === null) return null;
  const fate =
    outcome.removed === "unknown"
      ? "It is unknown whether the expired invitation was deleted; no new one was sent."
      : `The expired invitation was deleted, and ${status === "unknown" ? "it is unknown whether a new one was sent" : "no new one was sent"}.`;
  return `${change.name}: ${fate} It held: ${heldText(change.before)}.`;
}

/** Names the changes that are left without a failure of their own, and those that the journal misses. */
export function rest({ run, ends }: Pick<AppliedRun, "run" | "ends">): Document {
  const several = ends.length > 1;
  const entries = ends.flatMap(({ plan: { merchant }, result }) =>
    result.outcomes.map((outcome) => ({ merchant, outcome })),
  );
  const unrecorded = ends.flatMap(({ plan: { merchant }, result: { outcomes, unrecorded } }) =>
    outcomes.flatMap(({ status, change }) =>
      unrecorded.includes(change)
        ? [`${changeName(change)}${several ? ` at ${merchant}` : ""}: ${status.replace("-", " ")}`]
        : [],
    ),
  );
  const of = (status: Outcome["status"]) =>
    entries.filter(({ outcome }) => outcome.status === status && !("failure" in outcome && outcome.failure));
  const unfinished = of("unfinished");
  const waits = ends.some(({ result }) => result.status === "incomplete")
    ? " (their holders have not been invited yet)"
    : "";
  const title = [toned("yellow", "not recorded"), " (the outcome is not in the journal):"];
  return [
    titled(TITLES.unfinished, unfinished, several, "yellow", lost(unfinished, run)),
    titled(`${TITLES["not-started"]}${waits}`, of("not-started"), several, "bold", []),
    unrecorded.length === 0 ? [] : [sentence(title, { below: cutItems(unrecorded) })],
  ];
}
