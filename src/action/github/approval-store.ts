import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod/mini";
import { type ApprovalRecord, approvalRecord } from "../../kernel/plan/approve.ts";
import { hashOfTimes } from "../../kernel/plan/due.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Plan } from "../../model/plan.ts";
import { inlineCode } from "../../show/markdown/markdown-blocks.ts";
import type { RunScope } from "../context/action-context.ts";
import type { CheckRun, Github } from "../context/github-api.ts";

/** GitHub's limit for the text of a check run is 65,535 characters. */
const PART_LENGTH = 60_000;
const MAX_PARTS = 20;
const MAX_BYTES = 64 * 1024 * 1024;
const FAMILY = "rolecall-approval/";
const PREFIX = `${FAMILY}2`;

/** The conditions for a check run to count: the app that created it and, if not empty, the key that signed it. */
export interface RecordTrust {
  readonly app: string;
  readonly key: string;
}

/** The commit, pull request and time that records are for. */
export interface RecordPlace {
  readonly sha: string;
  readonly pull: number;
  /** Base branch, whose rules have judged the plans. */
  readonly base: string;
  readonly scope: RunScope;
  /** The declared states that the plans are of. */
  readonly states: readonly DesiredState[];
  /** Ids of the approving reviews by now: none of them is for these records. */
  readonly reviews: readonly number[];
  /** In ms since the epoch; makes two runs' records differ. */
  readonly now: number;
}

/**
 * Stores the records of plans on a commit as check runs, which commenters cannot change. They contain fingerprints, hashes
 * and names of roles and permissions, but no e-mail addresses. Returns the app that they belong to; `null` if they are too
 * large.
 */
export async function storeRecords(
  plans: readonly Plan[],
  { scope, states, ...place }: RecordPlace,
  key: string,
  github: Pick<Github, "addCheck">,
): Promise<string | null> {
  const timesOf = new Map(states.map((state) => [state.merchant, hashOfTimes(state, key)]));
  const records = plans.map((plan) => ({
    ...approvalRecord(plan, key),
    times: timesOf.get(plan.merchant) ?? "",
  }));
  const text = sign({ ...place, scope: scope.id, records }, PREFIX, key);
  const parts = Math.ceil(text.length / PART_LENGTH);
  if (parts > MAX_PARTS) return null;
  const digest = digestOf(text);
  const changes = plans.reduce((sum, plan) => sum + plan.changes.length, 0);
  const summary = plans.slice(0, 500).map((plan) => recordLine(plan, key));
  let app = "";
  for (let part = 1; part <= parts; part++) {
    const of = parts === 1 ? "" : ` (${part} of ${parts})`;
    app = await github.addCheck({
      name: `rolecall plan${scope.title === "" ? "" : `: ${scope.title}`}${of}`.slice(0, 200),
      sha: place.sha,
      externalId: [PREFIX, scope.id, digest, part, parts].join("/"),
      conclusion: "neutral",
      title: changes === 0 ? "Nothing to apply" : `${counted(changes, "change")} may be applied`,
      summary: `${summary.join("\n")}\n\nAfter the merge, rolecall compares the apply with the data below.`,
      text: `\`\`\`\n${text.slice((part - 1) * PART_LENGTH, part * PART_LENGTH)}\n\`\`\``,
    });
  }
  return app;
}

/** Returns a line about a record; a plan's fingerprint would let everybody check a guess, so a key hides it. */
function recordLine({ merchant, fingerprint }: Plan, key: string): string {
  return `- ${inlineCode(merchant)}${key === "" ? ` ${inlineCode(fingerprint)}` : ""}`;
}

/** A record with its times. */
export interface TimedRecord extends ApprovalRecord {
  /** Hash of what the reviewed file leaves to time. */
  readonly times: string;
  /** GitHub's time of its check run, in ms since the epoch; NaN if unknown. */
  readonly completedAt: number;
}

/** A record as it was found on a commit. */
export interface StoredRecord {
  readonly record: TimedRecord;
  /** Ids of the approving reviews that were there before it. */
  readonly reviews: readonly number[];
}

/** Why a record does not count. */
export type Ignored = "old-format" | "other-app" | "unsigned" | "no-key" | "elsewhere" | "unreadable";

/** The records on a commit, newest first, and why others do not count. */
export interface StoredRecords {
  readonly found: readonly StoredRecord[];
  readonly ignored: ReadonlySet<Ignored>;
}

