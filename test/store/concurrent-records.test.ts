import fc from "fast-check";
import { expect, test } from "vitest";
import type { GitRefs } from "../../src/store/git-refs.ts";
import {
  type NewRunRecord,
  openRunRecords,
  type RunRecords,
  recordProblems,
  type WrittenRecord,
} from "../../src/store/run-records.ts";
import { runs } from "../support/property-runs.ts";
import { bareRepository } from "./support/bare-repository.ts";

const KEY = "0123456789abcdef0123456789abcdef";

/** Twenty jobs with `npm run fuzz`. */
const JOBS = Math.min(20, runs(5));

/** The most that a job calls of git if nobody kills it. */
const MOST_CALLS = 14;

class Killed extends Error {}

/** When a job dies: before a call of git, or after the call has taken effect and before its answer. */
interface Kill {
  readonly call: number;
  readonly isAnswerLost: boolean;
}

/** Returns refs that end in the middle, as those of a process that is killed. */
function dying(refs: GitRefs, kill: Kill | null): GitRefs {
  let calls = 0;
  return new Proxy(refs, {
    get:
      (target, name: keyof GitRefs) =>
      async (...args: readonly never[]) => {
        calls += 1;
        const isLast = calls === kill?.call;
        if (kill && (calls > kill.call || (isLast && !kill.isAnswerLost))) throw new Killed();
        const answer = await (target[name] as (...args: readonly never[]) => Promise<unknown>)(...args);
        if (isLast) throw new Killed();
        return answer;
      },
  });
}

/** A job with one run: its record has the same journal at the beginning and at the end, with more lines. */
class Job {
  /** What it has stored on its disk. */
  #written: WrittenRecord | null = null;
  isEnded = false;
  readonly run: string;
  readonly by: string;

  constructor(index: number, isTogether: boolean) {
    this.run = `2026-11-21T13-05-00-${isTogether ? "000" : String(index).padStart(3, "0")}Z`;
    this.by = `ci@host-${index}`;
  }

  #record(outcome: string): NewRunRecord {
    const first = `{"type":"run","host":"${this.by}"}\n`;
    const files = new Map([
      [`${this.run}-MC1.jsonl`, outcome === "began" ? first : `${first}{"type":"end"}\n`],
    ]);
    return {
      run: this.run,
      merchants: ["MC1"],
      outcome,
      by: this.by,
      actor: null,
      job: null,
      applied: null,
      pulls: [],
      files,
    };
  }

  async work(records: RunRecords): Promise<void> {
    this.#written ??= await records.write(this.#record("began"), null);
    await this.end(records);
  }

  /** Records the end, as a later run from the same folder does again. */
  async end(records: RunRecords): Promise<void> {
    const written = await records.write(this.#record("done"), this.#written);
    this.isEnded = true;
    await records.list([written]);
  }
}

const killed = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: MOST_CALLS }), isAnswerLost: fc.boolean() }),
  { nil: null, freq: 3 },
);

test("of concurrent jobs that are killed at random, every run that ended has its ref, none has two, and nothing else changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(killed, fc.boolean()), { minLength: JOBS, maxLength: JOBS }),
      async (kills) => {
        const repository = bareRepository();
        try {
          const other = ["refs/heads/main", "refs/tags/v1", "refs/rolecall-live/x"];
          const tree = repository.git("hash-object", "-t", "tree", "-w", "/dev/null");
          const commit = repository.git(
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "commit-tree",
            tree,
            "-m",
            "x",
          );
          for (const ref of other) repository.git("update-ref", ref, commit);
          const outside = (): string =>
            repository.git("for-each-ref", "refs/heads", "refs/tags", "refs/rolecall-live");
          const before = outside();
          const open = (kill: Kill | null): RunRecords =>
            openRunRecords(dying(repository.refs(), kill), KEY, async () => undefined);
          const survived = (error: unknown): void => {
            if (!(error instanceof Killed)) throw error;
          };
          const jobs = kills.map(([, isTogether], index) => new Job(index, isTogether));
          await Promise.all(
            jobs.map((job, index) => job.work(open(kills[index]?.[0] ?? null)).catch(survived)),
          );
          const recordsOf = async (job: Job): Promise<readonly string[]> => {
            const { records } = await open(null).fetch();
            return records.flatMap(({ summary }) => (summary.by === job.by ? summary.outcome : []));
          };
          for (const job of jobs) {
            const found = await recordsOf(job);
            expect(found.length).toBeLessThanOrEqual(1);
            if (job.isEnded) expect(found).toEqual(["done"]);
          }
          expect(recordProblems(await open(null).fetch())).toEqual([]);
          // The next run of each folder adds what is missing.
          for (const job of jobs) await job.end(open(null));
          for (const job of jobs) expect(await recordsOf(job)).toEqual(["done"]);
          expect(recordProblems(await open(null).fetch())).toEqual([]);
          expect(outside()).toBe(before);
          expect(repository.git("fsck", "--no-dangling")).toBe("");
        } finally {
          repository.remove();
        }
      },
    ),
    { numRuns: Math.min(3, runs(1)) },
  );
});
