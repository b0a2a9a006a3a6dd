import { groupByKey } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { fieldsOfDate, resourceKindOf } from "../plan/reviewed-state.ts";
import { hiddenDates, type UpcomingDate, upcomingDates } from "../plan/upcoming-dates.ts";
import type { Review } from "./merged-reviews.ts";
import { type Seal, sealed } from "./seal.ts";

/**
 * The dates in files, compared with those that reviews decided: the last review that shows or removes a date is
 * decisive.
 */
export interface ReviewedDates {
  /** Returns the moment just before each past reviewed date of a person, the latest first. */
  momentsBefore(name: string): readonly number[];
  /**
   * Returns whether dates have taken effect for a person since a time (for an item, if one is given), and all of them
   * were reviewed.
   */
  areReviewed(name: string, since: number, about?: DatedItem): boolean;
  /** Returns the index of the last review that shows a past end of all of a person's access; -1 if none does. */
  endedBy(name: string): number;
  /** Returns the permissions that reviewed dates have given a person since a time, according to the reviews. */
  brought(
    name: string,
    since: number,
  ): { readonly held: ReadonlySet<string>; readonly reach: ReadonlySet<string> };
  /**
   * Returns the part of a reviewed date that may still take effect: no later review decides differently, and the date
   * is past or still in the files. `null` if there is none.
   */
  openPart(date: ReviewedDate): ReviewedDate | null;
  /** The future dates that no review shows. */
  readonly unseen: readonly UpcomingDate[];
  /** The other future dates that grant permissions that their reviews do not show. */
  readonly wider: readonly UpcomingDate[];
  /** Returns the dates that a review added to the files, and that the files have lost without a review. */
  missing(): readonly MissingDate[];
}

/** What dates may change for a person. */
export interface DatedItem {
  /** Whether the person gains it. */
  readonly isGain: boolean;
  /** Returns whether a role with this name, as written in files, may give or take the item; absent if any role may. */
  readonly isRole?: (name: string) => boolean;
}

/** A date that a review added to the files, and that they no longer have. */
export interface MissingDate {
  /** The index of the review. */
  readonly index: number;
  readonly date: ReviewedDate;
  /** Whether the person has other future dates. */
  readonly isComing: boolean;
  /** The future date that now has the same effect; `null` if there is none. */
  readonly other: UpcomingDate | null;
}

/** A date of one role or of the whole membership. */
interface SingleDate {
  readonly at: number;
  readonly name: string;
  /** Empty for the whole membership. */
  readonly role: string;
  /** The person, kind and role, and its other effects, as a text. */
  readonly effect: string;
  /** The effect and the time. */
  readonly text: string;
  /** Whether the person has no access from then on. */
  readonly isLast: boolean;
  /** Whether it gives access rather than taking it. */
  readonly isGain: boolean;
}

