import type { ApplyEvent, ApplyResult, Outcome } from "../model/apply.ts";
import { type Failure, RolecallError } from "../model/errors.ts";
import type { Change, Plan } from "../model/plan.ts";
import type { LiveWriter } from "../model/ports.ts";
import { PHASES, stepsOf } from "./phases.ts";
import { runPool } from "./pool.ts";
import type { Step } from "./step.ts";
import { type Written, writeStep } from "./write-change.ts";

/** Everything that an apply needs of the world. */
export interface ApplyPorts {
  readonly writer: LiveWriter;
  /** First passwords of managed users, by the name of the environment variable. */
  readonly password: (variable: string) => string;
  readonly emit: (event: ApplyEvent) => void;
  /** How many changes of one phase are under way at once. */
  readonly concurrency: number;
  /** When it is aborted nothing new starts, and what is in flight ends. */
  readonly stop: AbortSignal;
}

/**
 * Carries a plan out, phase by phase, and tells what became of every change.
 * The first change that fails stops the run; only a bug throws.
 */
export async function applyPlan(plan: Plan, ports: ApplyPorts): Promise<ApplyResult> {
  const { merchant, changes } = plan;
  const { emit, stop } = ports;
  const steps = stepsOf(changes);
  const progress = stepsLeft(steps);
  const outcomes = new Map<Change, Outcome>();
  const createdRoles = new Map<string, string>();
  let firstFailure: Failure | null = null;
  const stopped = (): boolean => firstFailure !== null || stop.aborted;

  const runStep = async (step: Step): Promise<void> => {
    const { phase, change } = step;
    emit({ type: "change-started", merchant, phase, change });
    const outcome = await attempt(change, () => writeStep(step, { ...ports, createdRoles }));
    const left = (progress.get(change) ?? 1) - 1;
    progress.set(change, left);
    if (outcome.status === "done") {
      if (phase === "create-roles" && outcome.id !== null) createdRoles.set(change.name, outcome.id);
      outcomes.set(change, left === 0 ? outcome : { status: "unfinished", change });
    } else {
      if ("failure" in outcome) firstFailure ??= outcome.failure;
      outcomes.set(change, outcome);
    }
    if (left === 0 || outcome.status !== "done") emit({ type: "change-ended", merchant, phase, outcome });
  };

  emit({ type: "apply-started", merchant, changes: changes.length });
  for (const phase of PHASES) {
    const due = steps.filter((step) => step.phase === phase);
    if (stopped() || due.length === 0) continue;
    emit({ type: "phase-started", merchant, phase, changes: due.length });
    await runPool(due, phase === "free-names" ? 1 : ports.concurrency, stopped, runStep);
  }

  const all = changes.map((change) => outcomes.get(change) ?? ({ status: "not-started", change } as const));
  const status = all.every((outcome) => outcome.status === "done") ? "done" : "stopped";
  if (status === "stopped") emit({ type: "apply-stopped", merchant, failure: firstFailure });
  const result: ApplyResult = { status, outcomes: all };
  emit({ type: "apply-ended", merchant, result });
  return result;
}

/** How many steps each change takes. */
function stepsLeft(steps: readonly Step[]): Map<Change, number> {
  const left = new Map<Change, number>();
  for (const { change } of steps) left.set(change, (left.get(change) ?? 0) + 1);
  return left;
}

async function attempt(change: Change, write: () => Promise<Written>): Promise<Outcome> {
  try {
    return { status: "done", change, ...(await write()) };
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return { status: error.request?.uncertain ? "unknown" : "failed", change, failure: error.failure };
  }
}
