import type { Review } from "../kernel/approval/merged-reviews.ts";
import type { Seal } from "../kernel/approval/seal.ts";
import { parseReviewedState } from "../kernel/saved/reviewed-file.ts";
import type { ReviewedState } from "../model/reviewed.ts";
import type { RecordStore, Records } from "../store/open-records.ts";
import { type CountedRun, countedRun } from "./counted-run.ts";
import type { Forge, ForgePull } from "./forge.ts";

/** The record of a merchant since its last apply. */
export interface MerchantState {
  /** Commit of the last run that looked at the merchant. */
  readonly commit: string;
  /** Time of that run, in ms since the epoch, by the forge's clock. */
  readonly at: number;
  /** Time of the last run that looked for what is due, in ms since the epoch; `null` if there was none. */
  readonly nightly: number | null;
  /** Keyed hash of the access that the files declared then. */
  readonly declared: string;
  /** The recorded reviews that were looked at, as long as they are kept. */
  readonly settled: readonly string[];
  /** Remaining changes that are not made yet, and upcoming dates. */
  readonly open: readonly Review[];
  /** Keyed hashes of the addresses of people with changes that were refused. */
  readonly refused: readonly string[];
  /** Why the merchant is not as it was reviewed; `null` if it is. */
  readonly failure: RecordedFailure | null;
}

/** A failure that a run has reported. */
export interface RecordedFailure {
  /** The commit whose run reported it. */
  readonly commit: string;
  /** Keyed hash of the reasons: later runs for other commits do not report the same again. */
  readonly digest: string;
  /** Numbers of the pull requests on which it was reported. */
  readonly pulls: readonly number[];
  /** Set if the merchant could not be read, so that nothing that was merged is settled. */
  readonly isUnread?: true;
}

export type ReviewStore = RecordStore<ReviewedState, MerchantState>;
export type ReviewRecords = Records<ReviewedState, MerchantState>;

/** The records of a service and label, with the functions of their key. */
export interface OpenStore {
  readonly store: ReviewStore;
  readonly seal: Seal;
}

/** A merged pull request with recorded plans. */
export interface MergedReview extends CountedRun<ReviewedState> {
  /** Such as `#7`. */
  readonly name: string;
  readonly pull: ForgePull;
  /** The merchants of all its plans. */
  readonly merchants: ReadonlySet<string>;
  /** `false` if this key has signed none of its records. */
  readonly isReadable: boolean;
}

/** The recorded reviews of a branch, with their current state at the forge. */
export interface RecordedReviews {
  /** In the order of their merges. */
  readonly merged: readonly MergedReview[];
  /** Names of the records of pull requests that were closed, or merged some time ago into another branch or with another key. */
  readonly abandoned: readonly string[];
  /** Whether a recorded pull request is open. */
  readonly hasOpen: boolean;
}

const PULLS = "reviews/";

/** Time after which a merge into another branch, or with records of another key, needs no record, in ms. */
const KEPT_FOR = 7 * 86_400_000;

export function recordOf(pull: number): string {
  return `${PULLS}${pull}`;
}