/** A date as a review shows it. */
interface ShownDate extends SingleDate {
  /** The index of the last review that shows it. */
  readonly review: number;
  /** The time as of which the review shows it, in ms since the epoch. */
  readonly shownAt: number;
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
  const entries = new Map(desired.members?.map((member) => [member.email.toLowerCase(), member]));
  const singlesFor = (date: UpcomingDate, address: string): readonly SingleDate[] => {
    const { at, email, roles } = date;
    const fields = fieldsOfDate(date, entries.get(email.toLowerCase()));
    const sealedFields = fields === undefined ? {} : { fields: seal(fields) };
    return singleDates({ at, name: seal(address), what: resourceKindOf(date), roles, ...sealedFields });
  };
  const singlesOf = (date: UpcomingDate): readonly SingleDate[] => singlesFor(date, date.email.toLowerCase());
  // An entry's dates also apply to the memberships of its previous addresses if reviews show them there.
  const singlesOfAll = (date: UpcomingDate): readonly SingleDate[] => {
    const address = date.email.toLowerCase();
    const { previously = [] } = entries.get(address) ?? {};
    const former = previously.map((one) => one.toLowerCase()).filter((one) => !entries.has(one));
    return [address, ...former].flatMap((one) => singlesFor(date, one));
  };
  const dates = upcomingDates(desired, Number.NEGATIVE_INFINITY);
  const past = dates.filter(({ at }) => at <= now).flatMap(singlesOfAll);
  const coming = dates.filter(({ at }) => at > now);
  const hidden = hiddenDates(desired, Number.NEGATIVE_INFINITY);
  const declared = [...dates, ...hidden].flatMap(singlesOfAll);
  const declaredTexts = new Set(declared.map(({ text }) => text));
  const namesToCome = new Set(declared.flatMap(({ at, name }) => (at > now ? name : [])));
  const decided = decidedDates(reviews);
  const brought = decidedDates([sealed({ ...fresh, members: [], people: [] }, seal)]);
  const isShown = ({ text }: SingleDate): boolean => decided.has(text);
  const isWider = ({ text }: SingleDate): boolean => isBeyond(brought.get(text), decided.get(text));
  // A reviewed end makes later dates of the same access unnecessary.
  const reviewedEnds = declared.filter(({ isLast, text }) => isLast && decided.has(text));
  const isOver = ({ at, name }: ReviewedDate): boolean =>
    reviewedEnds.some((end) => end.name === name && end.at <= at);
  // Once both have passed, a date in the files has the same effect as a different one in a review.
  const passed = new Map(
    [...decided.values()].flatMap((date) => (date.at <= now ? [[date.effect, date] as const] : [])),
  );
  const lastReviews = new Map<string, number>();
  for (const { name, at, isLast, review } of decided.values()) {
    if (isLast && at <= now) lastReviews.set(name, Math.max(review, lastReviews.get(name) ?? -1));
  }
  const byName = new Map(groupByKey(past, ({ name }) => name).map((dates) => [dates[0].name, dates]));
  const datesOf = (name: string): readonly SingleDate[] => byName.get(name) ?? [];
  const since = (name: string, time: number): readonly SingleDate[] =>
    datesOf(name).filter(({ at }) => at > time);
  return {
    momentsBefore: (name) =>
      [...new Set(datesOf(name).flatMap(({ at, effect }) => (passed.has(effect) ? [at - 1] : [])))].sort(
        (a, b) => b - a,
      ),
    areReviewed: (name, time, about) => {
      const dates = since(name, time).filter((date) => about === undefined || concerns(date, about));
      return dates.length > 0 && dates.every(({ effect }) => passed.has(effect));
    },
    endedBy: (name) => lastReviews.get(name) ?? -1,
    brought: (name, time) => {
      const shown = since(name, time).flatMap(({ effect }) => passed.get(effect) ?? []);
      return {
        held: new Set(shown.flatMap(({ held }) => held)),
        reach: new Set(shown.flatMap(({ reach }) => reach)),
      };
    },
    openPart: (date) => {
      const open = singleDates(date).filter(
        ({ text }) => decided.has(text) && (date.at <= now || declaredTexts.has(text)),
      );
      if (open.length === 0 || date.hidden) return null;
      return open.length < date.roles.length ? { ...date, roles: open.map(({ role }) => role) } : date;
    },
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

/** Returns whether a date may bring or take an item. */
function concerns({ role, isGain }: SingleDate, about: DatedItem): boolean {
  return isGain === about.isGain && (role === "" || about.isRole === undefined || about.isRole(role));
}

/**
 * Returns the dates that reviews decided, by text, in the order in which they were last shown. Nothing begins after a
 * reviewed end of all access that its own review could not see to have passed.
 */
function decidedDates(reviews: readonly ReviewedState[]): ReadonlyMap<string, ShownDate> {
  const decided = shownDates(reviews);
  const lasts = new Map<string, ShownDate>();
  for (const date of decided.values()) {
    const other = lasts.get(date.name);
    if (date.isLast && (other === undefined || date.at < other.at)) lasts.set(date.name, date);
  }
  const isOver = ({ name, at, isGain, shownAt }: ShownDate): boolean => {
    const last = lasts.get(name)?.at ?? Number.POSITIVE_INFINITY;
    return isGain && last <= at && shownAt < last;
  };
  return new Map([...decided].filter(([, date]) => !isOver(date)));
}

function shownDates(reviews: readonly ReviewedState[]): ReadonlyMap<string, ShownDate> {
  const decided = new Map<string, ShownDate>();
  for (const [review, state] of reviews.entries()) {
    for (const text of removedTexts(state)) decided.delete(text);
    for (const date of state.dates) {
      if (date.hidden) continue;
      const [held = [], reach = []] = [date.brings, date.reach].map((index) => state.permissionSets[index]);
      for (const single of singleDates(date)) {
        decided.delete(single.text);
        decided.set(single.text, { ...single, review, shownAt: state.at, held, reach });
      }
    }
  }
  return decided;
}

/** Returns whether a date grants a permission, or makes one reachable, that its review does not show. */
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
    return dates.flatMap((date) =>
      !date.hidden && singleDates(date).some(isMissing) ? { index, date } : [],
    );
  });
}

