import { resolve } from "node:path";
import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import { applyOverrides, type Override, parseOverride } from "../../kernel/rules/overrides.ts";
import { EXAMPLE_OVERRIDE } from "../../kernel/rules/settings/every-setting.ts";
import { oneLine } from "../../lib/escape.ts";
import type { MerchantOutcome } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { readTextFile } from "../io/read-text.ts";
import { unreadableReason } from "../project/find-files.ts";
import type { PlannedMerchant, UnplannedMerchant } from "../session/session.ts";

/** The approved plans and overrides of an apply. */
export interface Consent {
  /** In the order of their merges; empty without `--approved`. */
  readonly approved: readonly ApprovedFile[];
  readonly overrides: readonly Override[];
}

/** A file of approved plans. */
export interface ApprovedFile {
  /** As the user named it. */
  readonly file: string;
  readonly plans: readonly Plan[];
}

/** Reads the approved plans and overrides; throws RolecallError for an invalid one. */
export async function readConsent(
  { approved = [], allow }: { readonly approved?: readonly string[]; readonly allow: readonly string[] },
  io: Io,
): Promise<Consent> {
  const overrides = parseOverrides(allow);
  return { approved: await Promise.all(approved.map((file) => readApproved(file, io))), overrides };
}

/** Reads the approved plans; throws RolecallError for an invalid file. */
async function readApproved(file: string, io: Io): Promise<ApprovedFile> {
  const text = await readTextFile(resolve(io.cwd, file)).catch((error: unknown) => {
    throw new RolecallError("file-unreadable", `${file} cannot be read: ${unreadableReason(error)}.`, {
      hint: 'Specify a file that "rolecall plan --out" wrote.',
      cause: error,
    });
  });
  const { parsePlanFile } = await import("../../kernel/saved/plan-file.ts");
  const read = parsePlanFile(text);
  if (read.ok) return { file, plans: read.plans };
  throw new RolecallError("file-invalid", `${file} cannot be used as an approved plan: ${read.reason}.`, {
    hint: 'Create it again with "rolecall plan --out".',
  });
}

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
      hint: `Copy it from the plan, such as ${EXAMPLE_OVERRIDE}.`,
    });
  });
}

/** Returns the refusals that no override removes; throws RolecallError for an override that matches no plan. */
function standingRefusals(plans: readonly Plan[], overrides: readonly Override[]): readonly Standing[] {
  const run = runFingerprint(plans);
  const judged = plans.map((plan) => ({ merchant: plan.merchant, ...applyOverrides(plan, overrides, run) }));
  const used = new Set(judged.flatMap((judgement) => judgement.used));
  const stray = overrides.find((override) => !used.has(override));
  if (stray) {
    throw new RolecallError("override-stray", `--allow ${stray.text} is for a different plan.`, {
      hint: "The plan has changed since. Review the new plan, and copy the override from it.",
    });
  }
  return judged
    .filter(({ refusals }) => refusals.length > 0)
    .map(({ merchant, refusals }) => ({ merchant, refusals }));
}

/**
 * Returns the planned merchants that must not be applied, and why: they have no plan, problems to fix first, refusals
 * that no override removes, or `objections` to changes that were not approved. Throws RolecallError for an override that
 * matches no plan.
 */
export function skippedMerchants(
  planned: readonly (UnplannedMerchant | Pick<PlannedMerchant, "status" | "plan">)[],
  overrides: readonly Override[],
  objections: ReadonlyMap<string, readonly string[]>,
): readonly MerchantOutcome[] {
  const plans = planned.flatMap((outcome) => (outcome.status === "planned" ? [outcome.plan] : []));
  const standing = new Map(
    standingRefusals(plans, overrides).map(({ merchant, refusals }) => [merchant, refusals] as const),
  );
  return planned.flatMap((outcome): readonly MerchantOutcome[] => {
    if (outcome.status === "failed") return [failedOutcome(outcome)];
    const { merchant, findings } = outcome.plan;
    const errors = findings.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));
    if (errors.length > 0) return [{ merchant, status: "failed", reasons: errors.map(oneLine) }];
    const refused = (standing.get(merchant) ?? []).map(({ message }) => message);
    const reasons = [...refused, ...(objections.get(merchant) ?? [])].map(oneLine);
    return reasons.length === 0 ? [] : [{ merchant, status: "refused", reasons }];
  });
}

/** Returns the outcome of a merchant that cannot be applied. */
export function failedOutcome({ merchant, error }: UnplannedMerchant): MerchantOutcome {
  return { merchant, status: "failed", reasons: [oneLine(error.message)] };
}
