import type { Outcome } from "../model/apply.ts";
import type { Failure } from "../model/errors.ts";
import type { Change } from "../model/plan.ts";
import type { HoldBack } from "../model/ports.ts";
import { isReinvitation } from "./write-change.ts";

/** A queue of invitations whose address is refused for now. */
export interface HeldBackQueue {
  /** Starts work; resolves when it has ended or is held back. */
  start(work: (holdBack: HoldBack) => Promise<void>): Promise<void>;
  /** Waits for work that is held back, for a limited time. */
  settle(): Promise<void>;
}

/** Creates a queue; once `stop` is aborted, nothing in it is retried. */
export function createHeldBackQueue(stop: AbortSignal): HeldBackQueue {
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

/** Returns whether a failure concerns one invited address only, and does not stop the run. */
export function isHeldBack(failure: Failure | undefined): boolean {
  return failure?.code === "invitation-limited";
}

/** Returns the ids of roles that expired invitations still hold because they were not replaced. */
export function rolesStillHeld(
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
