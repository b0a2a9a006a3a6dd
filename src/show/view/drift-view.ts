import { invertedDiff } from "../../kernel/fields/show.ts";
import { counted, grouped, utcMinute } from "../../lib/text.ts";
import type { Change } from "../../model/plan.ts";
import type {
  Drift,
  DriftCause,
  DriftEvent,
  DriftedChange,
  RecordedCommit,
  RecordedSpan,
} from "../../model/reports.ts";
import { type RowView, rowOf } from "./change-view.ts";
import { inNaturalOrder, type PlaceOf, type PlanView, planView } from "./plan-view.ts";
import { type RiskView, risksOf } from "./risk-view.ts";

const TITLES: Readonly<Record<DriftCause, string>> = {
  "outside-git": "Changed outside git: the live state is newer",
  "not-applied": "Merged, but not applied: the file is newer",
  due: "Due by a date in the file, but not applied yet",
  unknown: "Different; which side changed is unknown",
};
const CAUSES: readonly DriftCause[] = ["outside-git", "not-applied", "due", "unknown"];

/** The titles of a drift's groups, in the order they are shown. */
export const DRIFT_TITLES: readonly string[] = CAUSES.map((cause) => TITLES[cause]);

/** The number of differences of each kind, and of rules that live access breaks. */
export interface DriftSums {
  readonly added: number;
  readonly changed: number;
  /** Declared and not live; it is unknown whether they ever were. */
  readonly missing: number;
  readonly notApplied: number;
  /** Changes that only a date in the files causes. */
  readonly due: number;
  readonly unknown: number;
  readonly violations: number;
}

/** One merchant's drift: a plan view of what happened, not of its revert. */
export interface DriftView extends PlanView {
  readonly sums: DriftSums;
}

/** Returns the view of a drift, grouped by the side that changed; its refusals are the rules that live access breaks. */
export function driftView(drift: Drift, placeOf?: PlaceOf): DriftView {
  const { plan, changes, impact, violations } = drift;
  const listed = plan.changes.flatMap((change, index) => {
    const drifted = changes[index];
    return drifted === undefined || isConsequence(drifted) ? [] : [{ change, drifted }];
  });
  const groups = CAUSES.map((cause) => ({
    title: TITLES[cause],
    rows: listed
      .filter(({ drifted }) => drifted.cause === cause)
      .map(({ change, drifted }) => rowOfDrift(change, drifted)),
  }));
  const view = planView({ ...plan, refusals: violations }, placeOf);
  return {
    ...view,
    impact: inNaturalOrder(impact),
    risks: driftRisks(drift),
    origin: changes.some(({ cause, event }) => cause === "unknown" && isMade(event))
      ? "unknown"
      : "outside-git",
    groups: groups.filter(({ rows }) => rows.length > 0),
    passwords: [],
    sums: { ...driftSums(drift), violations: brokenRules([view]) },
  };
}

/** A drift with its risks, as other programs get it. */
export interface RiskyDrift extends Drift {
  readonly risks: readonly RiskView[];
}

/** Adds the risks of what happened. */
export function withRisks(drift: Drift): RiskyDrift {
  return { ...drift, risks: driftRisks(drift) };
}

/** Returns the risks of what happened, not of its revert: those certainly outside git, separate from the rest. */
function driftRisks({ plan, changes, impact }: Drift): readonly RiskView[] {
  const eventsOf = (cause: DriftCause): readonly Change[] =>
    plan.changes.filter(
      (_, index) => changes[index]?.cause === cause && isMade(changes[index]?.event ?? null),
    );
  const unknown = eventsOf("unknown");
  const names = new Set(unknown.map(({ name }) => name));
  // The holders of a role have gained permissions through its change.
  const isUnknownRole = unknown.some(({ resource }) => resource === "role");
  return (["outside-git", "unknown"] as const).flatMap((origin) => {
    const members = impact.members.filter(
      ({ name }) => (isUnknownRole || names.has(name)) === (origin === "unknown"),
    );
    const happened = origin === "unknown" ? unknown : eventsOf(origin);
    const risks = risksOf({ changes: happened.map(inverted), impact: { ...impact, members }, findings: [] });
    return risks.map((risk) => ({ ...risk, origin }));
  });
}

/** Returns whether an event certainly happened, which is unknown for missing entries. */
function isMade(event: DriftEvent | null): boolean {
  return event !== null && event !== "missing";
}

function driftSums({ changes }: Drift): Omit<DriftSums, "violations"> {
  const outside = (event: DriftEvent): number =>
    changes.filter((change) => change.cause === "outside-git" && change.event === event).length;
  return {
    added: outside("added"),
    changed: outside("changed"),
    missing: changes.filter(({ event }) => event === "missing").length,
    notApplied: changes.filter(({ cause }) => cause === "not-applied").length,
    due: changes.filter(({ cause }) => cause === "due").length,
    unknown: changes.filter((change) => change.cause === "unknown" && isMade(change.event)).length,
  };
}

