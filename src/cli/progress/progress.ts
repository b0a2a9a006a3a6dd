import type { ApplyEvent, LiveEvent } from "../../model/events.ts";
import type { Io } from "../io/io.ts";

/** How much is told besides the data. */
export interface ProgressOptions {
  /** Each request. */
  readonly verbose?: true;
  /** Nothing. */
  readonly quiet?: true;
  readonly color: boolean;
}

/** Tells on stderr how reading and applying go: as a board on a terminal, as a line now and then elsewhere. */
export interface ProgressDisplay {
  /** The world to write to: what is written while a board is up goes above it. */
  readonly io: Io;
  /** A board counts the changes, and shows which are under way. */
  readonly draws: boolean;
  /** What the client tells. */
  live(event: LiveEvent): void;
  /** The live states of these merchants are read from now on. */
  reading(merchants: readonly string[]): void;
  /** One of them is read, or cannot be: `problem` says why. */
  read(merchant: string, problem: string | null): void;
  /** These plans are applied from now on. */
  applying(plans: readonly { readonly merchant: string; readonly changes: readonly unknown[] }[]): void;
  /** What an apply tells. */
  applied(event: ApplyEvent): void;
  /** Neither is going on any more: a board goes away. */
  rest(): Promise<void>;
}
