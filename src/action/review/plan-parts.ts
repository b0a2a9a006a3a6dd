import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isTampered } from "../../kernel/plan/approve.ts";
import { changedMerchants } from "../../kernel/read/changed-merchants.ts";
import { parsePlanFile, planFileSchema } from "../../kernel/saved/plan-file.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Failure } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { failureJson, plansJson } from "../../show/machine/machine-formats.ts";
import type { UnplannedView } from "../../show/markdown/review-sections.ts";
import { ActionError } from "../context/action-error.ts";
import { isSame, macOf } from "../github/approval-store.ts";

/** Why a merchant has no plan. */
type PlanFailure = NonNullable<ReturnType<typeof planFileSchema.parse>["failures"]>[number];

/** The plans of some merchants, made by one job of a matrix for another job to publish. */
export interface PlanParts {
  readonly plans: readonly Plan[];
  readonly failures: readonly PlanFailure[];
  /** True if no job had an API key, like those for a fork. */
  readonly withoutKey: boolean;
}

/** The commit that a part is for, and the key that signs it; an empty one only shows that nothing is broken. */
interface PartSeal {
  readonly commit: string;
  readonly key: string;
}

/** Returns the content of a part: a plan file, and the commit that it is for. */
export function partText(
  { commit, key }: PartSeal,
  plans: readonly Plan[],
  unplanned: readonly UnplannedView[],
  withoutKey = false,
): string {
  const failures = unplanned.map(({ merchant, failure }) => failureJson(merchant, failure));
  const about = JSON.stringify({ part: 1, commit, withoutKey });
  const text = `${about.slice(0, -1)},"file":${plansJson(plans, failures)}`;
  return `${text},"mac":"${macOf(text, KIND, key)}"}\n`;
}

const KIND = "rolecall-part/1";

/** Returns whether a part is as `partText` made it with this key: fingerprints say nothing about refusals and who gains what. */
function isSealed(text: string, key: string): boolean {
  const [end = "", mac = ""] = /,"mac":"([0-9a-f]{64})"\}\s*$/.exec(text) ?? [];
  return isSame(mac, macOf(text.slice(0, text.length - end.length), KIND, key));
}

/** Total size of all parts that are read, in bytes. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Reads all parts in a folder and below. Throws ActionError for one that is not a part, is for another commit, has been
 * edited, or plans a merchant of another part again.
 */
export async function readParts(folder: string, seal: PartSeal): Promise<PlanParts> {
  const parts = new Map<string, PlanParts>();
  let left = MAX_BYTES;
  for (const file of await filesBelow(folder)) {
    left -= (await stat(file)).size;
    if (left < 0) throw refused(file, "the parts are too large");
    parts.set(file, readPart(file, await readFile(file, "utf8"), seal));
  }
  const seen = new Set<string>();
  for (const [file, { plans, failures }] of parts) {
    for (const merchant of [...plans, ...failures].map((one) => one.merchant ?? "")) {
      if (seen.has(merchant)) throw refused(file, `another part has a plan of ${merchant} already`);
      seen.add(merchant);
    }
  }
  const all = [...parts.values()];
  const plans = all.flatMap((part) => part.plans).sort((a, b) => (a.merchant < b.merchant ? -1 : 1));
  return {
    plans,
    failures: all.flatMap((part) => part.failures),
    withoutKey: all.length > 0 && all.every((part) => part.withoutKey),
  };
}

/**
 * Returns the plans in parts, and why merchants have none that differ from those of the base. Throws ActionError for a plan
 * of a merchant that no file declares.
 */
export function gatherPlans(
  { plans, failures }: PlanParts,
  declared: readonly DesiredState[],
  base: readonly DesiredState[],
): { readonly plans: readonly Plan[]; readonly unplanned: readonly UnplannedView[] } {
  const known = new Set(declared.map(({ merchant }) => merchant));
  const stray = plans.find(({ merchant }) => !known.has(merchant));
  if (stray) throw refused("A part", `no file declares ${stray.merchant}`);
  const failed = failures.flatMap(({ merchant, message, hint }): readonly UnplannedView[] => {
    const failure: Failure = { code: "request-failed", message, ...(hint !== null && { hint }) };
    return merchant === null ? [] : [{ merchant, failure }];
  });
  const found = new Set([...plans, ...failed].map(({ merchant }) => merchant));
  const missing = changedMerchants(declared, base).filter(
    ({ merchant, change }) => change !== "removed" && !found.has(merchant),
  );
  return {
    plans,
    unplanned: [...failed, ...missing.map(({ merchant }) => ({ merchant, failure: MISSING }))],
  };
}

const MISSING: Failure = {
  code: "request-failed",
  message: "No job has planned this merchant.",
  hint: "Look at the jobs of the matrix: one has failed, or its part was not downloaded.",
};

async function filesBelow(folder: string): Promise<readonly string[]> {
  // Where nothing was to be planned, nothing was downloaded; what is missing is named.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    // Links are skipped: an artifact must not name a file of the runner.
    if (entry.isDirectory()) found.push(...(await filesBelow(path)));
    else if (entry.isFile() && entry.name.endsWith(".json")) found.push(path);
  }
  return found;
}

function readPart(file: string, text: string, { commit, key }: PartSeal): PlanParts {
  const part = Object(parsed(text));
  if (part.part !== 1) throw refused(file, "it is not a part of a plan that this version of rolecall wrote");
  if (part.commit !== commit) throw refused(file, `it is not for the commit ${commit}`);
  const read = parsePlanFile(JSON.stringify(part.file ?? null));
  if (!read.ok) throw refused(file, read.reason);
  const edited = read.plans.find(isTampered);
  if (edited)
    throw refused(file, `the plan of ${edited.merchant} has been edited: its fingerprints do not match`);
  if (!isSealed(text, key)) {
    throw refused(file, "it has been edited, or made by a job with another approval-secret");
  }
  const failures = planFileSchema.parse(part.file).failures ?? [];
  return { plans: read.plans, failures, withoutKey: part.withoutKey === true };
}

function refused(file: string, why: string): ActionError {
  return new ActionError(
    "not-approved",
    oneLine(`${file} cannot be published: ${why}.`),
    "Run all jobs of the workflow again.",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
