import type { JsonValue } from "../../model/json.ts";
import type { ReviewedState } from "../../model/reviewed.ts";
import type { Identities } from "./identities.ts";
import {
  type Item,
  isSameValue,
  itemValue,
  type ReviewedRow,
  type RowSubject,
  rowsOf,
  subjectText,
  touches,
} from "./rows.ts";

/** The plan that a reviewer approved, and the display name of the review. */
export interface Review {
  /** For example `#12`, or the name of a plan file. */
  readonly name: string;
  readonly state: ReviewedState;
  /** Set if no run has handled the merchant since the plan was made, so no run can have changed what the plan shows. */
  readonly isNew?: true;
  /** When a run reported these changes as lost, in ms since the epoch; absent if none has. */
  readonly lostAt?: number;
}

/** A row of a review, and its position among the reviews. */
export interface MergedRow {
  readonly review: number;
  readonly row: ReviewedRow;
}

/** What the reviews decide about an item. */
export interface Decision extends MergedRow {
  readonly value: JsonValue | undefined;
  /** The decided values: two if the review also shows the value until deferred changes are made. */
  readonly values: readonly (JsonValue | undefined)[];
  /** `false` if the review only shows that the item stays as it is. */
  readonly isTouched: boolean;
}

/** Decisions of reviews, in the order of their merges. */
export interface MergedReviews {
  readonly rows: readonly MergedRow[];
  /** Returns whether the files of a review other than the row's differ from the row in an item. */
  isContradicted(one: MergedRow, item: Item): boolean;
  /**
   * Returns the decision of the last review that touches an item; without one, for a person's permissions, what the
   * last review shows.
   */
  decide(subject: RowSubject, item: Item): Decision | null;
}

/** Joins reviews, in the order of their merges. */
export function mergeReviews(
  reviews: readonly Review[],
  identitiesFor: (knownRoles: ReadonlySet<string>) => Identities,
): MergedReviews {
  const rows = reviews.flatMap(({ state }, review) => {
    // The review does not create a role whose id it knows.
    const reviewedIds = new Set(state.roles.flatMap(({ id }) => id ?? []));
    return rowsOf(state, identitiesFor(reviewedIds)).map((row): MergedRow => ({ review, row }));
  });
  const bySubject = new Map<string, MergedRow[]>();
  for (const row of rows) {
    const key = subjectText(row.row.subject);
    const rowsOfSubject = bySubject.get(key);
    if (rowsOfSubject) rowsOfSubject.push(row);
    else bySubject.set(key, [row]);
  }
  return {
    rows,
    isContradicted: ({ review, row: { subject, after } }, item) =>
      (bySubject.get(subjectText(subject)) ?? []).some(
        ({ review: other, row: { base, after: declared } }) => {
          if (other === review || base === undefined) return false;
          const value = itemValue(declared, item);
          return !isSameValue(itemValue(base, item), value) && !isSameValue(itemValue(after, item), value);
        },
      ),
    decide: (subject, item) => {
      const rowsOfSubject = bySubject.get(subjectText(subject)) ?? [];
      const toucher = rowsOfSubject.findLast(({ row }) => touches(row, item));
      // Fields keep their live values: a review that does not touch them may be older than changes by others.
      const decider = toucher ?? (subject.kind === "person" ? rowsOfSubject.at(-1) : undefined);
      if (decider === undefined) return null;
      const values = rowsOfSubject
        .filter(({ review }) => review === decider.review)
        .map(({ row }) => itemValue(row.after, item));
      const value = itemValue(decider.row.after, item);
      return { ...decider, value, values, isTouched: toucher !== undefined };
    },
  };
}
