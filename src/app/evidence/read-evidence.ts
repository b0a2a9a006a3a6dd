import {
  type AccessEvent,
  type AccessHistory,
  accessHistory,
  type SeenState,
} from "../../ask/evidence/access-history.ts";
import { type DeclaredAt, lateEnds } from "../../ask/evidence/late-ends.ts";
import type { TimedState } from "../../kernel/plan/upcoming-dates.ts";
import { counted, groupByKey, listText } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import type { AccessChange, Evidence, Gap, GapKind } from "../../model/evidence.ts";
import type { Io } from "../io/io.ts";
import { loadFilesAt } from "../project/files-at.ts";
import { openHistory } from "./file-history.ts";
import { lateGaps, outsideGaps, pushGaps, runGaps } from "./find-gaps.ts";
import { isoTime } from "./iso-time.ts";
import { type RecordedParts, readRecordedParts } from "./recorded-parts.ts";
import { readSeenStates, type SeenStates } from "./seen-states.ts";

/** The answers of a code host about commits; `why` says why it could not be asked. */
export interface ReviewAnswers {
  readonly reviews: Evidence["reviews"];
  readonly why: string | null;
}

/** Selects the evidence; the moments are in ms since the epoch, and belong to the period. */
export interface EvidenceSelection {
  readonly from: number;
  readonly to: number;
  /** Empty: all. */
  readonly merchants: readonly string[];
}

/** Reads the evidence of a period from git, and asks a code host about the commits in it. */
export async function readEvidence(
  { from, to, merchants }: EvidenceSelection,
  ask: (commits: readonly string[]) => Promise<ReviewAnswers>,
  io: Io,
): Promise<Evidence> {
  const period = { from: isoTime(from), to: isoTime(to) };
  const isIn = ({ at }: { readonly at: string }): boolean => at >= period.from && at <= period.to;
  const isMeant = (merchant: string): boolean => merchants.length === 0 || merchants.includes(merchant);
  const seen = await readSeenStates(from, to, io);
  // What runs did before the last recorded state is in that state.
  const recorded = await readRecordedParts(Math.min(from, seen.since ?? 0), to, io);
  const access = await readAccess(seen, recorded, isMeant, io);
  const changes = access.changes.filter(isIn);
  const runs = recorded.runs.filter((run) => isIn(run) && run.merchants.some(isMeant));
  const files = await openHistory(io);
  const commits = (await files.commits(to)).filter(isIn);
  const applied = runs.flatMap(({ commit }) => commit ?? []);
  const { reviews, why } = await ask([...new Set([...commits.map(({ id }) => id), ...applied])]);
  const gaps = [
    ...outsideGaps(changes),
    ...pushGaps(commits, reviews),
    ...runGaps(runs, files),
    ...access.late,
    ...recorded.gaps,
    ...unrecordedRuns(
      seen.states.filter(({ live }) => isMeant(live.merchant)),
      recorded,
    ),
  ].filter((gap) => isIn(gap) && (gap.merchant === null || isMeant(gap.merchant)));
  return {
    period,
    made: isoTime(io.now()),
    gaps: gaps.sort(byTime),
    unknown: [
      ...seen.unknown,
      ...recorded.unknown,
      ...access.unknown,
      ...files.unknown,
      ...missingCommits(applied.filter((commit) => !files.hasCommit(commit)).length),
      ...merchants.flatMap((merchant) => unnamedMerchant(merchant, seen, recorded)),
    ],
    unasked: unaskedKinds(seen, why ?? reviewProblem(reviews)),
    changes: [...changes].sort(byTime),
    runs: [...runs].sort(byTime),
    commits: [...commits].sort(byTime),
    reviews,
  };
}

