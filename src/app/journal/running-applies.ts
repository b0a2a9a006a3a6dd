import { relative } from "node:path";
import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { RunStarted } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { EXTENSION, journalNames, listRuns, nameOf, readRun } from "./read-journals.ts";

/** An apply that is running in another process. */
export type RunningApply = Pick<RunStarted, "run" | "user" | "host" | "pid"> & { readonly at: string };

/**
 * Returns the apply of another process that is changing a merchant, by its journal: one without an end, whose process
 * still runs. `null` if there is none; `own` is the name of this run's journal.
 */
export async function runningApply(
  { merchant, service }: Pick<Plan, "merchant" | "service">,
  io: Pick<Io, "cwd" | "now">,
  ownName?: string,
): Promise<RunningApply | null> {
  const { folder, names } = await journalNames(io.cwd);
  const suffix = `Z-${nameOf(merchant)}`;
  const journals = names
    .map((file) => file.slice(0, -EXTENSION.length))
    // A second journal of one millisecond has a number at its end.
    .filter(
      (name) => name !== ownName && [name, name.replace(/-\d+$/, "")].some((each) => each.endsWith(suffix)),
    )
    .sort()
    .toReversed();
  for (const name of journals) {
    const journal = await readRun({ name, file: relative(io.cwd, `${folder}/${name}${EXTENSION}`) }, io);
    if (!("past" in journal) || journal.past.run.merchant !== merchant) continue;
    if (journal.past.run.service !== service || journal.status === "interrupted") continue;
    // No other apply has begun since.
    if (journal.status !== "running") return null;
    const tracked = (await listRuns(io.cwd)).find((stored) => stored.name === name)?.tracked === "yes";
    if (!tracked) return journal.past.run;
  }
  return null;
}

/** Returns the error of an apply that finds another one of the same merchant, before it has planned or after. */
export function alreadyRunning(
  merchant: string,
  { pid, user, host, at }: RunningApply,
  now: number,
  isPlanned = false,
): RolecallError {
  const whose = user === null ? `on ${host}` : `of ${user} on ${host}`;
  return new RolecallError(
    "apply-running",
    oneLine(
      `Another apply of ${merchant} is running: process ${pid} ${whose}, for ${ageText(now - Date.parse(at))}.`,
    ),
    {
      hint: isPlanned
        ? "It began after this apply had planned. Wait until it has ended, and run this command again."
        : "Wait until it has ended, or use --lock-timeout 5m to wait for it.",
    },
  );
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return counted(seconds, "second");
  return seconds < 7200
    ? counted(Math.round(seconds / 60), "minute")
    : counted(Math.round(seconds / 3600), "hour");
}
