import type { DesiredState } from "../../model/desired.ts";

/** Returns the files of a merchant: the included ones, then its own. */
export function filesOf({
  origin,
  included = [],
}: Pick<DesiredState, "origin" | "included">): readonly string[] {
  return [...included, origin.file];
}
