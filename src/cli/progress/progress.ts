import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import type { Io } from "../io/io.ts";

/** Options of the progress display. */
export interface ProgressOptions {
  /** Shows each request. */
  readonly verbose?: true;
  /** Shows nothing. */
  readonly quiet?: true;
  readonly color: boolean;
}

/** Displays on stderr how reading and applying go: as a board on a terminal, as lines elsewhere. */
export interface ProgressDisplay {
  /** The world to write to: text appears above an open board. */
  readonly io: Io;
  /** Draws a board, which counts the changes and shows those in progress. */
  readonly draws: boolean;
  /** Takes an event of the client. */
  live(event: LiveEvent): void;
  /** Starts the display of reading these merchants. */
  reading(merchants: readonly string[]): void;
  /** Marks a merchant as read, or as failed with a `problem`. */
  read(merchant: string, problem: string | null): void;
  /** Starts the display of applying these plans. */
  applying(plans: readonly { readonly merchant: string; readonly changes: readonly unknown[] }[]): void;
  /** Takes an event of an apply. */
  applied(event: ApplyEvent): void;
  /** Ends the display: a board disappears. */
  rest(): Promise<void>;
}
