import type { RunPart } from "../../ask/evidence/access-history.ts";
import { listText } from "../../lib/text.ts";
import type { PastRun } from "../../model/apply.ts";
import type { EvidenceRun, Gap } from "../../model/evidence.ts";
import { type FetchedRuns, type RunRecord, recordProblems } from "../../store/run-records.ts";
import type { Io } from "../io/io.ts";
import { timeOfRun } from "../journal/read-journals.ts";
import { readPlace, withRunRecords } from "../records/record-place.ts";
import { recordedRun } from "../records/recorded-runs.ts";
import { signingKey } from "../records/signing-key.ts";
import { isoTime } from "./iso-time.ts";
import { runEffects } from "./run-effects.ts";

/** The recorded runs of a time. */
export interface RecordedParts {
  readonly runs: readonly EvidenceRun[];
  /** What they did, without those whose records cannot be trusted. */
  readonly parts: readonly RunPart[];
  /** The ids of all runs with a record, of any time. */
  readonly ids: ReadonlySet<string>;
  /** The merchants of all runs with a record, of any time. */
  readonly merchants: ReadonlySet<string>;
  /** Runs without a record, or with one that cannot be trusted or that was deleted, of any time. */
  readonly gaps: readonly Gap[];
  /** What could not be known, in sentences. */
  readonly unknown: readonly string[];
}

/** Reads the records of the runs that began between two moments, in ms since the epoch. */
export async function readRecordedParts(from: number, to: number, io: Io): Promise<RecordedParts> {
  const place = await readPlace(io);
  const isSigned = signingKey(io.env) !== "";
  return withRunRecords(place, io, async (records) => {
    const fetched = await records.fetch();
    const runs: EvidenceRun[] = [];
    const parts: RunPart[] = [];
    const unreadable: string[] = [];
    for (const record of fetched.records.filter(({ name }) => isBetween(name, from, to))) {
      const found = await recordedRun(record, records, place).journals();
      const past = found.flatMap((journal) => ("past" in journal ? journal.past : []));
      if (past.length < found.length || past.length === 0) unreadable.push(record.name);
      runs.push(evidenceRun(record, past));
      // With a key, only what it has signed explains a change.
      if (isSigned && record.trust !== "verified") continue;
      parts.push(...past.map((one) => ({ ...runEffects(one), run: record.name })));
    }
    return {
      runs,
      parts,
      ids: new Set(fetched.records.flatMap(({ name, summary }) => [name, summary.run])),
      merchants: new Set(fetched.records.flatMap(({ summary }) => summary.merchants)),
      gaps: recordGaps(fetched, isSigned),
      unknown: [
        ...(fetched.records.length === 0
          ? [
              `No run is recorded in ${place.name}, so no change can be attributed to a run: see --records of apply.`,
            ]
          : []),
        ...(unreadable.length === 0 ? [] : [`The journals of ${listText(unreadable)} cannot be read whole.`]),
        ...(isSigned
          ? []
          : [
              "ROLECALL_APPROVAL_SECRET is not set, so the signatures of records were not checked, and missing records are unknown.",
            ]),
      ],
    };
  });
}

function isBetween(name: string, from: number, to: number): boolean {
  const at = timeOfRun(name);
  return at !== null && at >= from && at <= to;
}

function evidenceRun({ name, summary, trust }: RunRecord, past: readonly PastRun[]): EvidenceRun {
  const { merchants, outcome, by, actor, job, applied, uncommitted = false, pulls } = summary;
  return {
    run: name,
    at: isoTime(timeOfRun(name) ?? 0),
    ...{ merchants, outcome, by, actor, job, uncommitted, pulls },
    commit: applied,
    undoes: past[0]?.run.undoes ?? null,
    overridden: past.flatMap(({ run: { merchant, overridden = [] } }) =>
      overridden.map((refusal) => ({ merchant, refusal })),
    ),
    signature: trust,
  };
}

/** Returns the names of the records that were deleted by `runs prune`. */
function deletedIn({ list }: FetchedRuns): readonly string[] {
  return list === null || list === "invalid"
    ? []
    : [...list].flatMap(([name, tree]) => (tree === null ? name : []));
}

function recordGaps(fetched: FetchedRuns, isSigned: boolean): readonly Gap[] {
  const gap = (name: string, what: string): readonly Gap[] => {
    const at = timeOfRun(name);
    return at === null
      ? []
      : [{ kind: "unrecorded-run", at: isoTime(at), merchant: null, run: name, commit: null, what }];
  };
  const problems = isSigned ? recordProblems(fetched) : [];
  const named = new Set(problems.map(({ name }) => name));
  return [
    ...deletedIn(fetched).flatMap((name) =>
      named.has(name) ? [] : gap(name, "the record of the run was deleted with runs prune"),
    ),
    ...problems.flatMap(({ name, kind, reason }) => gap(name, `the record of the run is ${kind}: ${reason}`)),
    ...fetched.records.flatMap(({ name, summary: { outcome, by } }) =>
      outcome === "began" && !named.has(name)
        ? gap(name, `${by} began the run, and its end was never recorded`)
        : [],
    ),
  ];
}
