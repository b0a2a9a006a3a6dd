import type { Plan } from "../../model/plan.ts";
import { planFileSchema } from "./plan-schema.ts";

/** A plan file that was read, or why it cannot be. */
export type PlanFile =
  | { readonly ok: true; readonly plans: readonly Plan[] }
  /** It is not JSON, not a plan, or of a format that this version does not know. */
  | { readonly ok: false; readonly reason: string };

/** Reads a plan file; the plans in it are of the right shape, but not yet held against their fingerprints. */
export function parsePlanFile(text: string): PlanFile {
  const value = parseJson(text);
  if (value === undefined) return { ok: false, reason: "it is not JSON" };
  const format = Object(value).format;
  if (typeof format === "number" && format > 1) {
    return { ok: false, reason: `its format is ${format}, and this version of rolecall knows format 1` };
  }
  const read = planFileSchema.safeParse(value);
  if (
    read.success &&
    new Set(read.data.plans.map(({ merchant }) => merchant)).size < read.data.plans.length
  ) {
    return { ok: false, reason: "it has two plans for one merchant" };
  }
  if (read.success) return { ok: true, plans: read.data.plans };
  const [issue] = read.error.issues;
  return {
    ok: false,
    reason: `it is not a plan: ${issue?.path.join(".") || "its root"} is not what it should be`,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
