import { normalizeServiceUrl } from "../../lib/text.ts";
import type { AccountEntry, RefusedChange } from "../../model/approval-account.ts";
import type { Plan } from "../../model/plan.ts";
import type { ReviewedDate, ReviewedState } from "../../model/reviewed.ts";
import { dependenciesOf, leftOutWith } from "../plan/select.ts";
import { accountFor, type OpenRow } from "./account.ts";
import { findUnseen, type UnseenDate, unseenDates } from "./find-unseen.ts";
import { type FreshPlan, freshContext } from "./fresh-context.ts";
import { givenWithoutEnd, type LostDate, lostDates, lostEntries } from "./lost-dates.ts";
import { mergeReviews, type Review } from "./merged-reviews.ts";
import { withCurrentRoleNames, withDates } from "./reviewed-dates.ts";
import { type Seal, UNSEALED } from "./seal.ts";

/** A fresh plan compared with what was reviewed. */
export interface Comparison {
  /** The plan of what the reviews cover, judged as a separate plan. */
  readonly covered: Plan;
  /** Fingerprints to leave out of the fresh plan; empty if everything is covered. */
  readonly leaveOut: ReadonlySet<string>;
  /** The refused changes, in the order of the fresh plan. */
  readonly refused: readonly RefusedChange[];
  /** The effects of future dates that no review shows. */
  readonly unseenDates: readonly UnseenDate[];
  /** An entry for each reviewed change, in the order of the reviews, then one for each lost date. */
  readonly account: readonly AccountEntry[];
  /** The rows of the reviews that later applies may need. */
  readonly open: readonly OpenRow[];
  /** The reviews, with the current names of roles. */
  readonly reviews: readonly Review[];
  /** The parts of the reviewed dates that may still take effect. */
  readonly openDates: ReadonlyMap<ReviewedDate, ReviewedDate>;
  /** The reviewed dates that the files have lost. */
  readonly lostDates: readonly LostDate[];
  /** The changes of the fresh plan, and the deferred ones, by the sealed name of the person. */
  readonly pending: ReadonlyMap<string, readonly string[]>;
}

/**
 * Compares a new plan with the reviewed end states, which are in merge order and sealed with the same `seal`. The last
 * review that touches an item decides; an item that no review touches must stay as it was. Differences that follow
 * from reviewed dates need no further review.
 */
export function compareReviewed(
  given: readonly Review[],
  fresh: FreshPlan,
  seal: Seal = UNSEALED,
): Comparison {
  const reviews = withCurrentRoleNames(given, fresh.desired);
  const elsewhere = reviews.flatMap(({ name, state }) => mismatch(name, state, fresh.plan) ?? []);
  const counted = elsewhere.length === 0 ? reviews : [];
  const context = freshContext(fresh, counted, seal);
  const merged = mergeReviews(counted, context.identitiesFor);
  const refusals = new Map<string, readonly string[]>();
  const deferred = fresh.plan.deferred.map(({ change }) => change.fingerprint);
  const leaveOut = new Set<string>();
  let covered = fresh.plan;
  let lost: readonly LostDate[];
  const endless = new Set<string>();
  for (;;) {
    lost = lostDates(covered, context);
    const unended = givenWithoutEnd(covered, lost, merged, context);
    for (const fingerprint of unended.keys()) endless.add(fingerprint);
    const unseen = new Map([...unended, ...findUnseen(covered, merged, context)]);
    if (unseen.size === 0) break;
    for (const [fingerprint, reasons] of unseen) refusals.set(fingerprint, reasons);
    for (const fingerprint of [...unseen.keys(), ...deferred]) leaveOut.add(fingerprint);
    covered = fresh.planWithout(leaveOut);
  }
  const refused = refusedChanges(fresh.plan, covered, elsewhere, refusals);
  const { account, open } = accountFor(reviews, merged, { ...context, covered, refused, elsewhere });
  // Another refusal for the person is sufficient.
  const refusedNames = new Set(
    refused.flatMap(({ change }) => (endless.has(change.fingerprint) ? [] : change.name.toLowerCase())),
  );
  return {
    covered,
    leaveOut,
    refused,
    unseenDates: unseenDates(merged, context),
    account: [
      ...account,
      ...lostEntries(lost, context).filter(({ name }) => !refusedNames.has((name ?? "").toLowerCase())),
    ],
    lostDates: lost,
    open,
    reviews,
    openDates: new Map(
      reviews.flatMap(({ state }) =>
        state.dates.flatMap((date) => {
          const part = context.dates.openPart(date);
          return part === null ? [] : [[date, part] as const];
        }),
      ),
    ),
    pending: pendingChanges(fresh.plan, seal),
  };
}