/** Returns the numbers of the pull requests among reviews, by the reviews' names. */
export function pullNumbers(names: Iterable<string>): readonly number[] {
  return [...new Set(names)].flatMap((name) => (/^#\d+$/.test(name) ? Number(name.slice(1)) : []));
}

/** Asks the forge for the state of the pull requests with recorded plans. */
export async function recordedReviews(
  records: ReviewRecords,
  forge: Forge,
  branch: string,
): Promise<RecordedReviews> {
  const numbers = records.names.flatMap((name) =>
    name.startsWith(PULLS) ? Number(name.slice(PULLS.length)) : [],
  );
  const pulls = await forge.pulls(numbers.filter(Number.isSafeInteger));
  const merged: MergedReview[] = [];
  for (const pull of pulls) {
    if (pull.status === "merged" && pull.baseRef === branch)
      merged.push(await reviewOf(pull, records, forge));
  }
  const needed = new Set(merged.flatMap(({ pull, isReadable }) => (isReadable ? pull.number : [])));
  return {
    merged: merged.sort((a, b) => a.pull.mergedAt - b.pull.mergedAt || a.pull.number - b.pull.number),
    hasOpen: pulls.some(({ status, baseRef }) => status === "open" && baseRef === branch),
    abandoned: pulls.flatMap(({ status, number, mergedAt }) => {
      const isPast = status === "merged" && !needed.has(number) && mergedAt < forge.now() - KEPT_FOR;
      return status === "closed" || isPast ? recordOf(number) : [];
    }),
  };
}

/** Returns the recorded plans of a pull request that count. */
export async function reviewOf(
  pull: ForgePull,
  records: ReviewRecords,
  forge: Pick<Forge, "now">,
): Promise<MergedReview> {
  const runs = await records.runsOf(recordOf(pull.number));
  return {
    ...countedRun(pull, runs, forge.now()),
    name: `#${pull.number}`,
    pull,
    merchants: new Set(runs.flatMap(({ merchants }) => [...merchants.keys()])),
    isReadable: runs.length > 0,
  };
}

/** Returns the merged reviews of a merchant that no run has looked at yet. */
export function unsettled(
  merchant: string,
  state: MerchantState | null | undefined,
  merged: readonly MergedReview[],
): readonly MergedReview[] {
  const settled = new Set(state?.settled);
  return merged.filter(
    ({ pull, merchants }) => merchants.has(merchant) && !settled.has(recordOf(pull.number)),
  );
}

/** Returns the reviews of a merchant, the oldest first: the rest of earlier ones, then those merged since. */
export function reviewsOf(
  merchant: string,
  state: MerchantState | null | undefined,
  merged: readonly MergedReview[],
): readonly Review[] {
  const news = unsettled(merchant, state, merged).flatMap(({ name, run }) => {
    const reviewed = parseReviewedState(run?.merchants.get(merchant));
    const isNew = reviewed !== null && reviewed.at > (state?.at ?? 0) && ({ isNew: true } as const);
    return reviewed === null ? [] : [{ name, state: reviewed, ...isNew }];
  });
  // A later plan of the merchant shows its reviewer the current state, and what was lost.
  const isSettled = ({ lostAt = Number.POSITIVE_INFINITY }: Review): boolean =>
    news.some(({ state: { at } }) => at > lostAt);
  const open = (state?.open ?? []).filter((review) => !isSettled(review));
  return [...open, ...news];
}

/** Returns the reviews of a merchant whose changes were lost: a plan of it settles them, once it is merged. */
export function lostReviews(state: MerchantState | null | undefined): readonly Review[] {
  return (state?.open ?? []).filter(({ lostAt }) => lostAt !== undefined);
}

/** Returns whether a review has more than future dates and lost changes. */
export function hasRows({ lostAt, state: { roles, members, people } }: Review): boolean {
  return lostAt === undefined && roles.length + members.length + people.length > 0;
}

/** Returns whether a review has changes or dates that files still have to make. */
export function isToCome(review: Review): boolean {
  return hasRows(review) || (review.lostAt === undefined && review.state.dates.length > 0);
}

/** Why a run looks at a merchant; `null` if it does not have to. */
export type LookReason = "unknown" | "merged" | "changed" | "open" | "failed";

/** Returns why an apply has to look at a merchant, however long ago the last apply was. */
export function lookReason(
  merchant: string,
  declared: string,
  state: MerchantState | null | undefined,
  merged: readonly MergedReview[],
): LookReason | null {
  if (state === null || state === undefined) return "unknown";
  if (unsettled(merchant, state, merged).length > 0) return "merged";
  if (state.declared !== declared) return "changed";
  if (state.failure !== null) return "failed";
  return state.open.some(hasRows) ? "open" : null;
}

/**
 * Merges the state after a run with the one that another run has written in the meantime: what either of them has
 * looked at is settled, and what only the other one knows stays open.
 */
export function mergedState(
  ownState: MerchantState,
  lookedAt: readonly string[],
  other: MerchantState | null | undefined,
): MerchantState {
  if (other === null || other === undefined) return ownState;
  const later = other.open.filter(({ name }) => !lookedAt.includes(name));
  const newest = other.at > ownState.at ? other : ownState;
  return {
    ...ownState,
    commit: newest.commit,
    declared: newest.declared,
    at: Math.max(ownState.at, other.at),
    nightly: ownState.nightly ?? other.nightly,
    settled: [...new Set([...other.settled, ...ownState.settled])],
    open: [...ownState.open, ...later],
  };
}

/**
 * Returns the records of merged pull requests that every merchant has settled, which are no longer needed. `declared`
 * are the merchants that files declare; `null` if not all are known.
 */
export function settledRecords(
  merged: readonly MergedReview[],
  states: ReadonlyMap<string, MerchantState | null>,
  declared: ReadonlySet<string> | null,
): readonly string[] {
  return merged
    .filter(
      ({ pull, merchants, isReadable }) =>
        isReadable &&
        [...merchants].every(
          (merchant) =>
            (declared !== null && !declared.has(merchant)) ||
            states.get(merchant)?.settled.includes(recordOf(pull.number)) === true,
        ),
    )
    .map(({ pull }) => recordOf(pull.number));
}
