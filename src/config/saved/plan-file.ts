import type { Plan } from "../../model/plan.ts";
import { planFileSchema } from "./plan-schema.ts";

/** The plans of a plan file, or the reason why it cannot be read. */
export type PlanFile =
  | { readonly ok: true; readonly plans: readonly Plan[] }
  /** Not JSON, not a plan, or an unknown format. */
  | { readonly ok: false; readonly reason: string };

/** Parses a plan file; the fingerprints of its plans are not verified. */
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
