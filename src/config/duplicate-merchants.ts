import type { LocatedProblem } from "./diagnostics/problem.ts";
import { siteOf } from "./raw-file.ts";
import { repeats } from "./repeats.ts";

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
