import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { resourceKindOf } from "../plan/reviewed-state.ts";
import { type UpcomingDate, upcomingDates } from "../plan/upcoming-dates.ts";
import type { Review } from "./merged-reviews.ts";
import type { Seal } from "./seal.ts";

/** The dates in files beside those that reviews showed. */
export interface ReviewedDates {
  /** Returns the last moments before each reviewed date of somebody that is past, the latest first. */
  momentsBefore(name: string): readonly number[];
  /** Returns whether dates have brought somebody something since a time, and all of them were reviewed. */
  areReviewed(name: string, since: number): boolean;
  /** Returns the permissions that reviewed dates have brought somebody since a time, as their reviews showed it. */
  brought(
    name: string,
    since: number,
  ): { readonly held: ReadonlySet<string>; readonly reach: ReadonlySet<string> };
  /**
   * The texts of all dates in the files: also of those that nothing comes of, because somebody leaves or a membership ends
   * before.
   */
  readonly declared: ReadonlySet<string>;
  /** The names of people with dates to come. */
  readonly coming: ReadonlySet<string>;
  /** The dates to come that no review shows. */
  readonly unseen: readonly UpcomingDate[];
  /** The other dates to come that bring permissions which their reviews do not show. */
  readonly wider: readonly UpcomingDate[];
}

/** A date, of one role or of the whole membership. */
interface SingleDate {
  readonly at: number;
  readonly name: string;
  /** Its person, kind and role. */
  readonly effect: string;
  /** The same with its time. */
  readonly text: string;
}

/** Compares the dates in files with those that reviews showed; `fresh` is what a plan of the files shows at a time. */
export function reviewedDates(
  reviews: readonly ReviewedState[],
  desired: DesiredState,
  fresh: ReviewedState,
  now: number,
  seal: Seal,
): ReviewedDates {
  const singlesOf = (date: UpcomingDate): readonly SingleDate[] => {
    const { at, email, roles } = date;
    return singleDates({ at, name: seal(email.toLowerCase()), what: resourceKindOf(date), roles });
  };
  const dates = upcomingDates(desired, Number.NEGATIVE_INFINITY);
  const past = dates.filter(({ at }) => at <= now).flatMap(singlesOf);
  const coming = dates.filter(({ at }) => at > now);
  const endless = desired.members?.map(({ until: _, ...member }) => member) ?? [];
  const hidden = [desired.members ?? [], endless].flatMap((members) =>
    upcomingDates({ members, leavers: [] }, Number.NEGATIVE_INFINITY),
  );
  const declared = [...dates, ...hidden].flatMap(singlesOf);
  const shown = broughtBy(reviews);
  const brought = broughtBy([
    { ...fresh, dates: fresh.dates.map((date) => ({ ...date, name: seal(date.name) })) },
  ]);
  const isShown = ({ text }: SingleDate): boolean => shown.has(text);
  const isWider = ({ text }: SingleDate): boolean =>
    [...(brought.get(text) ?? [])].some((permission) => shown.get(text)?.has(permission) === false);
  // Once both have passed, the date of a file leads to what another one of a review does.
  const seen = new Map(
    (past.length === 0 ? [] : reviews).flatMap((state) =>
      state.dates
        .filter(({ at }) => at <= now)
        .flatMap((date) => singleDates(date).map(({ effect }) => [effect, { date, state }] as const)),
    ),
  );
  const byName = new Map(groupByKey(past, ({ name }) => name).map((dates) => [dates[0].name, dates]));
  // The dates of an entry hold for the memberships of its previous addresses, too.
  const newNames = new Map(
    (desired.members ?? []).flatMap(({ email, previously = [] }) =>
      previously.map((address) => [seal(address.toLowerCase()), seal(email.toLowerCase())] as const),
    ),
  );
  const datesOf = (name: string): readonly SingleDate[] =>
    byName.get(name) ?? byName.get(newNames.get(name) ?? name) ?? [];
  const since = (name: string, time: number): readonly SingleDate[] =>
    datesOf(name).filter(({ at }) => at > time);
  return {
    momentsBefore: (name) =>
      [...new Set(datesOf(name).flatMap(({ at, effect }) => (seen.has(effect) ? [at - 1] : [])))].sort(
        (a, b) => b - a,
      ),
    areReviewed: (name, time) => {
      const dates = since(name, time);
      return dates.length > 0 && dates.every(({ effect }) => seen.has(effect));
    },
    brought: (name, time) => {
      const shown = since(name, time).flatMap(({ effect }) => seen.get(effect) ?? []);
      const of = (field: "brings" | "reach"): ReadonlySet<string> =>
        new Set(shown.flatMap(({ date, state }) => state.permissionSets[date[field]] ?? []));
      return { held: of("brings"), reach: of("reach") };
    },
    declared: new Set(declared.map(({ text }) => text)),
    coming: new Set(declared.flatMap(({ at, name }) => (at > now ? name : []))),
    unseen: coming.filter((date) => !singlesOf(date).every(isShown)),
    wider: coming.filter((date) => singlesOf(date).every(isShown) && singlesOf(date).some(isWider)),
  };
}

