import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { objectionSentences } from "../../cli/review/approval.ts";
import type { PlanResult } from "../../cli/session/session.ts";
import { counted } from "../../lib/text.ts";
import type { Plan } from "../../model/plan.ts";
import { type ApprovalRecord, approvalRecord } from "../../plan/approval-record.ts";
import { type Approval, approveByRecord, isRecordedPlan } from "../../plan/approve.ts";
import type { RunScope } from "../action-context.ts";
import type { CheckRun, Github, Pull } from "./github-api.ts";

/** GitHub takes 65,535 characters of text in a check run. */
const PART_LENGTH = 60_000;
const MAX_PARTS = 20;
const MAX_BYTES = 64 * 1024 * 1024;
const PREFIX = "rolecall-approval/1";

/**
 * Keeps on a commit what an apply of it may do, as a check run: whoever can only comment cannot change it. There are
 * fingerprints and hashes in it, names of roles and permissions, and nobody's address. False where there is too much.
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
      summary: `${summary}\n\nBelow is what the apply after the merge is held against; it is for rolecall to read.`,
      text: `\`\`\`\n${data.slice((part - 1) * PART_LENGTH, part * PART_LENGTH)}\n\`\`\``,
    });
  }
  return true;
}

/** What was approved on a commit, the latest plan of each merchant and service; what cannot be read counts for nothing. */
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

/** How far back approvals are looked for that were merged and not applied yet. */
const MOST_COMMITS = 15;

/** Which pull requests approve of fresh plans, and what there is to object to; empty where nothing is. */
export interface MergedApproval {
  readonly pulls: readonly Pull[];
  readonly objections: readonly string[];
}

/** What the external id of a finished apply's check run begins with. */
export function appliedMark({ id }: RunScope): string {
  return `rolecall-apply/1/${id}`;
}

/**
 * Holds fresh plans against what was approved on the pull request that a commit comes from. Where that does not speak of
 * everything, the commits before it count too, back to the last one that was applied: several may be merged at once.
 */
export async function mergedApproval(
  looks: readonly PlanResult[],
  place: { readonly sha: string; readonly branch: string; readonly scope: RunScope },
  rule: "refuse-new" | "fail",
  github: Github,
): Promise<MergedApproval> {
  const pulls: Pull[] = [];
  const records: ApprovalRecord[] = [];
  let objections: readonly string[] = [];
  const commits = await github.commits(place.sha, MOST_COMMITS);
  for (const [index, commit] of (commits[0] === place.sha ? commits : [place.sha]).entries()) {
    if (index > 0 && (await isApplied(commit, place.scope, github))) break;
    const pull = await mergedPull(commit, place.branch, github);
    if (pull !== null && !pulls.some(({ number }) => number === pull.number)) {
      pulls.push(pull);
      records.push(...(await readApprovals(pull.headSha, github)));
    }
    objections = objectionsTo(looks, records, rule);
    // With this rule the plan has to be the one that was shown, so no other commit can help.
    if (objections.length === 0 || rule === "fail") break;
  }
  return { pulls, objections };
}

/** The pull request that brought a commit to a branch. */
export async function mergedPull(commit: string, branch: string, github: Github): Promise<Pull | null> {
  const all = await github.pullsOf(commit);
  const merged = all.filter(({ mergedAs, baseRef }) => mergedAs !== null && baseRef === branch);
  return merged.find(({ mergedAs }) => mergedAs === commit) ?? merged[0] ?? null;
}

async function isApplied(commit: string, scope: RunScope, github: Github): Promise<boolean> {
  const checks = await github.checks(commit);
  return checks.some(
    ({ externalId, conclusion }) => externalId === appliedMark(scope) && conclusion === "success",
  );
}

/** What nobody approved; a change may be approved by any of the records, each with all that it says. */
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
        : [`${plan.merchant}: the plan is not the one that was approved.`];
    }
    return objectionSentences(plan.merchant, together(own.map((one) => approveByRecord(plan, one, live))));
  });
}

/** What several approvals say together: new is only what is new to all of them. */
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
