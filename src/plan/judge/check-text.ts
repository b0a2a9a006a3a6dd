import { sortedSet } from "../../lib/order.ts";
import type { Check } from "../../model/desired.ts";

/** A check in one line, the same for every order in which it can be written: its name, as it has none of its own. */
export function checkText(check: Check): string {
  switch (check.kind) {
    case "only":
      return `can ${check.can}: only ${sortedSet(check.only).join(", ") || "nobody"}`;
    case "at-most":
      return `can ${check.can}: at most ${check.atMost}`;
    case "cannot":
      return `${check.member} cannot ${sortedSet(check.cannot).join(", ")}`;
    default:
      return check satisfies never;
  }
}
