import type { Failure } from "../../model/errors.ts";
import type { DriftView } from "../view/drift-view.ts";
import type { PlanView } from "../view/plan-view.ts";

/** A merchant that could not be read, with the reason. */
export interface UnplannedView {
  readonly merchant: string;
  readonly failure: Failure;
}

/** The input of a review. */
export type ReviewInput = ReviewOf<"plan", PlanView> | ReviewOf<"drift", DriftView>;

interface ReviewOf<Command, View> {
  readonly command: Command;
  readonly views: readonly View[];
  readonly unplanned: readonly UnplannedView[];
  /** The number of errors in the files. */
  readonly fileErrors: number;
  /** Merchants that are no longer managed; absent if it is not known. */
  readonly unmanaged?: readonly UnmanagedMerchant[];
}

/** A merchant whose file is gone, and why; plain text. */
export interface UnmanagedMerchant {
  readonly merchant: string;
  readonly reason: string;
}
