import { mapConcurrent } from "../../lib/map-concurrent.ts";
import type {
  ApplyResult,
  Journal,
  Outcome,
  PasswordChange,
  Phase,
  RunEnded,
  Step,
  StopCause,
} from "../../model/apply.ts";
import type { ErrorCode, Failure } from "../../model/errors.ts";
import type { ApplyEvent } from "../../model/events.ts";
import type { Change, Plan } from "../../model/plan.ts";
import type { HoldBack, LiveLookup, LiveWriter } from "../../model/ports.ts";
import { executeStep } from "./execute-step.ts";
import { type OrderOptions, roundsOf } from "./rounds.ts";
import { failureOf, type RunContext, type StepResult } from "./send-recorded.ts";
import type { PutSemantics } from "./update-member.ts";
import { isReinvitation } from "./write-change.ts";

/** The dependencies of an apply. */
export interface ApplyPorts extends OrderOptions {
  readonly writer: LiveWriter;
  readonly lookup: LiveLookup;
  /** True if each resource is rechecked before it is written. */
  readonly recheck: boolean;
  /** The known semantics of the service's PUT, shared by all its merchants in a run. */
  readonly putSemantics: PutSemantics;
  /** Records each write before it is sent and when it has ended. */
  readonly journal: Journal;
  /** Returns the password of a managed user by its environment variable. */
  readonly password: (variable: string) => string;
  readonly emit: (event: ApplyEvent) => void;
  /** Maximum number of changes of a phase in progress. */
  readonly concurrency: number;
  /** Once aborted, nothing new starts, and writes in flight are completed. */
  readonly stop: AbortSignal;
  /** Returns why `stop` was aborted; `null` if it was not. */
  readonly cause: () => StopCause | null;
}

/**
 * Applies a plan phase by phase and sets `passwords`; returns the outcome of every change. The first change that fails
 * or cannot be recorded stops the run. An invitation whose address is refused is retried meanwhile and finally given
 * up, and a refused password does not stop the others. Only a bug throws.
 */