/** Reads the records of a pull request on one of its commits. */
export async function readRecords(
  place: Pick<RecordPlace, "sha" | "pull" | "base">,
  trust: RecordTrust,
  github: Pick<Github, "checks">,
): Promise<StoredRecords> {
  const checks = (await github.checks(place.sha)).filter(({ externalId }) => externalId.startsWith(FAMILY));
  const sets = new Map<string, CheckRun[]>();
  for (const check of checks) {
    // A set is complete only with parts by the same app.
    const set = JSON.stringify([check.app, ...check.externalId.split("/").slice(0, 4)]);
    sets.set(set, [...(sets.get(set) ?? []), check]);
  }
  const read = [...sets.values()].map((set) => readSet(set, place, trust));
  const found = read.flatMap((one) => (typeof one === "string" ? [] : one));
  return {
    found: found.sort((a, b) => b.record.completedAt - a.record.completedAt),
    ignored: new Set(read.flatMap((one) => (typeof one === "string" ? [one] : []))),
  };
}

function readSet(
  checks: readonly CheckRun[],
  { sha, pull, base }: Pick<RecordPlace, "sha" | "pull" | "base">,
  { app, key }: RecordTrust,
): readonly StoredRecord[] | Ignored {
  const [first] = checks;
  if (first === undefined || !first.externalId.startsWith(`${PREFIX}/`)) return "old-format";
  if (first.app !== app) return "other-app";
  const [, , scope, digest, , count] = first.externalId.split("/");
  // A part that was sent twice is as old as the first of them.
  const parts = Array.from({ length: Math.min(Number(count) || 0, MAX_PARTS) }, (_, index) =>
    checks
      .filter(({ externalId }) => externalId.split("/")[4] === String(index + 1))
      .sort((a, b) => timeOf(a) - timeOf(b))
      .at(0),
  );
  const present = parts.flatMap((part) => part ?? []);
  if (present.length === 0 || present.length < parts.length) return "unreadable";
  const text = present.map((part) => onlyData(part.text)).join("");
  const opened = verify(text, PREFIX, key);
  if (typeof opened === "string") return opened;
  // Otherwise a copy under another name would be newer than the original.
  if (digestOf(text) !== digest) return "elsewhere";
  const parsed = storedSchema.safeParse(opened.value);
  if (!parsed.success) return "unreadable";
  const { data } = parsed;
  if (data.sha !== sha || data.pull !== pull || data.base !== base || data.scope !== scope)
    return "elsewhere";
  const completedAt = Math.max(...present.map(timeOf));
  return data.records.map((record) => ({ record: { ...record, completedAt }, reviews: data.reviews }));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Takes the encoded data out of the text of a check run. */
function onlyData(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9+/=.]/g, "");
}

function timeOf({ completedAt }: Pick<CheckRun, "completedAt">): number {
  return Date.parse(completedAt ?? "");
}

/** Encodes a value as the text of a check run; with a key, its HMAC comes first. */
export function sign(value: unknown, kind: string, key: string): string {
  const data = deflateRawSync(JSON.stringify(value)).toString("base64");
  return key === "" ? data : `${macOf(data, kind, key)}.${data}`;
}

/** Decodes the text of a check run, or returns why it does not count. */
export function verify(
  text: string,
  kind: string,
  key: string,
): { readonly value: unknown } | Extract<Ignored, "unsigned" | "no-key" | "unreadable"> {
  const [data = "", mac] = onlyData(text).split(".").reverse();
  if (key === "" && mac !== undefined) return "no-key";
  if (key !== "" && !isSame(mac ?? "", macOf(data, kind, key))) return "unsigned";
  try {
    const json = inflateRawSync(Buffer.from(data, "base64"), { maxOutputLength: MAX_BYTES }).toString("utf8");
    return { value: JSON.parse(json) };
  } catch {
    return "unreadable";
  }
}

/** Returns the HMAC of a text; `kind` keeps one from standing for another. */
export function macOf(data: string, kind: string, key: string): string {
  return createHmac("sha256", key).update(`${kind}\n${data}`).digest("hex");
}

/** Compares two texts in a time that does not tell where they differ. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const strings = z.array(z.string());

const recordSchema = z.object({
  merchant: z.string(),
  environment: z.nullable(z.string()),
  service: z.string(),
  fingerprint: z.string(),
  due: strings,
  seen: strings,
  held: z.record(z.string(), z.array(z.nullable(z.string()))),
  changesRoles: z.boolean(),
  roles: z.array(
    z.object({
      fingerprint: z.string(),
      kind: z.enum(["create", "update"]),
      id: z.nullable(z.string()),
      name: z.string(),
      permissions: strings,
    }),
  ),
  gains: z.array(z.object({ permissions: strings, members: strings })),
  waiting: strings,
  times: z.string(),
}) satisfies z.ZodMiniType<Omit<TimedRecord, "completedAt">>;

const storedSchema = z.object({
  sha: z.string(),
  pull: z.number(),
  base: z.string(),
  scope: z.string(),
  reviews: z.array(z.number()),
  records: z.array(recordSchema),
});
