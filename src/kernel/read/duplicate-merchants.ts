import type { FileProblem, LocatedProblem } from "../problems/problem.ts";
import { repeats } from "../values/values.ts";

/** Reports each file of a merchant after the first. */
export function duplicateMerchants(
  files: readonly { readonly file: string; readonly merchant: unknown }[],
): readonly LocatedProblem<FileProblem>[] {
  const location = ({ file }: { readonly file: string }) =>
    ({ at: "value", file, path: ["merchant"] }) as const;
  return repeats(files, ({ merchant }) => merchant).map(
    ({ text, item, first }): LocatedProblem<FileProblem> => ({
      code: "duplicate-merchant",
      merchant: text,
      location: location(item),
      first: location(first),
    }),
  );
}
