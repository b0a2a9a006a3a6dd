import { RolecallError } from "../../model/errors.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { applyOverrides, type Override, parseOverride } from "../../plan/overrides.ts";

/** The refusals of a merchant's plan that no `--allow` overrides. */
export interface Standing {
  readonly merchant: string;
  readonly refusals: readonly Refusal[];
}

/** Parses the values of `--allow`; throws RolecallError for one that cannot be an override. */
export function parseOverrides(texts: readonly string[]): readonly Override[] {
  return texts.map((text) => {
    const override = parseOverride(text);
    if (override) return override;
    throw new RolecallError("usage", `--allow ${text} is not an override.`, {
      hint: "Copy it from the plan that it is for; it looks like max-removals=12@0a1b2c3d4e5f.",
    });
  });
}

/** What still stands against the plans; an override that is for none of them is an error, since its plan is gone. */
export function standingRefusals(
  plans: readonly Plan[],
  overrides: readonly Override[],
): readonly Standing[] {
  const judged = plans.map((plan) => ({ merchant: plan.merchant, ...applyOverrides(plan, overrides) }));
  const used = new Set(judged.flatMap((one) => one.used));
  const stray = overrides.find((override) => !used.has(override));
  if (stray) {
    throw new RolecallError("override-stray", `--allow ${stray.text} is for another plan than this one.`, {
      hint: "The plan has changed since it was given. Look at the new one, and take the override from there.",
    });
  }
  return judged
    .filter(({ refusals }) => refusals.length > 0)
    .map(({ merchant, refusals }) => ({ merchant, refusals }));
}
