import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { resourceKindOf } from "../plan/reviewed-state.ts";
import { type UpcomingDate, upcomingDates } from "../plan/upcoming-dates.ts";
import type { Review } from "./merged-reviews.ts";
import type { Seal } from "./seal.ts";

/**
 * The dates in files, compared with those that reviews decided: the last review that shows or removes a date decides.
 */
export interface ReviewedDates {
  /** Returns the last moments before each reviewed date of somebody that is past, the latest first. */
  momentsBefore(name: string): readonly number[];
  /** Returns whether dates have given somebody access since a time, and all of them were reviewed. */
  areReviewed(name: string, since: number): boolean;
  /** Returns the permissions that reviewed dates have given somebody since a time, as their reviews showed. */
  brought(
    name: string,
    since: number,
  ): { readonly held: ReadonlySet<string>; readonly reach: ReadonlySet<string> };
  /** Returns whether a reviewed date may still have an effect: it is past, or the files have it. */
  isOpen(date: ReviewedDate): boolean;
  /** The future dates that no review shows. */
  readonly unseen: readonly UpcomingDate[];
  /** The other future dates that grant permissions which their reviews do not show. */
  readonly wider: readonly UpcomingDate[];
  /** Returns the dates that a review added to the files, and that were removed without another review. */
  missing(): readonly MissingDate[];
}

/** A date that a review added to the files and that is no longer in them. */
export interface MissingDate {
  /** The index of the review. */
  readonly index: number;
  readonly date: ReviewedDate;
  /** Whether the person has other future dates. */
  readonly isComing: boolean;
  /** The date to come that does the same by now; `null` if none does. */
  readonly other: UpcomingDate | null;
}

/** A date, of one role or of the whole membership. */
interface SingleDate {
  readonly at: number;
  readonly name: string;
  /** Its person, kind and role. */
  readonly effect: string;
  /** The same with its time. */
  readonly text: string;
  /** Whether the person has no access from then on. */
  readonly isLast: boolean;
}

/** A date as a review shows it. */
interface ShownDate extends SingleDate {
  readonly held: readonly string[];
  readonly reach: readonly string[];
}

/** Compares the dates in files with those that reviews decided; `fresh` is what a plan of the files shows at a time. */
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
  // Including those without an effect, because somebody leaves or a membership ends before.
  const endless = desired.members?.map(({ until: _, ...member }) => member) ?? [];
  const hidden = [desired.members ?? [], endless].flatMap((members) =>
    upcomingDates({ members, leavers: [] }, Number.NEGATIVE_INFINITY),
  );
  const declared = [...dates, ...hidden].flatMap(singlesOf);
  const declaredTexts = new Set(declared.map(({ text }) => text));
  const namesToCome = new Set(declared.flatMap(({ at, name }) => (at > now ? name : [])));
  const decided = decidedDates(reviews);
  const brought = decidedDates([
    { ...fresh, dates: fresh.dates.map((date) => ({ ...date, name: seal(date.name) })) },
  ]);
  const isShown = ({ text }: SingleDate): boolean => decided.has(text);
  const isWider = ({ text }: SingleDate): boolean => isBeyond(brought.get(text), decided.get(text));
  // A reviewed end makes later dates of the same access unnecessary.
  const reviewedEnds = declared.filter(({ isLast, text }) => isLast && decided.has(text));
  const isOver = ({ at, name }: ReviewedDate): boolean =>
    reviewedEnds.some((end) => end.name === name && end.at <= at);
  // Once both have passed, the date of a file leads to what another one of a review does.
  const passed = new Map(
    [...decided.values()].flatMap((date) => (date.at <= now ? [[date.effect, date] as const] : [])),
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
      [...new Set(datesOf(name).flatMap(({ at, effect }) => (passed.has(effect) ? [at - 1] : [])))].sort(
        (a, b) => b - a,
      ),
    areReviewed: (name, time) => {
      const dates = since(name, time);
      return dates.length > 0 && dates.every(({ effect }) => passed.has(effect));
    },
    brought: (name, time) => {
      const shown = since(name, time).flatMap(({ effect }) => passed.get(effect) ?? []);
      return {
        held: new Set(shown.flatMap(({ held }) => held)),
        reach: new Set(shown.flatMap(({ reach }) => reach)),
      };
    },
    isOpen: (date) => date.at <= now || singleDates(date).some(({ text }) => declaredTexts.has(text)),
    unseen: coming.filter((date) => !singlesOf(date).every(isShown)),
    wider: coming.filter((date) => singlesOf(date).every(isShown) && singlesOf(date).some(isWider)),
    missing: () =>
      missingDates(reviews, declaredTexts).flatMap(({ index, date }) => {
        if (isOver(date)) return [];
        const effects = effectsText(singleDates(date));
        const other = coming.find((one) => effectsText(singlesOf(one)) === effects) ?? null;
        return { index, date, other, isComing: namesToCome.has(date.name) };
      }),
  };
}

