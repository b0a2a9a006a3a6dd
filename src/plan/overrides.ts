import type { Plan, Refusal } from "../model/plan.ts";

/** A person's word that one refusal of one plan is meant to be overridden. */
export interface Override {
  /** As it was given. */
  readonly text: string;
  /** Guard and value, such as `max-removals=12`. */
  readonly what: string;
  /** The beginning of the plan's fingerprint. */
  readonly fingerprint: string;
}

const SHORTEST = 12;

/** Reads `max-removals=12@0a1b2c3d4e5f`; null where it is none. */
export function parseOverride(text: string): Override | null {
  const at = text.lastIndexOf("@");
  const [what, fingerprint] = [text.slice(0, at), text.slice(at + 1)];
  const valid =
    at > 0 && what.includes("=") && /^[0-9a-f]+$/.test(fingerprint) && fingerprint.length >= SHORTEST;
  return valid ? { text, what, fingerprint } : null;
}

/** The refusals of a plan that stand, those that do not, and the overrides that are for this plan. */
export function applyOverrides(
  plan: Plan,
  overrides: readonly Override[],
): {
  readonly refusals: readonly Refusal[];
  readonly overridden: readonly Refusal[];
  readonly used: readonly Override[];
} {
  const used = overrides.filter(({ fingerprint }) => plan.fingerprint.startsWith(fingerprint));
  const overridden = plan.refusals.filter(
    ({ override }) => override !== null && used.some(({ what }) => covers(what, override)),
  );
  const refusals = plan.refusals.filter((refusal) => !overridden.includes(refusal));
  return { refusals, overridden, used };
}

/** A count covers every smaller one; everything else has to be the same. */
function covers(given: string, needed: string): boolean {
  if (given === needed) return true;
  const [guard, count] = needed.split("=");
  const [givenGuard, givenCount = ""] = given.split("=");
  return (
    guard === "max-removals" &&
    givenGuard === guard &&
    /^\d+$/.test(givenCount) &&
    Number(givenCount) >= Number(count)
  );
}
