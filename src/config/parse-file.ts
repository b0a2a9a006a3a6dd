import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { assemble } from "./build-desired-state.ts";
import type { LocatedProblem } from "./diagnostics/problem.ts";
import { diagnose } from "./diagnostics/to-diagnostics.ts";
import { readSource } from "./source-file.ts";
import { parsePlain } from "./yaml/fast-yaml.ts";
import { parse } from "./yaml/to-value.ts";

/** What a merchant's file says, and everything that is wrong with it; the state is null exactly when there is an error that is no refusal. */
export interface ParsedMerchantFile {
  readonly state: DesiredState | null;
  /** Sorted by line and column. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads one merchant's file; nothing is thrown for a bad one. A file with includes needs `loadMerchants`.
 * `now`, in milliseconds since the epoch, says which ends are past; without it, none is.
 */
export function parseMerchantFile(
  file: string,
  text: string,
  { now = Number.NEGATIVE_INFINITY }: { readonly now?: number } = {},
): ParsedMerchantFile {
  const source = readSource(file, text, parsePlain(text) ?? parse(text), now);
  const unread = source.includes.map(
    ({ site }): LocatedProblem => ({ code: "include-not-read", place: site }),
  );
  const { state, problems } = assemble(source, () => null, now);
  const all = [...source.problems, ...unread, ...problems];
  return {
    state,
    diagnostics: all.length === 0 ? [] : diagnose(new Map([[file, text]]), all),
  };
}
