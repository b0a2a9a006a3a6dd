import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { resourceKindOf } from "../plan/reviewed-state.ts";
import { upcomingDates } from "../plan/upcoming-dates.ts";
import type { Seal } from "./seal.ts";

/** Effects of reviewed dates that have passed. */
export interface PassedDates {
  /** Returns the last moments before each reviewed date of somebody that is past, the latest first. */
  momentsBefore(name: string): readonly number[];
  /** Returns whether dates have brought somebody something since a time, and all of them were reviewed. */
  areReviewed(name: string, since: number): boolean;
  /** Returns the permissions that reviewed dates have brought somebody since a time, as their reviews showed it. */
  brought(
    name: string,
    since: number,
  ): { readonly held: ReadonlySet<string>; readonly reach: ReadonlySet<string> };
}

/** A date, of one role or of the whole membership. */
interface SingleDate {
  readonly at: number;
  readonly name: string;
  readonly text: string;
}

/** Compares the dates in files that are past with those that reviews showed. */
export function passedDates(
  reviews: readonly ReviewedState[],
  desired: DesiredState,
  now: number,
  seal: Seal,
): PassedDates {
  const past = datesIn(desired, Number.NEGATIVE_INFINITY, seal)
    .filter(({ at }) => at <= now)
    .flatMap(singleDates);
  const seen = new Map(
    (past.length === 0 ? [] : reviews).flatMap((state) =>
      state.dates.flatMap((date) => singleDates(date).map(({ text }) => [text, { date, state }] as const)),
    ),
  );
  const byName = new Map(groupByKey(past, ({ name }) => name).map((dates) => [dates[0].name, dates]));
  // The dates of an entry hold for the memberships of its previous addresses, too.
  const currentNames = new Map(
    (desired.members ?? []).flatMap(({ email, previously = [] }) =>
      previously.map((address) => [seal(address.toLowerCase()), seal(email.toLowerCase())] as const),
    ),
  );
  const datesOf = (name: string): readonly SingleDate[] =>
    byName.get(name) ?? byName.get(currentNames.get(name) ?? name) ?? [];
  const since = (name: string, time: number): readonly SingleDate[] =>
    datesOf(name).filter(({ at }) => at > time);
  return {
    momentsBefore: (name) =>
      [...new Set(datesOf(name).flatMap(({ at, text }) => (seen.has(text) ? [at - 1] : [])))].sort(
        (a, b) => b - a,
      ),
    areReviewed: (name, time) => {
      const dates = since(name, time);
      return dates.length > 0 && dates.every(({ text }) => seen.has(text));
    },
    brought: (name, time) => {
      const shown = since(name, time).flatMap(({ text }) => seen.get(text) ?? []);
      const of = (field: "brings" | "reach"): ReadonlySet<string> =>
        new Set(shown.flatMap(({ date, state }) => state.permissionSets[date[field]] ?? []));
      return { held: of("brings"), reach: of("reach") };
    },
  };
}

/** A date without what it brings. */
type DateOfReview = Pick<ReviewedDate, "at" | "name" | "what" | "roles">;

/** Returns the dates of single roles that a date joins. */
export function singleDates({ at, name, what, roles }: DateOfReview): readonly SingleDate[] {
  const parts = roles.length === 0 ? [""] : roles;
  return parts.map((role) => ({ at, name, text: JSON.stringify([at, name, what, role]) }));
}

/** Returns the dates of a review that files still have. */
export function datesStillToCome(
  dates: readonly ReviewedDate[],
  declared: readonly DateOfReview[],
): readonly ReviewedDate[] {
  const toCome = new Set(declared.flatMap((date) => singleDates(date).map(({ text }) => text)));
  return dates.filter((date) => singleDates(date).some(({ text }) => toCome.has(text)));
}

/** Returns the dates in files after a time, as reviews name them. */
export function datesIn(desired: DesiredState, time: number, seal: Seal): readonly DateOfReview[] {
  return upcomingDates(desired, time).map((date) => {
    const { at, roles } = date;
    return { at, name: seal(date.email.toLowerCase()), what: resourceKindOf(date), roles };
  });
}
