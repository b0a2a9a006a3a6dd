import { RolecallError } from "../../model/errors.ts";
import type { JudgeSelection } from "../../model/plan.ts";
import { selectionJudge } from "../../plan/judge-selection.ts";
import type { Browsed } from "../../render/tui/browser.tsx";
import type { OutputOptions } from "../args/options.ts";
import type { Io } from "../io/io.ts";
import { styleFor, terminalOf } from "../io/output.ts";
import type { ProgressDisplay } from "../progress/log-progress.ts";
import {
  type Planned,
  type PlannedMerchant,
  plannedOnly,
  planSessions,
  type Session,
  withRunOverrides,
} from "../session/session.ts";
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
  planned: readonly PlannedMerchant[],
  { selects, color }: { readonly selects: boolean; readonly color: boolean },
  io: Io,
): Promise<Browsed & { readonly judge: JudgeSelection }> {
  const { browse } = await import("../../render/tui/browser.tsx");
  const judge = selectionJudge(
    planned.map(({ plan, planWithout, session }) => ({
      plan,
      planWithout,
      overrides: session.state.guards.overrides ?? [],
    })),
  );
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
    const plans = planned.map(({ plan }) => plan);
    const leftOut = (chosen: ReadonlySet<string>) => judge(chosen).out;
    const browsed = await browse({ plans, leftOut, selects, style }, io.terminal, ended.signal);
    return { ...browsed, judge };
  } finally {
    offExit();
    back();
    ignoreSignals();
  }
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
 * changes left out, with the plans of the selection, as judged on the screen, as its approval.
 */
export async function selectChanges(
  planned: readonly Planned[],
  options: { readonly color: boolean },
  progress: ProgressDisplay,
  io: Io,
): Promise<ChangeSelection | null> {
  const results = plannedOnly(planned).filter(({ plan }) => plan.changes.length > 0);
  const { apply, leaveOut: chosen, judge } = await browsePlans(results, { ...options, selects: true }, io);
  if (!apply) return null;
  const { plans: approved, leaveOut } = judge(chosen);
  const selected = results.map(({ session, plan }, at) => ({
    session: { ...session, plan: () => session.plan(leaveOut[at]) } satisfies Session,
    merchant: plan.merchant,
    leftOut: plan.changes.filter(({ fingerprint }) => leaveOut[at]?.has(fingerprint)).length,
  }));
  progress.reading(selected.map(({ merchant }) => merchant));
  try {
    const fresh = await planSessions(
      { all: selected.map(({ session }) => session), failed: [] },
      progress.read,
    );
    const again = new Map(selected.map(({ merchant }, at) => [merchant, fresh[at]]));
    const all = planned.map(
      (one) => again.get(one.status === "planned" ? one.plan.merchant : one.merchant) ?? one,
    );
    return {
      planned: withRunOverrides(all),
      objections: new Map(plannedOnly(fresh).map((one) => [one.plan.merchant, objectionsTo(one, approved)])),
      leftOut: new Map(selected.map((one) => [one.merchant, one.leftOut])),
    };
  } finally {
    await progress.rest();
  }
}