/** Returns the permissions that dates bring or put within reach as the last of some states shows them, by text. */
function broughtBy(states: readonly ReviewedState[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    states.flatMap(({ dates, permissionSets }) =>
      dates.flatMap((date) => {
        const held = permissionSets[date.brings] ?? [];
        const permissions = new Set([
          ...held,
          ...(permissionSets[date.reach] ?? []).map((one) => `reach ${one}`),
        ]);
        return singleDates(date).map(({ text }) => [text, permissions] as const);
      }),
    ),
  );
}

function singleDates({
  at,
  name,
  what,
  roles,
}: Pick<ReviewedDate, "at" | "name" | "what" | "roles">): readonly SingleDate[] {
  const parts = roles.length === 0 ? [""] : roles;
  return parts.map((role) => {
    const effect = JSON.stringify([name, what, role]);
    return { at, name, effect, text: `${at} ${effect}` };
  });
}

/** Returns a text for each role of dates, or for the whole membership: equal for equal dates. */
export function dateTexts(dates: readonly ReviewedDate[]): ReadonlySet<string> {
  return new Set(dates.flatMap(singleDates).map(({ text }) => text));
}

/** Returns reviews with the names that people and roles have in the files by now, if their dates name former ones. */
export function withCurrentNames(
  reviews: readonly Review[],
  { members = [], roles = [] }: DesiredState,
  seal: Seal,
): readonly Review[] {
  const people = currentNames(
    members
      .map(({ email, previously = [] }) => [email, previously].flat())
      .map((names) => names.map((name) => seal(name.toLowerCase()))),
  );
  const ofRoles = currentNames(roles.map(({ name, previously = [] }) => [name, ...previously]));
  if (people.size + ofRoles.size === 0) return reviews;
  const current = (dates: readonly ReviewedDate[]): readonly ReviewedDate[] =>
    dates.map((date) => ({
      ...date,
      name: people.get(date.name) ?? date.name,
      roles: date.roles.map((role) => ofRoles.get(role) ?? role),
    }));
  return reviews.map((review) => {
    const { dates, baseDates, ...state } = review.state;
    return {
      ...review,
      state: { ...state, dates: current(dates), ...(baseDates && { baseDates: current(baseDates) }) },
    };
  });
}

/** Returns the names of entries by the former ones that no other entry has by now. */
function currentNames(entries: readonly (readonly string[])[]): ReadonlyMap<string, string> {
  const taken = new Set(entries.map(([name]) => name));
  return new Map(
    entries.flatMap(([name = "", ...former]) =>
      former.flatMap((one) => (taken.has(one) ? [] : [[one, name] as const])),
    ),
  );
}
