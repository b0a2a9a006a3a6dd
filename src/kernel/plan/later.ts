import { groupByKey } from "../../lib/text.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { ADMINISTRATORS, gainsOf } from "../rules/gains.ts";
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
  /** Who becomes an administrator or gains sensitive permissions; without those who do so by the files of the base, too. */
  readonly gains: readonly DatedGain[];
}

/** Somebody's gains on one day. */
interface DatedGain {
  readonly name: string;
  /** Administrators' roles, or sensitive permissions that are held or within reach; all roles of a day that is not judged. */
  readonly gained: readonly string[];
}

/** The part of a plan that a day is judged by. */
type JudgedPlan = Pick<Plan, "changes" | "refusals" | "impact"> & Partial<Pick<Plan, "reviewed">>;

/** Judges the same states as of another time, without the changes of these fingerprints. */
export type JudgeAt = (now: number) => (without?: ReadonlySet<string>) => JudgedPlan;

/** Number of moments that are judged; each takes up to three judgements. */
const MAX_JUDGED = 10;

/** Number of moments judged because they bring access. */
const MAX_BRINGING = 50;

/**
 * Returns the days on which dates bring something, the earliest first, and judges the first of them as if everything due
 * until then were done.
 */
export function laterDays(dates: readonly UpcomingDate[], judgeAt: JudgeAt): readonly LaterDay[] {
  const days = daysOf(dates);
  const bringing = days.filter((day) => day.dates.some(bringsAccess));
  const judged = new Set([...days.slice(0, MAX_JUDGED), ...bringing.slice(0, MAX_BRINGING)]);
  return days.map((day) =>
    judged.has(day) ? { ...day, ...judgeDay(day.at, judgeAt) } : { ...day, gains: possibleGains(day.dates) },
  );
}

/** Groups dates by their moments, the earliest first, without judging them. */
export function daysOf(dates: readonly UpcomingDate[]): readonly LaterDay[] {
  const days = groupByKey(dates, ({ at }) => String(at));
  return days
    .map((datesOfDay) => ({ at: datesOfDay[0].at, dates: datesOfDay, refusals: [], gains: [] }))
    .sort((a, b) => a.at - b.at);
}

/**
 * Returns the refusals and gains that a day brings. Limits of how much changes at once count what this day adds; other rules
 * judge the state that it leads to.
 */
function judgeDay(time: number, judgeAt: JudgeAt): Pick<LaterDay, "refusals" | "gains"> {
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
  return { refusals, gains: newGains(before, whole) };
}

function newGains(before: JudgedPlan, { reviewed, ...plan }: JudgedPlan): readonly DatedGain[] {
  const earlier = riskyGains(before);
  const changed =
    reviewed?.hasBase === true
      ? new Set(
          reviewed.people.flatMap(({ name, held, reach }) =>
            held.base === undefined && reach.base === undefined ? [] : [name],
          ),
        )
      : null;
  return [...riskyGains(plan)].flatMap(([name, items]) => {
    const gained = items.filter((item) => !earlier.get(name)?.includes(item));
    const isChanged = changed === null || changed.has(name.toLowerCase());
    return gained.length > 0 && isChanged ? [{ name, gained }] : [];
  });
}

/** Returns the risky gains of a plan by name: the permissions of administrators go without saying. */
function riskyGains({ changes, impact }: JudgedPlan): ReadonlyMap<string, readonly string[]> {
  const members = changes.flatMap((change) => (change.resource === "member" ? [change] : []));
  const plan = { impact, members };
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
