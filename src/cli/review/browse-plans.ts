import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { approvedPart, type Dependencies, dependenciesOf, leftOutWith } from "../../plan/select.ts";
import { changeId } from "../../render/tui/browse-model.ts";
import type { Browsed } from "../../render/tui/browser.tsx";
import type { OutputOptions } from "../args/options.ts";
import type { Io } from "../io/io.ts";
import { styleFor, terminalOf } from "../io/output.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import { type Planned, plannedOnly, planSessions, type Session } from "../session/session.ts";
import { objectionsTo } from "./approval.ts";

/**
 * The escape sequences that enter the alternate screen without line wrapping, and leave it again: the scrollback stays
 * as it was.
 */
const [OTHER_SCREEN, FIRST_SCREEN] = ["\u001b[?1049h\u001b[?7l\u001b[H", "\u001b[?7h\u001b[?1049l"];

/** Throws RolecallError without a terminal that can be drawn on. */
export function checkInteractive({ format }: Pick<OutputOptions<string>, "format">, io: Io): void {
  if (format !== "text") {
    throw new RolecallError("usage", `--interactive cannot be combined with --format ${format}.`);
  }
  const { asks, draws } = terminalOf(io);
  if (asks && draws) return;
  throw new RolecallError(
    "usage",
    asks
      ? "--interactive cannot draw on this terminal (TERM=dumb)."
      : "--interactive needs a terminal, and there is none.",
    { hint: "Without --interactive the plan is printed as text." },
  );
}

/** Opens the plan browser on the terminal; with `selects`, the user can leave changes out. */
export async function browsePlans(
  plans: readonly Plan[],
  { selects, color }: { readonly selects: boolean; readonly color: boolean },
  io: Io,
): Promise<Browsed> {
  const { browse } = await import("../../render/tui/browser.tsx");
  const dependencies = dependenciesOfAll(plans);
  const style = styleFor(io.stderr, io, color);
  const ended = new AbortController();
  const ignoreSignals = io.onStopSignal(() => ended.abort());
  const back = (): void => io.stderr.write(FIRST_SCREEN);
  // Restores the terminal, however the process ends.
  const offExit = io.onExit(back);
  // Set before the first frame, so that early keys are not echoed into it.
  io.terminal.stdin.setRawMode(true);
  io.stderr.write(OTHER_SCREEN);
  try {
    const leftOut = (chosen: ReadonlySet<string>) => leftOutWith(dependencies, chosen);
    return await browse({ plans, leftOut, selects, style }, io.terminal, ended.signal);
  } finally {
    offExit();
    back();
    ignoreSignals();
  }
}

function dependenciesOfAll(plans: readonly Plan[]): Dependencies {
  return new Map(
    plans.flatMap(({ merchant, changes }) =>
      [...dependenciesOf(changes)].map(([fingerprint, dependencies]) => [
        changeId(merchant, { fingerprint }),
        dependencies.map(({ dependent, why }) => ({
          dependent: changeId(merchant, { fingerprint: dependent }),
          why,
        })),
      ]),
    ),
  );
}

/** The selected changes, planned again. */
export interface ChangeSelection {
  readonly planned: readonly Planned[];
  /** Changes of the fresh plans that were not shown, a sentence each, by merchant. */
  readonly objections: ReadonlyMap<string, readonly string[]>;
  /** Number of changes left out, by merchant. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Lets the user select changes on the terminal; `null` if they leave. Everything is then planned again without the
 * changes left out, with the shown plans as its approval.
 */
export async function selectChanges(
  planned: readonly Planned[],
  options: { readonly color: boolean },
  progress: ProgressDisplay,
  io: Io,
): Promise<ChangeSelection | null> {
  const results = plannedOnly(planned).filter(({ plan }) => plan.changes.length > 0);
  const browsed = await browsePlans(
    results.map(({ plan }) => plan),
    { ...options, selects: true },
    io,
  );
  if (!browsed.apply) return null;
  const selected = results.map(({ session, plan }) => {
    const leaveOut = leaveOutOf(plan, browsed.leaveOut);
    return {
      session: { ...session, plan: () => session.plan(leaveOut) } satisfies Session,
      approved: approvedPart(plan, leaveOut),
      full: plan,
    };
  });
  progress.reading(selected.map(({ full }) => full.merchant));
  try {
    const fresh = await planSessions(
      { all: selected.map(({ session }) => session), failed: [] },
      progress.read,
    );
    const made = plannedOnly(fresh);
    const approved = selected.map((one) => one.approved);
    const again = new Map(selected.map(({ full }, index) => [full.merchant, fresh[index]]));
    return {
      planned: planned.map(
        (one) => again.get(one.status === "planned" ? one.plan.merchant : one.merchant) ?? one,
      ),
      objections: new Map(made.map((one) => [one.plan.merchant, objectionsTo(one, approved)])),
      leftOut: new Map(
        selected.map((one) => [one.full.merchant, one.full.changes.length - one.approved.changes.length]),
      ),
    };
  } finally {
    await progress.rest();
  }
}

/**
 * Returns the changes to leave out. With any, deferred ones are left out too: leaving out another change must not make
 * them due.
 */
function leaveOutOf({ merchant, changes, deferred }: Plan, chosen: ReadonlySet<string>): ReadonlySet<string> {
  const out = changes.filter((change) => chosen.has(changeId(merchant, change)));
  if (out.length === 0) return new Set();
  return new Set([...out, ...deferred.map(({ change }) => change)].map(({ fingerprint }) => fingerprint));
}
