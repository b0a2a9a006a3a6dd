import type { Io } from "../../app/io/io.ts";
import { styleFor } from "../../app/io/terminal.ts";
import { type FoundRun, isOf, listRuns, readRun } from "../../app/journal/read-journals.ts";
import type { PastRun } from "../../model/apply.ts";
import type { Plan } from "../../model/plan.ts";
import type { KnownRun } from "../../show/view/run-view.ts";

/** Time for which an unfinished run is reported if no changes remain, in ms. */
const SETTLED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Warns of unfinished or running applies that were the last at a merchant of this service. Without readable journals
 * there is no warning.
 */
export async function warnUnfinishedRuns(
  planned: readonly { readonly plan: Plan }[],
  options: { readonly color: boolean; readonly quiet?: true },
  io: Io,
): Promise<void> {
  if (options.quiet) return;
  const runs = planned.length === 0 ? [] : await listRuns(io.cwd).catch(() => []);
  if (runs.length === 0) return;
  const reported = new Map<string, KnownRun[]>();
  const strange = new Set<string>();
  for (const { plan } of planned) {
    const { merchant, service, changes } = plan;
    const { last, distrusted } = await lastRun(runs, merchant, service, io);
    for (const text of distrusted) strange.add(text);
    if (last === null) continue;
    const { status, past } = last;
    const isOpen = status === "running" || status === "interrupted" || status === "unknown-outcome";
    const age = io.now() - Date.parse(past.run.at);
    if (isOpen && (status === "running" || changes.length > 0 || age < SETTLED_AFTER_MS)) {
      const { run, host, pid } = past.run;
      const together = JSON.stringify([run, host, pid, status]);
      reported.set(together, [...(reported.get(together) ?? []), last]);
    }
  }
  if (strange.size + reported.size === 0) return;
  const { distrustedDocument, unfinishedDocument } = await import("../../show/documents/run-notes.ts");
  const { documentText } = await import("../../show/blocks/text-blocks.ts");
  const style = styleFor(io.stderr, io, options.color);
  io.stderr.write(documentText(distrustedDocument([...strange]), style));
  for (const parts of reported.values()) io.stderr.write(documentText(unfinishedDocument(parts), style));
}

/** The last run at a merchant, and the newer journals that are not read, each with the reason. */
interface LastRun {
  readonly last: Extract<FoundRun, { readonly past: PastRun }> | null;
  readonly distrusted: readonly string[];
}

async function lastRun(
  runs: Awaited<ReturnType<typeof listRuns>>,
  merchant: string,
  service: string,
  io: Io,
): Promise<LastRun> {
  const distrusted: string[] = [];
  for (const stored of runs) {
    // The name holds the merchant, so other merchants' journals need not be read.
    if (!isOf({ ...stored, unreadable: "" }, [merchant])) continue;
    const journal = await readRun(stored, io);
    // A journal with an incomplete first line changed nothing, so the previous one counts.
    if (!("past" in journal)) {
      if (journal.distrusted) distrusted.push(journal.unreadable);
      continue;
    }
    const { run } = journal.past;
    if (run.merchant === merchant && run.service === service) return { last: journal, distrusted };
  }
  return { last: null, distrusted };
}
