import { groupByKey } from "../../lib/text.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { ADMINISTRATORS, gainsOf } from "../rules/gains.ts";
import { limitRun, type RunFiles, type RunPlan } from "../rules/run-limits.ts";
import { overrideKind } from "../rules/settings/every-setting.ts";
import { SENSITIVE } from "../rules/settings/sensitive.ts";
import { bringsAccess, type UpcomingDate } from "./upcoming-dates.ts";

/** Effects of the dates in a merchant's files at one upcoming moment, and why an apply would be refused then. */
export interface LaterDay {
  /** In ms since the epoch. */
  readonly at: number;
  /** At least one. */
  readonly dates: readonly UpcomingDate[];
  readonly refusals: readonly Refusal[];
  /** People who become administrators or gain sensitive permissions, except those who also do so by the base's files. */
  readonly gains: readonly DatedGain[];
}

/** Somebody's gains on one day. */
interface DatedGain {
  readonly name: string;
  /** Administrators' roles, or sensitive permissions that are held or within reach; all roles of a day that is not judged. */
  readonly gained: readonly string[];
}

/** The part of a plan that a day is judged by. */
type JudgedPlan = Omit<RunPlan, "reviewed"> & Partial<Pick<Plan, "reviewed">>;

/** Judges the same states as of another time, without the changes of these fingerprints. */
export type JudgeAt = (now: number) => (without?: ReadonlySet<string>) => JudgedPlan;

/** The dates of a merchant's files, and how to judge what they bring. */
export interface DatedMerchant {
  readonly dates: readonly UpcomingDate[];
  /** Absent if the merchant has no plan. */
  readonly judgeAt?: JudgeAt | undefined;
  readonly files: RunFiles;
}

/** Number of moments of a merchant that are judged; each takes up to three judgements. */
const MAX_JUDGED = 10;

/** Number of moments judged because they bring access. */
const MAX_BRINGING = 50;

/**
 * Returns for each merchant of a run the days on which dates bring something, the earliest first. Judges the first of them
 * as if everything due until then were done, also by the limits of the run.
 */
export function laterDays(merchants: readonly DatedMerchant[]): readonly (readonly LaterDay[])[] {
  const judged = merchants.map((merchant) => daysOf(merchant.dates, merchant));
  const parts = judged.flat().flatMap(({ day, part }) => (part === null ? [] : { at: day.at, part }));
  const ofRun = new Map<string, readonly Refusal[]>();
  for (const day of groupByKey(parts, ({ at }) => at)) {
    for (const { merchant, refusals } of limitRun(day.map(({ part }) => part)))
      ofRun.set(`${day[0].at} ${merchant}`, refusals);
  }
  return judged.map((days) =>
    days.map(({ day, part }) => {
      const refusals = ofRun.get(`${day.at} ${part?.plan.merchant}`) ?? [];
      return refusals.length === 0 ? day : { ...day, refusals: [...day.refusals, ...refusals] };
    }),
  );
}

/** A day of one merchant; `part` is what it adds, `null` if it is not judged. */
interface JudgedDay {
  readonly day: LaterDay;
  readonly part: { readonly plan: RunPlan; readonly files: RunFiles } | null;
}

/** Groups dates by their moments, the earliest first, and judges some of these. */
function daysOf(
  dates: readonly UpcomingDate[],
  { judgeAt, files }: Pick<DatedMerchant, "judgeAt" | "files">,
): readonly JudgedDay[] {
  const days = groupByKey(dates, ({ at }) => String(at))
    .map((datesOfDay) => ({ at: datesOfDay[0].at, dates: datesOfDay, refusals: [], gains: [] }))
    .sort((a, b) => a.at - b.at);
  if (judgeAt === undefined) return days.map((day) => ({ day, part: null }));
  const bringing = days.filter((day) => day.dates.some(bringsAccess));
  const judged = new Set([...days.slice(0, MAX_JUDGED), ...bringing.slice(0, MAX_BRINGING)]);
  return days.map((day) => {
    if (!judged.has(day)) return { day: { ...day, gains: possibleGains(day.dates) }, part: null };
    const { added, refusals, gains } = judgeDay(day.at, judgeAt, files.members);
    const plan = { ...added, refusals: [], reviewed: { at: day.at } };
    // Others gain something by dates that are not asked for.
    const emails = new Set(day.dates.map(({ email }) => email.toLowerCase()));
    const own = gains.filter(({ name }) => emails.has(name.toLowerCase()));
    return { day: { ...day, refusals, gains: own }, part: { plan, files } };
  });
}

/**
 * Returns what a day adds, and its refusals and gains. Limits of how much changes at once count what this day adds; other rules
 * judge the state that it leads to.
 */
function judgeDay(
  time: number,
  judgeAt: JudgeAt,
  entries: RunFiles["members"],
): Pick<LaterDay, "refusals" | "gains"> & { readonly added: JudgedPlan } {
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
  return { added, refusals, gains: newGains(before, whole, entries) };
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

/** Returns the risky gains of a plan by name: the permissions of administrators go without saying. */
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
