import type { Failure } from "../../model/errors.ts";
import type { DriftView } from "../view/drift-view.ts";
import type { PlanView } from "../view/plan-view.ts";

/** A merchant that could not be read, and why. */
export interface UnplannedView {
  readonly merchant: string;
  readonly failure: Failure;
}

/** Everything that a review has to know. */
export type ReviewInput = ReviewOf<"plan", PlanView> | ReviewOf<"drift", DriftView>;

interface ReviewOf<Command, View> {
  readonly command: Command;
  readonly views: readonly View[];
  readonly unplanned: readonly UnplannedView[];
  /** How many errors the files have: what they are stands where the files are checked. */
  readonly fileErrors: number;
}
