import type { AccountEntry } from "../../model/approval-account.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { MemberChange, Plan } from "../../model/plan.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { resourceKindOf } from "../plan/reviewed-state.ts";
import { type UpcomingDate, upcomingDates } from "../plan/upcoming-dates.ts";
import type { Fresh } from "./fresh-context.ts";
import type { MergedReviews, Review } from "./merged-reviews.ts";
import { dateTexts } from "./reviewed-dates.ts";
import type { Seal } from "./seal.ts";

/**
 * Returns an entry for each date that a review added to the files, and that is gone from them without another review:
 * somebody keeps access that was to end, or does not get what was to begin.
 */
export function droppedDates(
  reviews: readonly Review[],
  covered: Plan,
  { fresh: { desired, plan }, seal, endOf, nameOf, dates: { declared, coming } }: Fresh,
): readonly AccountEntry[] {
  const originsIn = (entries: DesiredState["members"] | DesiredState["leavers"] = []) =>
    new Map(entries.map(({ email, origin }) => [seal(email.toLowerCase()), origin] as const));
  const [leaving, listed] = [originsIn(desired.leavers), originsIn(desired.members)];
  const ends = [endOf(plan), endOf(covered)];
  const isAbsent = (name: string): boolean =>
    !coming.has(name) && ends.every((end) => end({ kind: "member", key: name }) === null);
  const removed = reviews.map(({ state }) => removedTexts(state));
  return reviews.flatMap(({ name: review, state }, index) => {
    const isDecidedLater = (time: number, texts: readonly string[]): boolean =>
      reviews.some(
        (other, place) =>
          place > index && (other.state.at >= time || texts.every((text) => removed[place]?.has(text))),
      );
    return ownDates(state).flatMap((date): readonly AccountEntry[] => {
      const { at, name, what } = date;
      const texts = [...dateTexts([date])];
      const isGone = TAKES.has(what) && isAbsent(name);
      if (isDecidedLater(at, texts) || isGone || texts.every((text) => declared.has(text))) return [];
      const origin = leaving.get(name) ?? (what === "leaves" ? undefined : listed.get(name));
      return [
        {
          review,
          index,
          row: { list: "dates", index: state.dates.indexOf(date) },
          resource: "member",
          name: nameOf(name),
          does: doesOf(date),
          verdict: "dropped",
          reasons: ["its date is no longer in the files"],
          by: null,
          origins: origin === undefined ? [] : [origin],
          fingerprints: [],
        },
      ];
    });
  });
}

const TAKES: ReadonlySet<ReviewedDate["what"]> = new Set(["leaves", "ends", "suspended"]);

function doesOf({ what, roles }: ReviewedDate): AccountEntry["does"] {
  if (what === "leaves") return "remove";
  if (roles.length > 0 || what === "suspended" || what === "back") return "update";
  return what === "ends" ? "remove" : "create";
}

/** A date that a review added to the files, and that they have lost. */
export interface LostDate {
  /** The index of the review. */
  readonly index: number;
  readonly date: ReviewedDate;
  /** The address of the person; `null` if nobody of that name is live or listed. */
  readonly email: string | null;
  /** The date to come that does the same by now; `null` if none does. */
  readonly other: UpcomingDate | null;
}

/** Returns the lost dates of account entries. */
export function lostDates(
  dropped: readonly AccountEntry[],
  reviews: readonly Review[],
  { fresh: { desired, plan }, seal }: Fresh,
): readonly LostDate[] {
  const coming = upcomingDates(desired, plan.reviewed.at);
  return dropped.flatMap(({ index, row, name: email }): readonly LostDate[] => {
    const date = reviews[index]?.state.dates[row.index];
    if (date === undefined) return [];
    const { name, what, roles } = date;
    const other = coming.find(
      (one) =>
        seal(one.email.toLowerCase()) === name &&
        resourceKindOf(one) === what &&
        one.roles.join() === roles.join(),
    );
    return [{ index, date, email, other: other ?? null }];
  });
}

/** Returns the dates that a review's own files add to those of its base. */
function ownDates({ dates, baseDates, hasBase }: ReviewedState): readonly ReviewedDate[] {
  if (baseDates === undefined) return hasBase ? [] : dates;
  const before = dateTexts(baseDates);
  return dates.filter((date) => [...dateTexts([date])].some((text) => !before.has(text)));
}

function removedTexts({ dates, baseDates = [] }: ReviewedState): ReadonlySet<string> {
  const kept = dateTexts(dates);
  return new Set([...dateTexts(baseDates)].filter((text) => !kept.has(text)));
}

/**
 * Returns the changes that give access for longer than it was reviewed, by fingerprint: the files have lost its end, and no
 * later review shows the person.
 */
export function givenWithoutEnd(
  { changes }: Plan,
  dropped: readonly AccountEntry[],
  { rows }: MergedReviews,
  { reviews, seal }: { readonly reviews: readonly Review[]; readonly seal: Seal },
): ReadonlyMap<string, readonly string[]> {
  const ends = dropped.flatMap(({ index, row }) => {
    const date = reviews[index]?.state.dates[row.index];
    return date?.what === "ends" || date?.what === "leaves" ? { index, ...date } : [];
  });
  return new Map(
    changes.flatMap((change) => {
      if (change.resource === "role") return [];
      const key = seal(change.name.toLowerCase());
      const isShownAfter = (index: number): boolean =>
        rows.some(({ review, row: { subject } }) => review > index && subject.key === key);
      const end = ends.find(
        ({ index, name, roles }) =>
          name === key &&
          !isShownAfter(index) &&
          givenRoles(change).some((role) => roles.length === 0 || roles.includes(role)),
      );
      const name = end && reviews[end.index]?.name;
      return name === undefined
        ? []
        : [[change.fingerprint, [`the end that ${name} showed is no longer in the files`]] as const];
    }),
  );
}

function givenRoles(change: MemberChange): readonly string[] {
  if (change.kind === "create") return change.after.roles.map(({ name }) => name);
  return change.fields.flatMap((diff) => (diff.field === "roles" ? diff.added.map(({ name }) => name) : []));
}