/** Adds up the sums of several merchants; a rule that they share is one. */
export function addSums(views: readonly DriftView[]): DriftSums {
  const sum = (key: keyof DriftSums): number => views.reduce((total, { sums }) => total + sums[key], 0);
  return {
    added: sum("added"),
    changed: sum("changed"),
    missing: sum("missing"),
    notApplied: sum("notApplied"),
    due: sum("due"),
    unknown: sum("unknown"),
    violations: brokenRules(views),
  };
}

/** Counts the rules that live access breaks, each once however many people break it. */
export function brokenRules(views: readonly Pick<PlanView, "merchant" | "refusals">[]): number {
  const rules = views.flatMap(({ merchant, refusals }) =>
    refusals.map(({ code, place, message }) =>
      place === null ? `${merchant} ${message}` : `${code} ${place}`,
    ),
  );
  return new Set(rules).size;
}

/** Returns the number of differences, without broken rules. */
export function differencesIn({ added, changed, missing, notApplied, due, unknown }: DriftSums): number {
  return added + changed + missing + notApplied + due + unknown;
}

/** "live access breaks 1 rule; 3 differences (1 added, 1 changed outside git, 1 not applied)", or "none". */
export function driftText(sums: DriftSums): string {
  const { violations, missing, notApplied, due, unknown } = sums;
  const events = (["added", "changed"] as const)
    .filter((event) => sums[event] > 0)
    .map((event) => `${grouped(sums[event])} ${event}`);
  const sides = [
    ...(events.length > 0 ? [`${events.join(", ")} outside git`] : []),
    ...(missing > 0 ? [`${grouped(missing)} declared, not live`] : []),
    ...(notApplied > 0 ? [`${grouped(notApplied)} not applied`] : []),
    ...(due > 0 ? [`${grouped(due)} due`] : []),
    ...(unknown > 0 ? [`${grouped(unknown)} unknown`] : []),
  ];
  const parts = [
    ...(violations > 0 ? [`live access breaks ${counted(violations, "rule")}`] : []),
    ...(sides.length > 0 ? [`${counted(differencesIn(sums), "difference")} (${sides.join(", ")})`] : []),
  ];
  return parts.length === 0 ? "none" : parts.join("; ");
}

/** Returns the text of a drift; with problems, its total is incomplete. */
export function knownDriftText(sums: DriftSums, hasProblems: boolean, none: string): string {
  const isNone = differencesIn(sums) + sums.violations === 0;
  if (!hasProblems) return isNone ? none : driftText(sums);
  return isNone ? "unknown, because of the problems" : `${driftText(sums)}; the rest is unknown`;
}

/** A member who would only move along with a replaced role: nothing has happened to them. */
function isConsequence({ cause, event }: DriftedChange): boolean {
  return cause !== "not-applied" && cause !== "due" && event === null;
}

function rowOfDrift(change: Change, { event, cause, recorded }: DriftedChange): RowView {
  if (event === null) return rowOf(change);
  const row = rowOf(inverted(change));
  const when = recorded === undefined ? [] : [{ ...NO_DETAIL, label: "when", plain: [spanText(recorded)] }];
  return {
    ...row,
    details: [...row.details, ...when],
    verb:
      event === "missing" ? "declared, not live" : cause === "outside-git" ? `${event} outside git` : event,
  };
}

const NO_DETAIL = { removed: [], added: [] };

/** "between the recorded states of 2026-06-15 12:00 UTC (0a1b2c3d4e5f) and 2026-06-16 03:00 UTC (f5e4d3c2b1a0)". */
function spanText({ from, to }: RecordedSpan): string {
  const stateText = ({ commit, at }: RecordedCommit): string => `${utcMinute(at)} (${commit.slice(0, 12)})`;
  if (from !== null && to !== null)
    return `between the recorded states of ${stateText(from)} and ${stateText(to)}`;
  if (from !== null) return `after the recorded state of ${stateText(from)}`;
  return to === null ? "" : `before the first recorded state, of ${stateText(to)}`;
}

/** Returns what a change would revert, as a change: from what the file says to what is live. */
function inverted(change: Change): Change {
  const { before, after, name } = change;
  const fields = change.fields.map(invertedDiff);
  // The reason says why it would be reverted; only of what no file lists it says something of the event, too.
  const rest = { ...change, before: after, after: before, fields, reason: reasonOf(change) };
  switch (change.kind) {
    case "create":
      return { ...rest, kind: "delete", id: name } as unknown as Change;
    case "delete":
      return { ...rest, kind: "create", id: null } as unknown as Change;
    case "update":
    case "replace":
      return { ...rest, kind: "update" } as Change;
    default:
      return change satisfies never;
  }
}

function reasonOf({ reason }: Change): Change["reason"] {
  return reason === "unlisted" ? "unlisted" : "declared";
}
