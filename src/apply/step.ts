import type { Phase } from "../model/apply.ts";
import type { Change } from "../model/plan.ts";

/** One request of an apply; a change takes one, or several in different phases. */
export interface Step {
  readonly phase: Phase;
  readonly change: Change;
  /** `set-aside` takes its name from a role that has to go; `create` and `remove` are the ends of a replacement. */
  readonly part: "whole" | "set-aside" | "create" | "remove";
}
