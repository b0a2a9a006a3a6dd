import { applyPlan } from "../../src/kernel/apply/apply-plan.ts";
import type { JournalEntry, PastRun, RunStarted } from "../../src/model/apply.ts";
import { RolecallError } from "../../src/model/errors.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { LiveWriter, WriteOptions } from "../../src/model/ports.ts";
import { parseJournal } from "../../src/runs/journal-file.ts";
import { applyPorts } from "./apply-ports.ts";
import { memoryJournal } from "./memory-journal.ts";
import type { ModelService } from "./model-service.ts";

const AT = "2026-06-15T12:00:00.000Z";

/** The first line of a journal. */
export function runStarted(rest: Partial<RunStarted> = {}): RunStarted {
  return {
    type: "run",
    format: 1,
    run: "2026-06-15T12-00-00-000Z-MC1",
    merchant: "MC1",
    environment: null,
    service: "https://service.example",
    fingerprint: "0123456789abcdef0123456789abcdef",
    changes: 1,
    version: "0.0.0",
    user: "ada",
    host: "till",
    pid: 4711,
    commit: { id: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", clean: true },
    job: null,
    undoes: null,
    ...rest,
  };
}

/** The text of a journal with these entries. */
export function journalText(entries: readonly JournalEntry[]): string {
  return entries.map((entry) => `${JSON.stringify({ at: AT, ...entry })}\n`).join("");
}

/** A journal that was read; fails where it cannot be. */
function pastRun(entries: readonly JournalEntry[]): PastRun {
  const read = parseJournal(journalText(entries));
  if (!read.ok) throw new Error(`line ${read.line}: ${read.reason}`);
  return read.run;
}

/** How a run of a test is cut short: at which write, and whether the service still did it. */
export interface Cut {
  readonly at: number;
  readonly did: boolean;
}

/** Applies a plan to a model service, and gives what its journal tells. */
export async function runOf(plan: Plan, service: ModelService, cut?: Cut): Promise<PastRun> {
  const journal = memoryJournal();
  const writer = cut ? cutShort(service.writer, cut) : service.writer;
  await applyPlan(plan, applyPorts({ writer, lookup: service.lookup }, { journal }), []);
  return pastRun([runStarted({ changes: plan.changes.length }), ...journal.entries]);
}

/** A writer whose answer to one write is lost, and that does nothing more from there on. */
function cutShort(writer: LiveWriter, { at, did }: Cut): LiveWriter {
  let writes = 0;
  const one =
    <Args extends readonly unknown[], T>(write: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      writes += 1;
      if (writes < at) return write(...args);
      if (writes === at && did) await write(...args);
      else await (args.at(-1) as WriteOptions | undefined)?.beforeSending?.();
      const request = { method: "POST", path: "/", attempts: 1, uncertain: true };
      throw new RolecallError("network", "the answer was lost", { request });
    };
  return {
    createRole: one(writer.createRole),
    updateRole: one(writer.updateRole),
    deleteRole: one(writer.deleteRole),
    createMember: one(writer.createMember),
    updateMember: one(writer.updateMember),
    deleteMember: one(writer.deleteMember),
  };
}
