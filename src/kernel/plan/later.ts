import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { judgeAcross } from "../rules/across-merchants.ts";
import { ADMINISTRATORS, gainsOf } from "../rules/gains.ts";
import type { CountedPart, CountedPlan } from "../rules/people-across.ts";
import type { RunFiles, RunPlan } from "../rules/people-in-run.ts";
import { limitRun } from "../rules/run-limits.ts";
import { overrideKind } from "../rules/settings/every-setting.ts";
import { SENSITIVE } from "../rules/settings/sensitive.ts";
import { bringsAccess, type UpcomingDate } from "./upcoming-dates.ts";

/** Effects of the dates in a merchant's files at one future time, and why an apply would be refused then. */
export interface LaterDay {
  /** In ms since the epoch. */
  readonly at: number;
  /** At least one. */
  readonly dates: readonly UpcomingDate[];
  readonly refusals: readonly Refusal[];
  /**
   * People who become administrators or gain sensitive permissions, except those who also do so by the base's files.
   */
  readonly gains: readonly DatedGain[];
}

/** Somebody's gains on one day. */
interface DatedGain {
  readonly name: string;
  /**
   * Roles of administrators, or sensitive permissions that are held or within reach; on a day that is not judged, all
   * roles.
   */
  readonly gained: readonly string[];
}

/** The part of a plan that is needed to judge a day. */
type JudgedPlan = Omit<RunPlan & CountedPlan, "reviewed"> & Partial<Pick<Plan, "reviewed">>;

/** Judges the same states at another time, without the changes with these fingerprints. */
export type JudgeAt = (now: number) => (without?: ReadonlySet<string>) => JudgedPlan;

/** The dates of a merchant's files, and how to judge their effects. */
export interface DatedMerchant {
  readonly dates: readonly UpcomingDate[];
  readonly files: DesiredState;
  /** Absent if the merchant has no plan. */
  readonly planned?: PlannedDates | undefined;
}

/** A plan with its live state, and a function that judges them at another time. */
interface PlannedDates extends Pick<CountedPart, "plan" | "live"> {
  readonly judgeAt: JudgeAt;
}

/** Number of times that are judged for a merchant; each requires up to three judgements. */
const MAX_JUDGED = 10;

/** Number of times that are judged because they grant access. */
const MAX_BRINGING = 50;

/**
 * Returns, for each merchant of a run, the days on which dates have an effect, the earliest first. Judges the first of
 * them as if everything due until then were done, including the limits of the run and rules across merchants.
 * `declared` has all merchants to which these rules apply.
 */
export function laterDays(
  merchants: readonly DatedMerchant[],
  declared: readonly DesiredState[] = [],
): readonly (readonly LaterDay[])[] {
  const judged = merchants.map((merchant) => daysOf(merchant.dates, merchant));
  const across = refusedAcross(merchants, judged, declared);
  const parts = judged.flat().flatMap(({ day, part }) => (part === null ? [] : { at: day.at, part }));
  const ofRun = new Map<string, readonly Refusal[]>();
  for (const day of groupByKey(parts, ({ at }) => at)) {
    for (const { merchant, refusals } of limitRun(day.map(({ part }) => part)))
      ofRun.set(`${day[0].at} ${merchant}`, refusals);
  }
  return judged.map((days) =>
    days.map(({ day, part }) => {
      const key = `${day.at} ${part?.plan.merchant}`;
      const refusals = [...(ofRun.get(key) ?? []), ...(across.get(key) ?? [])];
      return refusals.length === 0 ? day : { ...day, refusals: [...day.refusals, ...refusals] };
    }),
  );
}

/**
 * Returns the refusals by rules across merchants that each day adds, by time and merchant. A merchant without dates on
 * a day is in the state after its previous dates.
 */
function refusedAcross(
  merchants: readonly DatedMerchant[],
  judged: readonly (readonly JudgedDay[])[],
  declared: readonly DesiredState[],
): ReadonlyMap<string, readonly Refusal[]> {
  if (!merchants.some(({ files }) => files.projects?.some(({ across }) => across))) return new Map();
  const run = new Map(
    merchants.flatMap(({ files, planned }) =>
      planned ? [[files.merchant, { ...planned, files, plan: asMade(planned.plan) }] as const] : [],
    ),
  );
  const judge = () =>
    judgeAcross([...run.values()], declared).flatMap(({ merchant, refusals }) =>
      refusals.map((refusal) => ({ merchant, refusal, key: `${merchant} ${keyOf(refusal)}` })),
    );
  const days = groupByKey(
    judged.flat().flatMap(({ day: { at }, part }) => (part === null ? [] : { at, whole: part.whole })),
    ({ at }) => String(at),
  ).toSorted(([a], [b]) => a.at - b.at);
  const added = new Map<string, readonly Refusal[]>();
  let known = judge();
  for (const day of days) {
    for (const { at, whole } of day) {
      const former = run.get(whole.merchant);
      if (former) run.set(whole.merchant, { ...former, plan: asMade({ ...whole, reviewed: { at } }) });
    }
    const before = new Set(known.map(({ key }) => key));
    known = judge();
    for (const { merchant, refusal, key } of known) {
      const place = `${day[0].at} ${merchant}`;
      if (!before.has(key)) added.set(place, [...(added.get(place) ?? []), refusal]);
    }
  }
  return added;
}