function byTime(a: { readonly at: string }, b: { readonly at: string }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

function unaskedKinds({ states, branch }: SeenStates, why: string | null): ReadonlyMap<GapKind, string> {
  const kinds = new Map<GapKind, string>();
  if (why !== null) kinds.set("unreviewed-push", why).set("unreviewed-apply", why);
  if (states.length === 0) {
    kinds.set(
      "outside-git",
      `There is no branch ${branch} with recorded live states: only what runs met at the service is known.`,
    );
  }
  return kinds;
}

function missingCommits(count: number): readonly string[] {
  return count === 0
    ? []
    : [
        `This clone does not have ${counted(count, "applied commit")}: fetch the branch, so that they can be judged.`,
      ];
}

/** Says why reviews are unknown; `null` if all are known. */
function reviewProblem(reviews: Evidence["reviews"]): string | null {
  const problems = [...reviews.values()].flatMap((review) => ("problem" in review ? review.problem : []));
  if (problems.length === 0) return null;
  return `The reviews of ${counted(problems.length, "commit")} are unknown: ${listText([...new Set(problems)])}.`;
}

function unnamedMerchant(
  merchant: string,
  { states }: SeenStates,
  { merchants }: RecordedParts,
): readonly string[] {
  if (merchants.has(merchant) || states.some(({ live }) => live.merchant === merchant)) return [];
  return [`No recorded run and no recorded live state names ${merchant}.`];
}

interface ReadAccess {
  /** Of any time. */
  readonly changes: readonly AccessChange[];
  readonly late: readonly Gap[];
  readonly unknown: readonly string[];
}

/** Follows the access at each merchant, and compares it with the ends in the files. */
async function readAccess(
  seen: SeenStates,
  recorded: RecordedParts,
  isMeant: (merchant: string) => boolean,
  io: Io,
): Promise<ReadAccess> {
  const events: readonly AccessEvent[] = [...seen.states, ...recorded.parts];
  const declared = declaredStates(io);
  const changes: AccessChange[] = [];
  const late: Gap[] = [];
  for (const group of groupByKey(events, merchantOf)) {
    const merchant = merchantOf(group[0]);
    if (!isMeant(merchant)) continue;
    const history: AccessHistory = accessHistory(group);
    changes.push(
      ...history.changes.map((change) => ({
        ...change,
        merchant,
        at: isoTime(change.at),
        since: change.since === null ? null : isoTime(change.since),
      })),
    );
    late.push(...lateGaps(merchant, await lateEnds(history, declared.of(merchant))));
  }
  const failed = declared.failed();
  const unknown =
    failed === 0
      ? []
      : [
          `The files could not be read at ${counted(failed, "moment")}: access that ended late may be missing.`,
        ];
  return { changes, late, unknown };
}

function merchantOf(event: AccessEvent): string {
  return event.kind === "run" ? event.merchant : event.live.merchant;
}

/** Returns the runs that have recorded a live state, and not themselves. */
function unrecordedRuns(states: readonly SeenState[], { ids, gaps }: RecordedParts): readonly Gap[] {
  const reported = new Set([...ids, ...gaps.flatMap(({ run }) => run ?? [])]);
  return states.flatMap(({ run, at, commit }): readonly Gap[] => {
    if (run === null || reported.has(run)) return [];
    reported.add(run);
    const what = "the run has recorded a live state, but has no record itself";
    return [{ kind: "unrecorded-run", at: isoTime(at), merchant: null, run, commit, what }];
  });
}

interface DeclaredStates {
  readonly of: (merchant: string) => DeclaredAt;
  /** Returns the number of moments at which they could not be read. */
  readonly failed: () => number;
}

/** Reads what the files declared at moments; each is read once. */
function declaredStates({ cwd }: Io): DeclaredStates {
  const states = new Map<string, Promise<TimedState | null>>();
  let failed = 0;
  const read = async (merchant: string, moment: number): Promise<TimedState | null> => {
    try {
      return (await loadFilesAt(moment, [], { merchants: [merchant], cwd })).states[0] ?? null;
    } catch (error) {
      if (!(error instanceof RolecallError)) throw error;
      failed += 1;
      return null;
    }
  };
  return {
    failed: () => failed,
    of: (merchant) => (moment) => {
      const key = `${moment} ${merchant}`;
      const state = states.get(key) ?? read(merchant, moment);
      states.set(key, state);
      return state;
    },
  };
}
