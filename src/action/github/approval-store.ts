import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { objectionSentences } from "../../cli/review/approval.ts";
import type { PlanResult } from "../../cli/session/session.ts";
import { counted } from "../../lib/text.ts";
import type { Plan } from "../../model/plan.ts";
import {
  type Approval,
  type ApprovalRecord,
  approvalRecord,
  approveByRecord,
  isRecordedPlan,
} from "../../plan/approve.ts";
import type { RunScope } from "../action-context.ts";
import type { CheckRun, Github, Pull } from "./github-api.ts";
import { type ApplyPlace, unappliedPulls } from "./merged-pulls.ts";

/** GitHub's limit for the text of a check run is 65,535 characters. */
const PART_LENGTH = 60_000;
const MAX_PARTS = 20;
const MAX_BYTES = 64 * 1024 * 1024;
const PREFIX = "rolecall-approval/1";

/**
 * Stores an approval on a commit as check runs, which commenters cannot change. It contains fingerprints, hashes and
 * names of roles and permissions, but no e-mail addresses. Returns false if it is too large.
 */
export async function storeApproval(
  plans: readonly Plan[],
  sha: string,
  scope: RunScope,
  summary: string,
  github: Github,
): Promise<boolean> {
  const data = deflateRawSync(JSON.stringify(plans.map(approvalRecord))).toString("base64");
  const parts = Math.max(1, Math.ceil(data.length / PART_LENGTH));
  if (parts > MAX_PARTS) return false;
  const digest = createHash("sha256").update(data).digest("hex").slice(0, 16);
  const changes = plans.reduce((sum, plan) => sum + plan.changes.length, 0);
  for (let part = 1; part <= parts; part++) {
    const of = parts === 1 ? "" : ` (${part} of ${parts})`;
    await github.addCheck({
      name: `rolecall plan${scope.title === "" ? "" : `: ${scope.title}`}${of}`.slice(0, 200),
      sha,
      externalId: [PREFIX, scope.id, digest, part, parts].join("/"),
      conclusion: "neutral",
      title: changes === 0 ? "Nothing would change" : `${counted(changes, "change")} may be applied`,
      summary: `${summary}\n\nAfter the merge, rolecall compares the apply with the data below.`,
      text: `\`\`\`\n${data.slice((part - 1) * PART_LENGTH, part * PART_LENGTH)}\n\`\`\``,
    });
  }
  return true;
}

/** Reads the approvals on a commit, the latest of each merchant and service; skips unreadable ones. */
export async function readApprovals(sha: string, github: Github): Promise<readonly ApprovalRecord[]> {
  const checks = (await github.checks(sha)).filter(({ externalId }) => externalId.startsWith(`${PREFIX}/`));
  const sets = new Map<string, CheckRun[]>();
  for (const check of checks) {
    const set = check.externalId.split("/").slice(0, 4).join("/");
    sets.set(set, [...(sets.get(set) ?? []), check]);
  }
  const newest = [...sets.values()].sort((a, b) => idOf(b) - idOf(a));
  const found = new Map<string, ApprovalRecord>();
  for (const record of newest.flatMap(decode)) {
    const key = JSON.stringify([record.merchant, record.service]);
    if (!found.has(key)) found.set(key, record);
  }
  return [...found.values()];
}

function idOf(checks: readonly CheckRun[]): number {
  return Math.max(...checks.map(({ id }) => id));
}

function decode(checks: readonly CheckRun[]): readonly ApprovalRecord[] {
  const byPart = new Map(checks.map((check) => [Number(check.externalId.split("/")[4]), check]));
  const count = Number(checks[0]?.externalId.split("/")[5]);
  const texts = Array.from({ length: count || 0 }, (_, index) => byPart.get(index + 1)?.text);
  if (texts.length === 0 || texts.includes(undefined)) return [];
  const data = texts.map((text) => (text ?? "").replaceAll(/[^A-Za-z0-9+/=]/g, "")).join("");
  try {
    const json = inflateRawSync(Buffer.from(data, "base64"), { maxOutputLength: MAX_BYTES }).toString("utf8");
    return z.array(recordSchema).parse(JSON.parse(json));
  } catch {
    return [];
  }
}

const strings = z.array(z.string());

const recordSchema = z.object({
  merchant: z.string(),
  environment: z.string().nullable(),
  service: z.string(),
  fingerprint: z.string(),
  due: strings,
  seen: strings,
  held: z.record(z.string(), z.array(z.string().nullable())),
  changesRoles: z.boolean(),
  roles: z.array(
    z.object({
      fingerprint: z.string(),
      kind: z.enum(["create", "update"]),
      id: z.string().nullable(),
      name: z.string(),
      permissions: strings,
    }),
  ),
  gains: z.array(z.object({ permissions: strings, members: strings })),
  waiting: strings,
}) satisfies z.ZodType<ApprovalRecord>;

/** The approving pull requests, and objections to the changes that none of them approves. */
export interface MergedApproval {
  readonly pulls: readonly Pull[];
  readonly objections: readonly string[];
}

/**
 * Compares new plans with the approval on the pull requests of a commit. If changes remain, earlier commits count too,
 * back to the last applied one, because several pull requests may be merged before an apply.
 */
export async function mergedApproval(
  looks: readonly PlanResult[],
  place: ApplyPlace,
  rule: "refuse-new" | "fail",
  github: Github,
): Promise<MergedApproval> {
  const pulls: Pull[] = [];
  const records: ApprovalRecord[] = [];
  let objections = objectionsTo(looks, records, rule);
  for await (const found of unappliedPulls(place, github)) {
    for (const pull of found) {
      pulls.push(pull);
      records.push(...(await readApprovals(pull.headSha, github)));
    }
    if (found.length > 0) objections = objectionsTo(looks, records, rule);
    // This rule requires the very plan that was reviewed, so other commits do not help.
    if (objections.length === 0 || rule === "fail") break;
  }
  return { pulls, objections };
}

/** Returns the objections to changes that no record approves. */
function objectionsTo(
  looks: readonly PlanResult[],
  records: readonly ApprovalRecord[],
  rule: "refuse-new" | "fail",
): readonly string[] {
  return looks.flatMap(({ plan, live }) => {
    if (plan.changes.length === 0) return [];
    const own = records.filter(({ merchant }) => merchant === plan.merchant);
    if (own.length === 0) return [`${plan.merchant}: no plan of this merchant was approved.`];
    if (rule === "fail") {
      return own.some((record) => isRecordedPlan(plan, record))
        ? []
        : [`${plan.merchant}: the plan differs from the approved one.`];
    }
    return objectionSentences(plan.merchant, together(own.map((one) => approveByRecord(plan, one, live))));
  });
}

/** Merges approvals: a change is new only if it is new to all of them. */
function together(approvals: readonly Approval[]): Approval {
  if (approvals.some(({ status }) => status === "approved")) return { status: "approved" };
  const news = approvals.flatMap((one) => (one.status === "new-changes" ? [one] : []));
  const [first, ...others] = news;
  if (first === undefined) return approvals[0] ?? { status: "tampered" };
  const changes = first.changes.filter(({ fingerprint }) =>
    others.every((other) => other.changes.some((change) => change.fingerprint === fingerprint)),
  );
  return changes.length === 0 ? { status: "approved" } : { status: "new-changes", changes };
}
