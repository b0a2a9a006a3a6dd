import { remaining } from "../kernel/approval/compare-reviewed.ts";
import type { ApplyRecords, ApplyRun, Report, ReportedMerchant, UndeclaredMerchant } from "./apply-run.ts";
import {
  type MerchantState,
  type MergedReview,
  mergedState,
  type OpenStore,
  pullNumbers,
  type RecordedFailure,
  recordOf,
  settledRecords,
  unsettled,
} from "./merchant-state.ts";
import { staleWaiting } from "./waiting-changes.ts";

/** The parts of a run's end that its records need. */
export interface RecordedEnd {
  /** In ms since the epoch, by the forge's clock. */
  readonly plannedAt: number;
  readonly looked: readonly ReportedMerchant[];
  /** The run's report about the merchants that it could not read. */
  readonly unread: ReadonlyMap<string, Report>;
  /** The merchants with lost changes that no file declares any longer. */
  readonly undeclared: readonly UndeclaredMerchant[];
  /** Fingerprints of the changes that were made, by merchant. */
  readonly done: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if the run read every merchant of the repository. */
  readonly isWhole: boolean;
}

/** Records what a run has applied and what remains, and removes the reviews of which nothing remains. */
export async function recordApply(
  run: ApplyRun,
  openStore: OpenStore,
  records: ApplyRecords,
  end: RecordedEnd,
): Promise<void> {
  const { store } = openStore;
  const { merged, abandoned, declared, unapplied, waiting } = records;
  const isOfMerge = !run.isDue && waiting === null;
  const before = records.records.states;
  const next = new Map(
    end.looked
      .filter(({ merchant }) => !unapplied.has(merchant))
      .map((looked) => [looked.merchant, nextState(run, openStore, records, end, looked)] as const),
  );
  let states: ReadonlyMap<string, MerchantState | null> = new Map();
  await store.updateStates((current) => {
    const edits = new Map<string, MerchantState | null>();
    for (const { merchant, reviews } of end.looked) {
      const [recorded, now] = [next.get(merchant), current.get(merchant)];
      if (recorded === undefined) continue;
      const isMoved = JSON.stringify(now ?? null) !== JSON.stringify(before.get(merchant) ?? null);
      const names = reviews.map(({ name }) => name);
      edits.set(merchant, isMoved ? mergedState(recorded, names, now) : recorded);
    }
    const unread = isOfMerge ? unreadStates(run, merged, end, current) : [];
    const others = [
      ...unread,
      ...undeclaredStates(run, records, end),
      ...unappliedStates(records, end, current, openStore),
    ];
    for (const [merchant, state] of others) {
      edits.set(merchant, state);
    }
    // A merchant that no file declares any more starts without a state when it comes back.
    const forgotten = [...current].filter(([merchant]) => !declared.has(merchant) && !edits.has(merchant));
    const gone = end.isWhole ? forgotten.filter(([, state]) => !(run.isDue && state?.failure)) : [];
    for (const [merchant] of gone) edits.set(merchant, null);
    states = new Map([...current, ...edits]);
    return edits;
  });
  const settled = settledRecords(merged, states, end.isWhole ? new Set(declared.keys()) : null);
  const used = waiting === null ? [] : [waiting];
  await store.remove([...settled, ...abandoned, ...used, ...staleWaiting(records.records.names)]);
}

/**
 * Returns the states of merchants with lost changes that no file declares any longer; a run that somebody starts by
 * hand drops them.
 */
function undeclaredStates(
  { sha, isPush }: ApplyRun,
  { records }: ApplyRecords,
  { plannedAt, undeclared }: RecordedEnd,
): readonly (readonly [string, MerchantState])[] {
  return undeclared.flatMap(({ merchant, reviews, digest, pulls }) => {
    if (!isPush) return [];
    const { failure, ...before } = records.states.get(merchant) ?? unknownState(sha, plannedAt);
    const settled = [...new Set([...before.settled, ...pulls.map(recordOf)])];
    const own = { commit: sha, digest, pulls };
    return [[merchant, { ...before, settled, open: reviews, failure: sameFailure(failure, own) }] as const];
  });
}

