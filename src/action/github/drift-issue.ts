import { createHash } from "node:crypto";
import { counted, grouped } from "../../lib/text.ts";
import type { Drift } from "../../model/reports.ts";
import { type ActionContext, markerOf, type RunScope } from "../context/action-context.ts";
import { GithubError, type Issue } from "../context/github-api.ts";
import { shortened } from "./pull-comment.ts";

/** The differences of all merchants. */
export interface DriftFound {
  /** Keys of the differences. */
  readonly differences: readonly string[];
  /** True if every merchant was read and compared; if not, the differences contain the reason. */
  readonly complete: boolean;
  /** The merchants that were read. */
  readonly read: ReadonlySet<string>;
  /** Renders the issue's text of at most `size` UTF-16 units. */
  render(seen: FirstSeen, size: number): string;
}

const LABEL = "rolecall-drift";

/**
 * Updates the issue of a scope: opens, edits or reopens it while there are differences, comments only if they changed, and
 * closes it when there are none. Returns its URL.
 */
export async function updateDriftIssue(context: ActionContext, drift: DriftFound): Promise<string | null> {
  // A service that is down is not drift.
  if (!drift.complete && drift.read.size === 0) return null;
  try {
    const issue = await ownIssue(context);
    return drift.differences.length === 0
      ? await close(context, issue)
      : await openIssue(context, issue, drift);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    context.log.warning(`The drift issue could not be written: ${error.because("issues: write")}.`);
    return null;
  }
}

async function ownIssue({ github, scope }: ActionContext): Promise<Issue | null> {
  const marker = markerOf("drift", scope);
  const [author, issues] = [await github.viewer(), await github.issues(LABEL)];
  const ownIssues = issues.filter((issue) => issue.author === author && issue.body.startsWith(marker));
  return ownIssues.toSorted((a, b) => Number(b.open) - Number(a.open) || b.number - a.number)[0] ?? null;
}

async function close({ github, scope, event }: ActionContext, issue: Issue | null): Promise<string | null> {
  if (issue === null || !issue.open) return null;
  const text = "Every merchant was read, and nothing differs any longer.";
  // Forget the first-seen times, so that later differences count as new.
  const body = [markerOf("drift", scope), firstSeenLine(new Map()), "", text].join("\n");
  await github.addComment(issue.number, `${text} [Run](${event.runUrl})`);
  await github.editIssue(issue.number, { body, open: false });
  return issue.url;
}

async function openIssue(context: ActionContext, issue: Issue | null, drift: DriftFound): Promise<string> {
  const { github, scope, io, event } = context;
  const before = issue === null ? new Map() : parseFirstSeen(issue.body);
  const isUnread = (difference: string): boolean => !drift.read.has(difference.replace(/:.*/, ""));
  const unread = drift.complete ? [] : [...before.keys()].filter(isUnread);
  const seen = firstSeenOf([...drift.differences, ...unread], before, io.now());
  const text = (size: number): string => bodyOf(drift, seen, size, scope);
  if (issue === null) {
    const title = titled("The live state differs from git", scope);
    return (await shortened(text, (body) => github.addIssue(title, body, LABEL))).url;
  }
  const changed = !sameDifferences(issue.body, seen);
  await shortened(text, (body) =>
    github.editIssue(issue.number, { body, ...(!issue.open && { open: true }) }),
  );
  if (!issue.open) {
    await github.addComment(
      issue.number,
      `Reopened, because there are differences again. [Run](${event.runUrl})`,
    );
  } else if (changed) {
    const news = drift.differences.filter((difference) => !before.has(difference)).length;
    const gone = [...before.keys()].filter((difference) => !seen.has(difference)).length;
    await github.addComment(
      issue.number,
      `The differences have changed: ${counted(news, "new difference")}, ${grouped(gone)} gone. [Run](${event.runUrl})`,
    );
  }
  return issue.url;
}

function titled(title: string, scope: RunScope): string {
  return `${title}${scope.title === "" ? "" : `: ${scope.title}`}`.slice(0, 200);
}

function bodyOf(drift: DriftFound, seen: FirstSeen, size: number, scope: RunScope): string {
  const head = [markerOf("drift", scope), firstSeenLine(seen)].join("\n");
  return `${head}\n\n${drift.render(seen, Math.max(size - head.length - 2, 0))}`;
}

/** Time when each difference was first seen, in ms since the epoch, by `merchant:fingerprint`. */
export type FirstSeen = ReadonlyMap<string, number>;

/** Maximum number of times that an issue stores. */
const MAX_STORED_TIMES = 600;
const FIRST_SEEN_MARK = "<!-- rolecall:first-seen:";
const KEY_LENGTH = 16;

/** Returns the keys under which an issue stores differences. */
export function differenceKeys(drifts: readonly Drift[]): readonly string[] {
  return drifts.flatMap(({ plan, changes, violations }) =>
    [...changes, ...violations].map(
      ({ fingerprint }) => `${plan.merchant}:${fingerprint.slice(0, KEY_LENGTH)}`,
    ),
  );
}

/** Returns the key under which an issue stores something else about a merchant, such as what an apply has refused. */
export function reasonsKey(merchant: string, reasons: readonly string[]): string {
  const digest = createHash("sha256").update(reasons.join("\n")).digest("hex");
  return `${merchant}:${digest.slice(0, KEY_LENGTH)}`;
}

/** Returns the first-seen times of differences; new ones get the current time. */
export function firstSeenOf(differences: readonly string[], before: FirstSeen, now: number): FirstSeen {
  return new Map(differences.map((difference) => [difference, before.get(difference) ?? now]));
}

/** Serializes first-seen times as a hidden line; of very many, only the oldest. */
export function firstSeenLine(seen: FirstSeen): string {
  const oldest = [...seen].sort(([, a], [, b]) => a - b).slice(0, MAX_STORED_TIMES);
  const data = oldest.map(([difference, time]) => `${difference}=${Math.floor(time / 1000).toString(36)}`);
  return `${FIRST_SEEN_MARK}${seen.size} ${data.join(" ")} -->`;
}

/** Parses the first-seen times in an issue; skips what was edited by hand. */
export function parseFirstSeen(body: string): FirstSeen {
  const line = body.split("\n").find((candidate) => candidate.startsWith(FIRST_SEEN_MARK)) ?? "";
  return new Map(
    [...line.matchAll(/([\w-]{1,64}:[0-9a-f]{16})=([0-9a-z]{1,8})(?= )/g)].map(
      ([, difference = "", time = ""]) => [difference, Number.parseInt(time, 36) * 1000],
    ),
  );
}

/** Checks whether an issue's text lists exactly these differences. */
export function sameDifferences(body: string, seen: FirstSeen): boolean {
  const before = parseFirstSeen(body);
  const count = Number(/<!-- rolecall:first-seen:(\d+) /.exec(body)?.[1]);
  return count === seen.size && [...before.keys()].every((difference) => seen.has(difference));
}
