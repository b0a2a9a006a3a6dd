import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic, Judging } from "../model/diagnostic.ts";
import { buildDesiredState } from "./build-desired-state.ts";
import type { LocatedProblem } from "./diagnostics/problem.ts";
import { toDiagnostics } from "./diagnostics/to-diagnostics.ts";
import { analyzeSource } from "./load-sources.ts";
import { parseFast } from "./yaml/fast-yaml.ts";
import { parse } from "./yaml/to-value.ts";

/**
 * The desired state and diagnostics of a merchant's file; `state` is `null` if there is an error other than a refusal.
 */
export interface ParsedMerchantFile {
  readonly state: DesiredState | null;
  /** Sorted by line and column. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads one merchant's file; never throws for an invalid one. A file with includes needs `loadMerchants`. */
export function parseFile(file: string, text: string, { now, judge }: Judging): ParsedMerchantFile {
  const source = analyzeSource(file, text, parseFast(text) ?? parse(text), now);
  const unread = source.includes.map(
    ({ location }): LocatedProblem => ({ code: "include-not-read", location }),
  );
  const { state, problems } = buildDesiredState(source, () => null, { now, judge });
  const all = [...source.problems, ...unread, ...problems];
  return {
    state,
    diagnostics: all.length === 0 ? [] : toDiagnostics(new Map([[file, text]]), all),
  };
}
