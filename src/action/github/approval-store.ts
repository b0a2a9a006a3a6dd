import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { Plan } from "../../model/plan.ts";
import { type ApprovalRecord, approvalRecord } from "../../plan/approval-record.ts";
import { counted } from "../../render/words.ts";
import type { Scope } from "../scope.ts";
import type { CheckRun, Github } from "./github-api.ts";

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
  scope: Scope,
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