export async function applyPlan(
  plan: Plan,
  ports: ApplyPorts,
  passwords: readonly PasswordChange[] = [],
): Promise<ApplyResult> {
  const { merchant } = plan;
  const { emit, stop, journal } = ports;
  const changes: readonly Change[] = [...plan.changes, ...passwords];
  const rounds = roundsOf(changes, ports);
  const progress = countSteps(rounds.flatMap(({ steps }) => steps));
  const outcomes = new Map<Change, Outcome>();
  /** Changes with a request sent in the current phase. */
  const started = new Set<Change>();
  const sentAnything = new Set<Change>();
  const first: { failure: Failure | null; unrecorded: Failure | null } = { failure: null, unrecorded: null };
  let numbered = 0;
  let writes = 0;
  const stopped = (): boolean => first.failure !== null || stop.aborted;
  const failed = new AbortController();
  const fail = (failure: Failure): void => {
    first.failure ??= failure;
    failed.abort();
  };
  const heldBack = createHeldBackQueue(AbortSignal.any([stop, failed.signal]));
  const lost = new Set<Change>();
  const unrecorded: RunContext["unrecorded"] = (failure, sent) => {
    first.unrecorded ??= failure;
    fail(failure);
    if (sent) lost.add(sent);
  };
  const run: Omit<RunContext, "holdBack"> = {
    ...ports,
    merchant,
    createdRoles: new Map(),
    renamedRoles: new Map(),
    stopped,
    nextWrite: () => ++numbered,
    sending: ({ phase, change }) => {
      if (started.has(change)) return;
      started.add(change);
      emit({ type: "change-started", merchant, phase, change });
    },
    written: () => void ++writes,
    unrecorded,
    recordable: () => first.unrecorded === null,
  };

  const runStep = async (step: Step, holdBack: HoldBack): Promise<void> => {
    const { phase, change } = step;
    started.delete(change);
    const ended = await executeStep(step, { ...run, holdBack });
    if ("failure" in ended && ended.failure && !isOfOne(step, ended.failure)) fail(ended.failure);
    if (ended.status === "done" && !ended.already) sentAnything.add(change);
    const stepsLeft = (progress.get(change) ?? 1) - 1;
    progress.set(change, stepsLeft);
    const outcome = outcomeOf(change, ended, {
      known: outcomes.get(change),
      more: stepsLeft > 0,
      sentAnything: sentAnything.has(change),
    });
    outcomes.set(change, outcome);
    if (outcome.status !== "unfinished" || ended.status !== "done") {
      emit({ type: "change-ended", merchant, phase, outcome });
    }
  };

  emit({ type: "apply-started", merchant, changes: changes.length });
  let current: Phase | null = null;
  for (const { phase, steps } of rounds) {
    if (phase === "own-access") await heldBack.settle();
    if (stopped()) break;
    if (phase !== current) {
      const due = rounds.filter((round) => round.phase === phase).flatMap((round) => round.steps);
      emit({ type: "phase-started", merchant, phase, changes: due.length });
    }
    current = phase;
    const width = phase === "free-names" ? 1 : ports.concurrency;
    const runSteps = (some: readonly Step[]): Promise<void> =>
      runUntilStopped(some, width, stopped, (step) => heldBack.start((holdBack) => runStep(step, holdBack)));
    const isFree = ({ change, part }: Step): boolean =>
      !removesRole(change, part) || !rolesStillHeld(changes, outcomes).has(change.id ?? "");
    const held = steps.filter((step) => !isFree(step));
    await runSteps(steps.filter(isFree));
    if (held.length === 0) continue;
    await heldBack.settle();
    await runSteps(held.filter(isFree));
  }
  await heldBack.settle();

  const allOutcomes = changes.map(
    (change) => outcomes.get(change) ?? ({ status: "not-started", change } as const),
  );
  const whole = allOutcomes.every(({ status }) => status === "done") && first.unrecorded === null;
  const cause = whole || first.failure ? null : ports.cause();
  const ending = whole ? "done" : stopped() ? "stopped" : "incomplete";
  const unended = await journal
    .write(endOf(allOutcomes, ending, first.failure, cause))
    .then(() => null, failureOf);
  if (unended) unrecorded(unended, null);
  const status = unended === null ? ending : "stopped";
  if (status === "stopped") emit({ type: "apply-stopped", merchant, failure: first.failure, cause });
  const result: ApplyResult = {
    status,
    outcomes: allOutcomes,
    writes,
    journalFailure: first.unrecorded,
    unrecorded: [...lost],
  };
  emit({ type: "apply-ended", merchant, result });
  return result;
}

/** Runs steps, at most `width` at once; after a stop or a bug, nothing new starts, and running steps are completed. */
async function runUntilStopped(
  steps: readonly Step[],
  width: number,
  stopped: () => boolean,
  run: (step: Step) => Promise<void>,
): Promise<void> {
  const thrown: unknown[] = [];
  const startable = function* (): Generator<Step> {
    for (const step of steps) {
      if (stopped() || thrown.length > 0) return;
      yield step;
    }
  };
  await mapConcurrent(startable(), Math.min(width, steps.length), (step) =>
    run(step).catch((error: unknown) => void thrown.push(error)),
  );
  if (thrown.length > 0) throw thrown[0];
}

/** Returns the number of steps of each change. */
function countSteps(steps: readonly Step[]): Map<Change, number> {
  const stepsLeft = new Map<Change, number>();
  for (const { change } of steps) stepsLeft.set(change, (stepsLeft.get(change) ?? 0) + 1);
  return stepsLeft;
}

/** The progress of a change after one of its steps. */
interface StepProgress {
  /** The outcome of its earlier steps. */
  readonly known: Outcome | undefined;
  /** True if steps are left. */
  readonly more: boolean;
  /** True if any request was sent for it. */
  readonly sentAnything: boolean;
}

