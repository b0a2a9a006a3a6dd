import { renderFailure } from "../../show/documents/failure.ts";
import type { UnplannedView } from "../../show/markdown/review-sections.ts";
import { PLAIN } from "../../show/style.ts";

export interface MerchantLine {
  readonly merchant: string;
  readonly line: string;
}

/** Returns lines about the merchants that could not be read, and why. */
export function unplannedLines(
  unplanned: readonly UnplannedView[],
  what: "planned" | "read",
): readonly MerchantLine[] {
  return unplanned.flatMap(({ merchant, failure }) =>
    [`${merchant} could not be ${what}.`, ...renderFailure(failure, PLAIN).trimEnd().split("\n")].map(
      (line) => ({ merchant, line }),
    ),
  );
}