/** Returns whether something was refused, or differs from its review. */
export function isFailure({ refused, account }: Pick<Comparison, "refused" | "account">): boolean {
  return refused.length > 0 || account.some(({ verdict }) => verdict === "refused" || verdict === "dropped");
}

/**
 * Returns the parts of the reviews that later applies need: the unsettled rows and the future dates. `done` has the
 * fingerprints of the changes that were made.
 */
export function remaining(comparison: Comparison, done: ReadonlySet<string>): readonly Review[] {
  const { open, openDates, reviews, pending } = comparison;
  const { at: now } = comparison.covered.reviewed;
  const needed = open.filter(
    ({ until }) => until === null || until.some((fingerprint) => !done.has(fingerprint)),
  );
  const isWaiting = (name: string): boolean =>
    (pending.get(name) ?? []).some((fingerprint) => !done.has(fingerprint));
  return reviews.flatMap((review, index): readonly Review[] => {
    const { name, state, lostAt = now } = review;
    const own = needed.filter((open) => open.index === index);
    const lostRows = rowsAt(
      state,
      own.filter(({ isLost }) => isLost),
    );
    const openRows = rowsAt(
      state,
      own.filter(({ isLost }) => !isLost),
    );
    const kept = new Set([...openRows.members, ...openRows.people].map(({ name: who }) => who));
    const ownLost = comparison.lostDates.flatMap((lost) => (lost.index === index ? lost.date : []));
    const lost = withDates(lostRows, (date) => (ownLost.includes(date) ? date : null));
    const openPart = (date: ReviewedDate): ReviewedDate | null =>
      date.at > now || isWaiting(date.name) || kept.has(date.name) ? (openDates.get(date) ?? null) : null;
    const open = withDates(openRows, openPart);
    return [
      ...(hasContent(lost) ? [{ name, state: lost, lostAt }] : []),
      ...(hasContent(open) ? [{ name, state: open }] : []),
    ];
  });
}

/** Returns a reviewed state with some of its rows; a member's permissions stay with the member. */
function rowsAt(state: ReviewedState, rows: readonly OpenRow[]): ReviewedState {
  const has = (list: OpenRow["row"]["list"], place: number): boolean =>
    rows.some(({ row }) => row.list === list && row.index === place);
  const members = state.members.filter((_, index) => has("members", index));
  const names = new Set(members.map(({ name }) => name));
  return {
    ...state,
    roles: state.roles.filter((_, index) => has("roles", index)),
    members,
    people: state.people.filter((row, index) => names.has(row.name) || has("people", index)),
  };
}

function hasContent({ roles, members, people, dates }: ReviewedState): boolean {
  return roles.length + members.length + people.length + dates.length > 0;
}

/** Returns why a review does not count for a plan; `null` if it does. */
function mismatch(name: string, state: ReviewedState, plan: Plan): string | null {
  for (const field of ["merchant", "environment", "service"] as const) {
    if (isSameTarget[field](state[field] ?? "", plan[field] ?? "")) continue;
    return `${name} was reviewed for the ${field} ${state[field]}, but this is ${plan[field]}`;
  }
  return null;
}

const isSameTarget = {
  merchant: (a: string, b: string) => a === b,
  // Empty if neither the file nor the API key's prefix names it.
  environment: (a: string, b: string) => a === b || a === "" || b === "",
  service: (a: string, b: string) => normalizeServiceUrl(a) === normalizeServiceUrl(b),
};

function refusedChanges(
  whole: Plan,
  covered: Plan,
  elsewhere: readonly string[],
  refusals: ReadonlyMap<string, readonly string[]>,
): readonly RefusedChange[] {
  const kept = new Set(covered.changes.map(({ fingerprint }) => fingerprint));
  const dependents = leftOutWith(dependenciesOf(whole.changes), refusals.keys());
  const deferred = whole.deferred.map(({ change }) => change);
  return [
    ...whole.changes.filter(({ fingerprint }) => !kept.has(fingerprint)),
    ...deferred.filter(({ fingerprint }) => elsewhere.length > 0 || refusals.has(fingerprint)),
  ].map((change) => {
    const { fingerprint } = change;
    const reasons = elsewhere.length > 0 ? elsewhere : refusals.get(fingerprint);
    return {
      change,
      reasons: reasons ?? [dependents.get(fingerprint) ?? "it depends on a change that is not approved"],
    };
  });
}

function pendingChanges({ changes, deferred }: Plan, seal: Seal): ReadonlyMap<string, readonly string[]> {
  const pending = new Map<string, string[]>();
  for (const { name, fingerprint } of [...changes, ...deferred.map(({ change }) => change)]) {
    const key = seal(name.toLowerCase());
    pending.set(key, [...(pending.get(key) ?? []), fingerprint]);
  }
  return pending;
}