function outcomeOf(change: Change, ended: StepResult, { known, more, sentAnything }: StepProgress): Outcome {
  switch (ended.status) {
    case "done": {
      if (more) return { status: "unfinished", change };
      const { already, ...done } = ended;
      return { ...done, change, ...(already && !sentAnything && { already }) };
    }
    case "not-started":
      return known ?? { ...ended, change };
    case "unfinished":
    case "stale":
    case "failed":
    case "unknown":
      return { ...ended, change };
    default:
      return ended satisfies never;
  }
}

function endOf(
  outcomes: readonly Outcome[],
  status: RunEnded["status"],
  failure: Failure | null,
  cause: StopCause | null,
): RunEnded {
  const sum = (word: Outcome["status"]): number =>
    outcomes.filter((outcome) => outcome.status === word).length;
  return {
    type: "end",
    status,
    cause: status === "stopped" ? (failure?.message ?? causeSentence(cause)) : null,
    outcomes: {
      done: sum("done"),
      failed: sum("failed"),
      unknown: sum("unknown"),
      stale: sum("stale"),
      unfinished: sum("unfinished"),
      "not-started": sum("not-started"),
    },
  };
}

/** Says why a run was stopped; `null` without a cause. */
export function causeSentence(cause: StopCause | null): string | null {
  if (cause === null) return null;
  switch (cause.by) {
    case "signal":
      return `The run was stopped by ${cause.signal}.`;
    case "merchant":
      return `The run was stopped by a failure at ${cause.merchant}.`;
    case "output":
      return `${cause.stream} could not be written to.`;
    default:
      return cause satisfies never;
  }
}

/** A queue of invitations whose address is refused for now. */
interface HeldBackQueue {
  /** Starts work; resolves once it has ended or is held back. */
  start(work: (holdBack: HoldBack) => Promise<void>): Promise<void>;
  /** Waits for work that is held back, for a limited time. */
  settle(): Promise<void>;
}

/** Creates a queue; once `stop` is aborted, nothing in it is retried. */
function createHeldBackQueue(stop: AbortSignal): HeldBackQueue {
  const ending = new AbortController();
  const waiting: Promise<unknown>[] = [];
  const thrown: unknown[] = [];
  return {
    start(work) {
      return new Promise((resolve, reject) => {
        let isHeld = false;
        const held = (): void => {
          if (isHeld) return;
          isHeld = true;
          waiting.push(ended);
          resolve();
        };
        const ended = work({ held, ending: ending.signal, stop }).then(resolve, (error: unknown) => {
          if (isHeld) thrown.push(error);
          else reject(error);
        });
      });
    },
    async settle() {
      ending.abort();
      await Promise.all(waiting);
      if (thrown.length > 0) throw thrown[0];
    },
  };
}

/** The failures of a request whose content the service refuses, such as a password that is too weak. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["bad-request", "forbidden", "unprocessable"]);

/** Returns whether a failure concerns only one person, so that it does not stop the run. */
function isOfOne({ phase }: Step, { code }: Failure): boolean {
  return code === "invitation-limited" || (phase === "set-passwords" && REFUSALS.has(code));
}

function removesRole({ resource, kind }: Change, part: Step["part"]): boolean {
  return resource === "role" && (kind === "delete" ? part === "whole" : part === "remove");
}

/** Returns the ids of roles that expired invitations still hold because they were not replaced. */
function rolesStillHeld(
  changes: readonly Change[],
  outcomes: ReadonlyMap<Change, Outcome>,
): ReadonlySet<string> {
  return new Set(
    changes.flatMap((change) => {
      const outcome = outcomes.get(change);
      if (!isReinvitation(change) || outcome?.status === "done") return [];
      if (outcome !== undefined && "removed" in outcome) return [];
      return change.before.roles.flatMap(({ id }) => id ?? []);
    }),
  );
}
