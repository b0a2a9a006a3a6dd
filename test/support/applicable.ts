import type { Plan } from "../../src/model/plan.ts";

/** Whether a plan can be applied at all: it has no error, and nothing that the service itself would refuse. */
export function isApplicable(plan: Plan): boolean {
  const errors = plan.findings.filter(({ severity }) => severity === "error");
  return errors.length === 0 && plan.refusals.every(({ code }) => code !== "role-still-held");
}