/** Returns the texts of the dates that a review removed from the files. */
function removedTexts({ dates, baseDates = [] }: ReviewedState): ReadonlySet<string> {
  const kept = dateTexts(dates);
  return new Set([...dateTexts(baseDates)].filter((text) => !kept.has(text)));
}

function singleDates({
  at,
  name,
  what,
  roles,
  fields,
}: Omit<ReviewedDate, "brings" | "reach" | "hidden">): readonly SingleDate[] {
  const parts = roles.length === 0 ? [""] : roles;
  return parts.map((role) => {
    const effect = JSON.stringify([name, what, role, fields]);
    const isLast = what === "leaves" || (what === "ends" && role === "");
    const isGain = what === "begins" || what === "back";
    return { at, name, role, effect, text: `${at} ${effect}`, isLast, isGain };
  });
}

function effectsText(dates: readonly SingleDate[]): string {
  return dates.map(({ effect }) => effect).join();
}

/** Returns a text for each role of the dates, or for the whole membership; equal dates have equal texts. */
export function dateTexts(dates: readonly ReviewedDate[]): ReadonlySet<string> {
  return new Set(dates.flatMap(singleDates).map(({ text }) => text));
}

/**
 * Returns a reviewed state with only some of its dates. The dates that it removed from the base's files stay removed.
 */
export function withDates(
  { baseDates, ...state }: ReviewedState,
  partOf: (date: ReviewedDate) => ReviewedDate | null,
): ReviewedState {
  const dates = state.dates.flatMap((date) => partOf(date) ?? []);
  if (baseDates === undefined) return { ...state, dates };
  const [shown, kept] = [dateTexts(state.dates), dateTexts(dates)];
  const parts = baseDates.flatMap((date) =>
    date.roles.length === 0 ? date : date.roles.map((role) => ({ ...date, roles: [role] })),
  );
  const isBase = ({ text }: SingleDate): boolean => !shown.has(text) || kept.has(text);
  return { ...state, dates, baseDates: parts.filter((date) => singleDates(date).some(isBase)) };
}

/** Returns reviews whose dates name roles by their current names in the files. */
export function withCurrentRoleNames(
  reviews: readonly Review[],
  { roles = [] }: DesiredState,
): readonly Review[] {
  const taken = new Set(roles.map(({ name }) => name));
  const names = new Map(
    roles.flatMap(({ name, previously = [] }) =>
      previously.flatMap((former) => (taken.has(former) ? [] : [[former, name] as const])),
    ),
  );
  if (names.size === 0) return reviews;
  const current = (dates: readonly ReviewedDate[]): readonly ReviewedDate[] =>
    dates.map((date) => ({ ...date, roles: date.roles.map((role) => names.get(role) ?? role) }));
  return reviews.map((review) => {
    const { dates, baseDates, ...state } = review.state;
    return {
      ...review,
      state: { ...state, dates: current(dates), ...(baseDates && { baseDates: current(baseDates) }) },
    };
  });
}
