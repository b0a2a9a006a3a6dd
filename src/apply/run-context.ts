import type { Failure } from "../model/errors.ts";
import type { ApplyEvent } from "../model/events.ts";
import type { Journal } from "../model/journal.ts";
import type { Step } from "./step.ts";
import type { Emptied } from "./update-member.ts";
import type { WriteContext } from "./write-change.ts";

/** The ports that a step needs, and the progress of the run so far. */
export interface RunContext extends WriteContext {
  /** Whether each resource is looked at before it is written. */
  readonly recheck: boolean;
  readonly merchant: string;
  readonly journal: Journal;
  /** Aborted when nothing new is to start. */
  readonly stop: AbortSignal;
  readonly emit: (event: ApplyEvent) => void;
  readonly createdRoles: Map<string, string>;
  readonly renamedRoles: Map<string, string>;
  /** Whether nothing new is to start. */
  stopped(): boolean;
  /** Gives a write its number, from 1. */
  nextWrite(): number;
  /** Takes note that a step is about to send its first, or a further request. */
  sending(step: Step): void;
  /** Takes note that the service has carried a write out, or may have. */
  written(): void;
  /** Takes note of what could not be recorded, and of the change where that was sent; from then on nothing new starts. */
  unrecorded(failure: Failure, sent: Step["change"] | null): void;
  /** Whether everything so far could be recorded. */
  recordable(): boolean;
}

/** It is as the step was to make it. */
export interface Done {
  readonly status: "done";
  readonly id: string | null;
  readonly adopted: boolean;
  readonly already?: true;
  readonly emptied?: Emptied;
}

/** It was not done, or nobody knows. */
export interface Undone {
  readonly status: "failed" | "unknown";
  readonly failure: Failure;
  readonly removed?: true;
}

/** It is no longer what was planned; nothing was sent. */
export interface Stale {
  readonly status: "stale";
  readonly failure: Failure;
}

/** How a step ended. */
export type StepResult =
  | Done
  | Undone
  | Stale
  /** The run was stopped before this step had sent anything. */
  | { readonly status: "not-started" }
  /** Not all of its writes are done. */
  | { readonly status: "unfinished"; readonly failure?: Failure; readonly removed?: true };
