import { by } from "../../lib/text.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import { isSuspended } from "../diff/active-member.ts";
import type { DateEffect } from "../findings/date-words.ts";
import { addressesOfPerson } from "../values/person.ts";

/** The part of a desired state that has dates. */
export type TimedState = Pick<DesiredState, "members" | "leavers">;

/** An upcoming effect of a date in the files. */
export interface UpcomingDate extends DateEffect {
  /** In ms since the epoch. */
  readonly at: number;
}

/** Returns the effects of the future dates of a file: sorted by time, then by address. */
export function upcomingDates(
  { members = [], leavers = [] }: TimedState,
  now: number,
): readonly UpcomingDate[] {
  const listed = new Set(leavers.length === 0 ? [] : members.flatMap(addressesOfPerson));
  const leaving = leavers.map(({ email, from: { starts, text } }): UpcomingDate => {
    const what = listed.has(email.toLowerCase()) ? "leaves" : "leaves-unlisted";
    return { at: starts, text, email, what, roles: [] };
  });
  const leavesAt = new Map(leavers.map(({ email, from }) => [email.toLowerCase(), from.starts]));
  const dated = members.filter((member) => hasOwnEnds(member) || hasBeginnings(member));
  const ownDates = dated.flatMap((member): readonly UpcomingDate[] => {
    const last = leavesAt.get(member.email.toLowerCase()) ?? Number.POSITIVE_INFINITY;
    const dates = [...beginningsOf(member), ...endsOf(member), ...suspensionOf(member)];
    return dates.filter(({ at }) => at < last).map((date) => ({ ...date, email: member.email }));
  });
  return [...leaving, ...ownDates]
    .filter(({ at }) => at > now)
    .sort((a, b) => a.at - b.at || by(({ email }: UpcomingDate) => email)(a, b));
}

/** Returns the future dates that have no effect because the person leaves or the membership ends first. */
export function hiddenDates(desired: TimedState, now: number): readonly UpcomingDate[] {
  const { members = [] } = desired;
  const shown = new Set(upcomingDates(desired, now).map(dateText));
  const endless = members.map(({ until: _, ...member }) => member);
  const all = [members, endless].flatMap((some) => upcomingDates({ members: some, leavers: [] }, now));
  const hidden = new Map(all.map((date) => [dateText(date), date]));
  return [...hidden].flatMap(([text, date]) => (shown.has(text) ? [] : date));
}

function dateText({ at, email, what, roles }: UpcomingDate): string {
  return JSON.stringify([at, email, what, roles]);
}

const SOON = 30 * 86_400_000;

/** Returns the effects of the dates of a file within 30 days, and all future leavers. */
export function soonDates(desired: TimedState, now: number): readonly UpcomingDate[] {
  return upcomingDates(desired, now).filter(
    ({ at, what }) => at <= now + SOON || what === "leaves" || what === "leaves-unlisted",
  );
}

/** Returns whether a date gives somebody access. */
export function bringsAccess({ what }: UpcomingDate): boolean {
  return what === "joins" || what === "begins" || what === "back";
}

type OwnDate = Omit<UpcomingDate, "email">;

/** Returns when the membership begins with its first roles, and when further roles begin. */
function beginningsOf(member: DesiredMember): readonly OwnDate[] {
  const { from, until, roles = [] } = member;
  const start = from?.starts ?? Number.NEGATIVE_INFINITY;
  const grants = roles.map((grant) => {
    const begins = grant.from !== undefined && grant.from.starts > start ? grant.from : from;
    return { role: grant.role, own: begins, at: begins?.starts ?? Number.NEGATIVE_INFINITY };
  });
  const first = Math.min(...grants.map(({ at }) => at));
  const times = new Map(
    grants.flatMap(({ own: beginning }) =>
      beginning === undefined ? [] : [[beginning.starts, beginning.text]],
    ),
  );
  if (from !== undefined && grants.length === 0) times.set(from.starts, from.text);
  return [...times].flatMap(([time, text]): readonly OwnDate[] => {
    const what = time === first || grants.length === 0 ? "joins" : "begins";
    const begun = grants.filter((grant) => grant.at === time).map(({ role }) => role);
    // Nobody is invited or given roles while suspended.
    const isReal = time < (until?.ends ?? Number.POSITIVE_INFINITY) && !isSuspended(member, time);
    return isReal ? [{ at: time, text, what, roles: begun.sort() }] : [];
  });
}

function endsOf({ until, roles = [] }: DesiredMember): readonly OwnDate[] {
  const last = until?.ends ?? Number.POSITIVE_INFINITY;
  const ending = roles.flatMap(({ role, until: end }) =>
    end !== undefined && end.ends < last ? [{ role, end }] : [],
  );
  const times = [...new Map(ending.map(({ end }) => [end.ends, end])).values()];
  return [
    ...times.map(({ ends: at, text }): OwnDate => {
      const endingThen = ending.filter(({ end }) => end.ends === at);
      return { at, text, what: "ends", roles: endingThen.map(({ role }) => role).sort() };
    }),
    ...(until === undefined ? [] : [{ at: last, text: until.text, what: "ends", roles: [] } as const]),
  ];
}

function suspensionOf({ suspended: { from, until: end } = {}, until }: DesiredMember): readonly OwnDate[] {
  const dates: readonly OwnDate[] = [
    ...(from === undefined
      ? []
      : [{ at: from.starts, text: from.text, what: "suspended", roles: [] } as const]),
    ...(end === undefined ? [] : [{ at: end.ends, text: end.text, what: "back", roles: [] } as const]),
  ];
  return dates.filter(({ at }) => at < (until?.ends ?? Number.POSITIVE_INFINITY));
}

function hasOwnEnds({ until, roles = [] }: DesiredMember): boolean {
  return until !== undefined || roles.some((grant) => grant.until);
}

/** Returns whether an entry has a start date or a suspension. */
function hasBeginnings({ from, suspended, roles = [] }: DesiredMember): boolean {
  return from !== undefined || suspended !== undefined || roles.some((grant) => grant.from);
}
