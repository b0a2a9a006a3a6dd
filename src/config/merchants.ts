import type { DesiredState } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { diagnose } from "./diagnose.ts";
import { siteOf } from "./draft.ts";
import type { LocatedProblem } from "./problem.ts";
import { repeats } from "./repeats.ts";

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

/** Every file of a merchant after its first. */
export function duplicateMerchants(
  files: readonly { readonly file: string; readonly merchant: unknown }[],
): readonly LocatedProblem[] {
  const site = ({ file }: { readonly file: string }) => siteOf(file, ["merchant"]);
  return repeats(files, ({ merchant }) => merchant).map(
    ({ text, item, first }): LocatedProblem => ({
      code: "duplicate-merchant",
      merchant: text,
      place: site(item),
      first: site(first),
    }),
  );
}