/** Returns the states of the merchants where a nightly run leaves what was merged to its apply. */
function unappliedStates(
  { unapplied }: ApplyRecords,
  { plannedAt, looked }: RecordedEnd,
  current: ReadonlyMap<string, MerchantState | null>,
  openStore: OpenStore,
): readonly (readonly [string, MerchantState])[] {
  return looked.flatMap((one) => {
    const state = current.get(one.merchant);
    if (!state || !unapplied.has(one.merchant)) return [];
    return [
      [one.merchant, { ...state, nightly: plannedAt, refused: refusedPeople(one, openStore) }] as const,
    ];
  });
}

/** Returns the sealed addresses of people with changes that are refused. */
function refusedPeople({ comparison }: ReportedMerchant, { seal }: OpenStore): readonly string[] {
  return comparison.refused.flatMap(({ change: { resource, name } }) =>
    resource === "member" ? seal(name.toLowerCase()) : [],
  );
}

function unknownState(sha: string, at: number): MerchantState {
  return {
    commit: sha,
    at,
    nightly: null,
    declared: "",
    settled: [],
    open: [],
    refused: [],
    failure: null,
  };
}

/** Returns the states of the merchants that a run could not read: nothing is settled there. */
function unreadStates(
  { sha }: ApplyRun,
  merged: readonly MergedReview[],
  { plannedAt, unread }: RecordedEnd,
  current: ReadonlyMap<string, MerchantState | null>,
): readonly (readonly [string, MerchantState])[] {
  return [...unread].flatMap(([merchant, { digest }]) => {
    const state = current.get(merchant);
    // An invalid record stays invalid.
    if (state === null) return [];
    const { failure, ...before } = state ?? unknownState(sha, plannedAt);
    const pulls = unsettled(merchant, state, merged).map(({ pull }) => pull.number);
    const own = { commit: sha, digest, pulls, isUnread: true } as const;
    return [[merchant, { ...before, failure: sameFailure(failure, own) }] as const];
  });
}

/** Returns the failure that an earlier run has recorded, if it is the same. */
function sameFailure(earlier: RecordedFailure | null, failure: RecordedFailure): RecordedFailure {
  if (earlier?.digest !== failure.digest) return failure;
  return { ...earlier, pulls: [...new Set([...earlier.pulls, ...failure.pulls])] };
}

function nextState(
  run: ApplyRun,
  openStore: OpenStore,
  records: ApplyRecords,
  { plannedAt, done }: RecordedEnd,
  looked: ReportedMerchant,
): MerchantState {
  const { merchant, comparison, state } = looked;
  const { merged, declared, waiting } = records;
  const { sha, isDue } = run;
  const isOfMerge = !isDue && waiting === null;
  const pulls = isOfMerge ? unsettled(merchant, state, merged).map(({ pull }) => pull.number) : [];
  const storedNames = new Set(records.records.names);
  return {
    commit: sha,
    at: plannedAt,
    nightly: isDue ? plannedAt : (state?.nightly ?? null),
    declared: declared.get(merchant) ?? "",
    settled: [...new Set([...(state?.settled ?? []), ...pulls.map(recordOf)])].filter((name) =>
      storedNames.has(name),
    ),
    open: remaining(comparison, done.get(merchant) ?? new Set()),
    refused: refusedPeople(looked, openStore),
    failure: (isDue ? state?.failure : null) ?? failureOf(looked, sha, pulls),
  };
}

function failureOf(
  { digest, blamed, comparison, state }: ReportedMerchant,
  sha: string,
  merged: readonly number[],
): RecordedFailure | null {
  if (digest === "") return null;
  const refused = comparison.account.filter(({ verdict }) => verdict === "refused");
  const pulls = new Set([...blamed, ...merged, ...pullNumbers(refused.map(({ review }) => review))]);
  return sameFailure(state?.failure ?? null, { commit: sha, digest, pulls: [...pulls] });
}