/** Returns a plan without its refusals and findings. */
function asMade(plan: CountedPlan): CountedPlan {
  return { ...plan, refusals: [], findings: [] };
}

/** A day of one merchant; `part` is what the day adds; `null` if it is not judged. */
interface JudgedDay {
  readonly day: LaterDay;
  readonly part: {
    readonly plan: RunPlan;
    readonly files: RunFiles;
    /** The plan of everything due until then. */
    readonly whole: JudgedPlan;
  } | null;
}

/** Groups dates by time, the earliest first, and judges some of these. */
function daysOf(
  dates: readonly UpcomingDate[],
  { planned, files }: Pick<DatedMerchant, "planned" | "files">,
): readonly JudgedDay[] {
  const days = groupByKey(dates, ({ at }) => String(at))
    .map((datesOfDay) => ({ at: datesOfDay[0].at, dates: datesOfDay, refusals: [], gains: [] }))
    .sort((a, b) => a.at - b.at);
  if (planned === undefined) return days.map((day) => ({ day, part: null }));
  const bringing = days.filter((day) => day.dates.some(bringsAccess));
  const judged = new Set([...days.slice(0, MAX_JUDGED), ...bringing.slice(0, MAX_BRINGING)]);
  return days.map((day) => {
    if (!judged.has(day)) return { day: { ...day, gains: possibleGains(day.dates) }, part: null };
    const { added, whole, refusals, gains } = judgeDay(day.at, planned.judgeAt, files.members);
    const plan = { ...added, refusals: [], reviewed: { at: day.at } };
    // Other people gain something from dates that are not requested.
    const emails = new Set(day.dates.map(({ email }) => email.toLowerCase()));
    const own = gains.filter(({ name }) => emails.has(name.toLowerCase()));
    return { day: { ...day, refusals, gains: own }, part: { plan, files, whole } };
  });
}

/**
 * Returns what a day adds, and its refusals and gains. Limits on simultaneous changes count what this day adds; other
 * rules judge the resulting state.
 */
function judgeDay(
  time: number,
  judgeAt: JudgeAt,
  entries: RunFiles["members"],
): Pick<LaterDay, "refusals" | "gains"> & Readonly<Record<"added" | "whole", JudgedPlan>> {
  const before = judgeAt(time - 1)();
  const judge = judgeAt(time);
  const whole = judge();
  const earlier = new Set(before.changes.map(({ fingerprint }) => fingerprint));
  const added = earlier.size === 0 ? whole : judge(earlier);
  const refusedBefore = new Set(before.refusals.map(keyOf));
  const refusals = [
    ...added.refusals.filter(isLimit),
    ...whole.refusals.filter((refusal) => !isLimit(refusal) && !refusedBefore.has(keyOf(refusal))),
  ];
  return { added, whole, refusals, gains: newGains(before, whole, entries) };
}

function newGains(
  before: JudgedPlan,
  { reviewed, ...plan }: JudgedPlan,
  entries: RunFiles["members"],
): readonly DatedGain[] {
  const earlier = riskyGains(before, entries);
  const changed =
    reviewed?.hasBase === true
      ? new Set(
          reviewed.people.flatMap(({ name, held, reach }) =>
            held.base === undefined && reach.base === undefined ? [] : [name],
          ),
        )
      : null;
  return [...riskyGains(plan, entries)].flatMap(([name, items]) => {
    const gained = items.filter((item) => !earlier.get(name)?.includes(item));
    const isChanged = changed === null || changed.has(name.toLowerCase());
    return gained.length > 0 && isChanged ? [{ name, gained }] : [];
  });
}

/** Returns the risky gains of a plan by name: new administrators' permissions are omitted. */
function riskyGains(
  { changes, impact }: JudgedPlan,
  entries: RunFiles["members"],
): ReadonlyMap<string, readonly string[]> {
  const members = changes.flatMap((change) => (change.resource === "member" ? [change] : []));
  const plan = { impact, members, entries };
  return new Map([
    ...gainsOf(SENSITIVE, plan, true),
    ...ADMINISTRATORS.flatMap((role) => [...gainsOf(role, plan)]),
  ]);
}

function possibleGains(dates: readonly UpcomingDate[]): readonly DatedGain[] {
  return dates.filter(bringsAccess).map(({ email, roles }) => ({ name: email, gained: roles }));
}

function isLimit({ rule, code }: Refusal): boolean {
  return rule === "guard" && overrideKind(code)?.limit !== undefined;
}

function keyOf({ rule, code, name, check }: Refusal): string {
  return JSON.stringify([rule, code, name, check]);
}
