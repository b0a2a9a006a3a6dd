import { remaining } from "../kernel/approval/compare-reviewed.ts";
import type { ApplyRecords, ApplyRun, ReportedMerchant } from "./apply-run.ts";
import {
  type MerchantState,
  mergedState,
  type OpenStore,
  type RecordedFailure,
  recordOf,
  settledRecords,
  unsettled,
} from "./merchant-state.ts";
import { staleWaiting } from "./waiting-changes.ts";

/** The end of a run, as far as its records need it. */
export interface RecordedEnd {
  /** In ms since the epoch, by the forge's clock. */
  readonly plannedAt: number;
  readonly looked: readonly ReportedMerchant[];
  /** Fingerprints of the changes that were made, by merchant. */
  readonly done: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if the run read every merchant of the repository. */
  readonly isWhole: boolean;
}

/** Records what a run has applied and what is left, and removes the reviews that nothing is left of. */
export async function recordApply(
  run: ApplyRun,
  openStore: OpenStore,
  records: ApplyRecords,
  end: RecordedEnd,
): Promise<void> {
  const { store } = openStore;
  const { merged, abandoned, declared, waiting } = records;
  const before = records.records.states;
  const next = new Map(
    end.looked.map((looked) => [looked.merchant, nextState(run, openStore, records, end, looked)] as const),
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
    // A merchant that no file declares any more starts without a state when it comes back.
    const gone = end.isWhole ? [...current.keys()].filter((merchant) => !declared.has(merchant)) : [];
    for (const merchant of gone) edits.set(merchant, null);
    states = new Map([...current, ...edits]);
    return edits;
  });
  const settled = settledRecords(merged, states, end.isWhole ? new Set(declared.keys()) : null);
  const used = waiting === null ? [] : [waiting];
  await store.remove([...settled, ...abandoned, ...used, ...staleWaiting(records.records.names)]);
}

function nextState(
  { sha, isDue }: ApplyRun,
  openStore: OpenStore,
  { records, merged, declared, waiting }: ApplyRecords,
  { plannedAt, done }: RecordedEnd,
  looked: ReportedMerchant,
): MerchantState {
  const { merchant, comparison, state } = looked;
  const isOfMerge = !isDue && waiting === null;
  const ownRecords = isOfMerge
    ? unsettled(merchant, state, merged).map(({ pull }) => recordOf(pull.number))
    : [];
  const storedNames = new Set(records.names);
  return {
    commit: sha,
    at: plannedAt,
    nightly: isDue ? plannedAt : (state?.nightly ?? null),
    declared: declared.get(merchant) ?? "",
    settled: [...new Set([...(state?.settled ?? []), ...ownRecords])].filter((name) => storedNames.has(name)),
    open: remaining(comparison, done.get(merchant) ?? new Set()),
    refused: comparison.refused.flatMap(({ change: { resource, name } }) =>
      resource === "member" ? openStore.seal(name.toLowerCase()) : [],
    ),
    failure:
      (isOfMerge ? null : keptFailure(looked, isDue, openStore)) ??
      failureOf(looked, sha, ownRecords, openStore),
  };
}

/** Returns what is left of a reported failure after a run that looks at less than an apply of a merge. */
function keptFailure(
  { digest, state }: ReportedMerchant,
  isDue: boolean,
  { reveal, seal }: OpenStore,
): RecordedFailure | null {
  const failure = state?.failure ?? null;
  if (isDue || failure === null) return failure;
  // Lost changes stay lost, whatever else was approved.
  const isLeft = digest === "" && failure.dropped.length > 0;
  return isLeft ? { ...failure, digest: seal(failure.dropped.map(reveal).join("\n")) } : null;
}

function failureOf(
  { digest, lost, blamed, comparison, state }: ReportedMerchant,
  sha: string,
  merged: readonly string[],
  { conceal }: Pick<OpenStore, "conceal">,
): RecordedFailure | null {
  if (digest === "") return null;
  if (state?.failure?.digest === digest) return state.failure;
  const refused = comparison.account.filter(({ verdict }) => verdict === "refused");
  const pullNumbers = [...merged, ...refused.map(({ review }) => review)].map((name) =>
    Number(/^(?:#|reviews\/)(\d+)$/.exec(name)?.[1]),
  );
  const pulls = [...new Set([...blamed, ...pullNumbers])].filter(Number.isSafeInteger);
  return { commit: sha, digest, pulls, dropped: lost.map(conceal) };
}
