import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { diagnose } from "./diagnostics/to-diagnostics.ts";
import { duplicateMerchants } from "./duplicate-merchants.ts";

/** A file that was read without errors. */
export interface MerchantSource {
  readonly file: string;
  readonly text: string;
  readonly state: DesiredState;
}

/** What is wrong between files: a merchant belongs to one file only. */
export function checkMerchants(sources: readonly MerchantSource[]): readonly Diagnostic[] {
  const problems = duplicateMerchants(sources.map(({ file, state: { merchant } }) => ({ file, merchant })));
  return diagnose(new Map(sources.map(({ file, text }) => [file, text])), problems);
}
