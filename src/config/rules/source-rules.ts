import type { Problem } from "../diagnostics/problem.ts";
import type { Draft } from "../raw-file.ts";
import { futureEnds } from "./ends.ts";
import { clearRoleNames } from "./identity.ts";
import { plainMaps, plainMetadata } from "./plain-values.ts";
import { noRepeatedEntries, noRepeatedGrants } from "./repeated-entries.ts";
import { withinLimits } from "./service-limits.ts";

type SourceRule = (draft: Draft, now: number) => readonly Problem[];

const RULES: readonly SourceRule[] = [
  noRepeatedEntries,
  noRepeatedGrants,
  clearRoleNames,
  plainMetadata,
  plainMaps,
  withinLimits,
  futureEnds,
];

/** Everything that is wrong with one file beyond the form of its single values, whichever merchant includes it. */
export function checkSource(draft: Draft, now: number): readonly Problem[] {
  return RULES.flatMap((rule) => rule(draft, now));
}
