import type { AccountEntry } from "../../model/approval-account.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { MemberChange, Plan } from "../../model/plan.ts";
import type { ReviewedDate } from "../../model/reviewed.ts";
import type { UpcomingDate } from "../plan/upcoming-dates.ts";
import type { Fresh } from "./fresh-context.ts";
import type { MergedReviews } from "./merged-reviews.ts";

/**
 * A date that a review added to the files and that they have lost, so that somebody keeps access or does not get it.
 */
export interface LostDate {
  /** The index of the review. */
  readonly index: number;
  readonly date: ReviewedDate;
  /** The address of the person; `null` if no live or listed person has that name. */
  readonly email: string | null;
  /** The future date that now has the same effect; `null` if there is none. */
  readonly other: UpcomingDate | null;
}

/** Returns the lost dates: all missing dates, except ends of access that the plan's files do not grant at all. */
export function lostDates(covered: Plan, { fresh, endOf, nameOf, dates }: Fresh): readonly LostDate[] {
  const ends = [endOf(fresh.plan), endOf(covered)];
  const isAbsent = (name: string): boolean =>
    ends.every((end) => end({ kind: "member", key: name }) === null);
  return dates
    .missing()
    .filter(({ date: { what, name }, isComing }) => isComing || !TAKES.has(what) || !isAbsent(name))
    .map(({ index, date, other }) => ({ index, date, other, email: nameOf(date.name) }));
}

const TAKES: ReadonlySet<ReviewedDate["what"]> = new Set(["leaves", "ends", "suspended"]);

/** Returns the entries of an account that report lost dates. */
export function lostEntries(
  lost: readonly LostDate[],
  { fresh: { desired }, seal, reviews }: Fresh,
): readonly AccountEntry[] {
  const originsIn = (entries: DesiredState["members"] | DesiredState["leavers"] = []) =>
    new Map(entries.map(({ email, origin }) => [seal(email.toLowerCase()), origin] as const));
  const [leaving, listed] = [originsIn(desired.leavers), originsIn(desired.members)];
  return lost.map(({ index, date, email }): AccountEntry => {
    const { name, what } = date;
    const origin = leaving.get(name) ?? (what === "leaves" ? undefined : listed.get(name));
    return {
      review: reviews[index]?.name ?? "",
      index,
      row: { list: "dates", index: reviews[index]?.state.dates.indexOf(date) ?? -1 },
      resource: "member",
      name: email,
      does: doesOf(date),
      verdict: "dropped",
      reasons: ["its date is no longer in the files"],
      by: null,
      origins: origin === undefined ? [] : [origin],
      fingerprints: [],
    };
  });
}

function doesOf({ what, roles }: ReviewedDate): AccountEntry["does"] {
  if (what === "leaves") return "remove";
  if (roles.length > 0 || what === "suspended" || what === "back") return "update";
  return what === "ends" ? "remove" : "create";
}

/**
 * Returns the changes that give access for longer than was reviewed, by fingerprint: the files have lost the end date,
 * and no later review shows the person.
 */
export function givenWithoutEnd(
  { changes }: Plan,
  lost: readonly LostDate[],
  { rows }: MergedReviews,
  { reviews, seal }: Fresh,
): ReadonlyMap<string, readonly string[]> {
  const ends = lost.filter(({ date: { what } }) => what === "ends" || what === "leaves");
  return new Map(
    changes.flatMap((change) => {
      if (change.resource === "role") return [];
      const key = seal(change.name.toLowerCase());
      const isShownAfter = (index: number): boolean =>
        rows.some(({ review, row: { subject } }) => review > index && subject.key === key);
      const end = ends.find(
        ({ index, date: { name, roles } }) =>
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
