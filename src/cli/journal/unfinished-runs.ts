import { unrestoredMembers } from "../../plan/undo/emptied-fields.ts";
import { renderUnfinished, type UnfinishedRun } from "../../render/text/run-notices.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { type Planned, plannedOnly } from "../session/session.ts";
import { type FoundRun, isOf, listRuns, readRun } from "./read-journals.ts";

/** How long an unfinished run is reported if nothing remains to change. */
const SETTLED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Warns of unfinished or running applies that were the last at a merchant of this service. Without readable journals
 * there is no warning.
 */
export async function warnUnfinishedRuns(
  planned: readonly Planned[],
  options: { readonly color: boolean; readonly quiet?: true },
  io: Io,
): Promise<void> {
  if (options.quiet) return;
  const results = plannedOnly(planned);
  const runs = results.length === 0 ? [] : await listRuns(io.cwd).catch(() => []);
  if (runs.length === 0) return;
  const reported = new Map<string, UnfinishedRun[]>();
  for (const { live, plan } of results) {
    const { merchant, service, changes } = plan;
    const last = await lastRun(runs, merchant, service, io);
    if (last === null || !("past" in last)) continue;
    const { status, past } = last;
    const unrestored = unrestoredMembers(past, live);
    const isOpen =
      status === "running" ||
      status === "interrupted" ||
      status === "unknown-outcome" ||
      unrestored.length > 0;
    const age = io.now() - Date.parse(past.run.at);
    if (isOpen && (status === "running" || changes.length > 0 || age < SETTLED_AFTER_MS)) {
      const { run, host, pid } = past.run;
      const together = JSON.stringify([run, host, pid, status]);
      reported.set(together, [...(reported.get(together) ?? []), { ...last, unrestored }]);
    }
  }
  const style = styleFor(io.stderr, io, options.color);
  for (const parts of reported.values()) io.stderr.write(renderUnfinished(parts, style));
}

async function lastRun(
  runs: Awaited<ReturnType<typeof listRuns>>,
  merchant: string,
  service: string,
  io: Io,
): Promise<FoundRun | null> {
  for (const stored of runs) {
    // The name holds the merchant, so other merchants' journals need not be read.
    if (!isOf({ ...stored, unreadable: "" }, [merchant])) continue;
    const found = await readRun(stored, io);
    // A journal with an incomplete first line changed nothing, so the previous one counts.
    if (!("past" in found)) continue;
    if (found.past.run.merchant === merchant && found.past.run.service === service) return found;
  }
  return null;
}