/** Returns the dates that reviews decided, by their texts, in the order in which they were last shown. */
function decidedDates(reviews: readonly ReviewedState[]): ReadonlyMap<string, ShownDate> {
  const decided = new Map<string, ShownDate>();
  for (const state of reviews) {
    for (const text of removedTexts(state)) decided.delete(text);
    for (const date of state.dates) {
      const [held = [], reach = []] = [date.brings, date.reach].map((index) => state.permissionSets[index]);
      for (const single of singleDates(date)) {
        decided.delete(single.text);
        decided.set(single.text, { ...single, held, reach });
      }
    }
  }
  return decided;
}

/** Returns whether a date grants a permission, or puts one within reach, that its review does not show. */
function isBeyond(brought: ShownDate | undefined, shown: ShownDate | undefined): boolean {
  if (brought === undefined || shown === undefined) return false;
  return (["held", "reach"] as const).some((set) => brought[set].some((one) => !shown[set].includes(one)));
}

/**
 * Returns the dates that reviews added to the files and that are gone, although no later review removed them or showed
 * them as past.
 */
function missingDates(
  reviews: readonly ReviewedState[],
  declared: ReadonlySet<string>,
): readonly Pick<MissingDate, "index" | "date">[] {
  const removed = reviews.map(removedTexts);
  return reviews.flatMap(({ dates, baseDates, hasBase }, index) => {
    const before = dateTexts(baseDates ?? (hasBase ? dates : []));
    const isMissing = ({ at, text }: SingleDate): boolean =>
      !before.has(text) &&
      !declared.has(text) &&
      !reviews.some((other, place) => place > index && (other.at >= at || removed[place]?.has(text)));
    return dates.flatMap((date) => (singleDates(date).some(isMissing) ? { index, date } : []));
  });
}

/** Returns the dates that a review removed from the files; one at the end of access or later may only be hidden by it. */
function removedTexts({ dates, baseDates = [] }: ReviewedState): ReadonlySet<string> {
  const shown = dates.flatMap(singleDates);
  const kept = new Set(shown.map(({ text }) => text));
  const lasts = shown.filter(({ isLast }) => isLast);
  const isHidden = ({ at, name, effect }: SingleDate): boolean =>
    lasts.some((last) => last.name === name && last.at <= at && last.effect !== effect);
  const gone = baseDates.flatMap(singleDates).filter((date) => !kept.has(date.text) && !isHidden(date));
  return new Set(gone.map(({ text }) => text));
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
    const isLast = what === "leaves" || (what === "ends" && role === "");
    return { at, name, effect, text: `${at} ${effect}`, isLast };
  });
}

function effectsText(dates: readonly SingleDate[]): string {
  return dates.map(({ effect }) => effect).join();
}

/** Returns a text for each role of dates, or for the whole membership: equal for equal dates. */
export function dateTexts(dates: readonly ReviewedDate[]): ReadonlySet<string> {
  return new Set(dates.flatMap(singleDates).map(({ text }) => text));
}

/** Returns a reviewed state with some of its dates only. What it removed from the files of its base stays removed. */
export function withDates(
  { baseDates, ...state }: ReviewedState,
  isKept: (date: ReviewedDate) => boolean,
): ReviewedState {
  const dates = state.dates.filter(isKept);
  if (baseDates === undefined) return { ...state, dates };
  const [shown, kept] = [dateTexts(state.dates), dateTexts(dates)];
  const parts = baseDates.flatMap((date) =>
    date.roles.length === 0 ? date : date.roles.map((role) => ({ ...date, roles: [role] })),
  );
  const isBase = ({ text }: SingleDate): boolean => !shown.has(text) || kept.has(text);
  return { ...state, dates, baseDates: parts.filter((date) => singleDates(date).some(isBase)) };
}

/** Returns reviews with the names that people and roles now have in the files, if their dates use former ones. */
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

/** Returns the names of entries by their former names, unless another entry now has one of these. */
function currentNames(entries: readonly (readonly string[])[]): ReadonlyMap<string, string> {
  const taken = new Set(entries.map(([name]) => name));
  return new Map(
    entries.flatMap(([name = "", ...former]) =>
      former.flatMap((one) => (taken.has(one) ? [] : [[one, name] as const])),
    ),
  );
}
