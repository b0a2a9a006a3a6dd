import { objectionSentences } from "../../app/apply/approval.ts";
import type { PlanResult, Session } from "../../app/session/session.ts";
import { type Approval, approveByRecord, isRecordedPlan } from "../../kernel/plan/approve.ts";
import { approveOverTime, dueSince, hashOfTimes, unpinnedRoles } from "../../kernel/plan/due.ts";
import { hasDates } from "../../kernel/plan/upcoming-dates.ts";
import type { Plan } from "../../model/plan.ts";
import type { Github, Pull } from "../context/github-api.ts";
import type { Inputs } from "../context/inputs.ts";
import { approvedSince, type Baseline, NO_BASELINE } from "./apply-mark.ts";
import type { RecordTrust, TimedRecord } from "./approval-store.ts";
import { type ApplyPlace, readingApprovals, unappliedPulls } from "./merged-pulls.ts";
import { type PullApproval, pullApproval } from "./pull-approval.ts";

/** Reads what is approved for merchants, each back to its baseline: several pull requests may be merged before an apply. */
export interface Approvals {
  /** Yields the pull requests merged since a commit that may approve something, newest first. */
  of(since: string | null): AsyncIterable<PullApproval>;
}

/** Opens the approvals of a commit; each pull request is read once. */
export function openApprovals(place: ApplyPlace, trust: RecordTrust, github: Github): Approvals {
  const pulls = new Map<string, Promise<readonly Pull[]>>();
  const commits = new Map<number, ReturnType<Github["commits"]>>();
  const read = new Map<number, Promise<PullApproval>>();
  const cached: Github = {
    ...github,
    pullsOf: (sha) => remember(pulls, sha, () => github.pullsOf(sha)),
    commits: (sha, page) => remember(commits, page, () => github.commits(sha, page)),
  };
  return {
    of: async function* (since) {
      for await (const found of unappliedPulls(place, since, cached)) {
        for (const pull of found) {
          yield await remember(read, pull.number, () => pullApproval(pull, trust, github));
        }
      }
    },
  };
}

function remember<K, V>(known: Map<K, V>, key: K, ask: () => V): V {
  const value = known.get(key) ?? ask();
  known.set(key, value);
  return value;
}

/** What merged pull requests approve of some plans. */
export interface MergedApproval {
  readonly pulls: readonly Pull[];
  /** Objections by merchant, sentences about it: to changes that no record approves. */
  readonly objections: ReadonlyMap<string, readonly string[]>;
  /** Why records do not count, a sentence each. */
  readonly ignored: readonly string[];
}

/** Returns objections as sentences that name their merchants. */
export function objectionLines(objections: MergedApproval["objections"]): readonly string[] {
  return [...objections].flatMap(([merchant, all]) => all.map((sentence) => `${merchant}: ${sentence}`));
}

/** A plan with the declared state that it is of. */
type StatedPlan = PlanResult & { readonly session: Pick<Session, "state"> };

/** Compares new plans with what is approved for each merchant since its baseline. */
export async function mergedApproval(
  looks: readonly StatedPlan[],
  approvals: Approvals,
  baselines: ReadonlyMap<string, Baseline>,
  { rule, key }: { readonly rule: "refuse-new" | "fail"; readonly key: string },
): Promise<MergedApproval> {
  const pulls = new Map<number, Pull>();
  const ignored = new Set<string>();
  const objections = new Map<string, readonly string[]>();
  const baselineOf = ({ plan }: PlanResult): Baseline => baselines.get(plan.merchant) ?? NO_BASELINE;
  // An end of access that nobody reviewed would take effect by itself later.
  const hasNewEnds = (look: StatedPlan): boolean =>
    hasDates(look.session.state) && hashOfTimes(look.session.state, key) !== baselineOf(look).times;
  const due = looks.filter((look) => look.plan.changes.length > 0 || hasNewEnds(look));
  for (const since of new Set(due.map((look) => approvedSince(baselineOf(look))))) {
    let open = due.filter((look) => approvedSince(baselineOf(look)) === since);
    const records: TimedRecord[] = [];
    const judge = (): void => {
      for (const { plan } of open) objections.delete(plan.merchant);
      const found = open.map(
        (look) => [look, objectionsTo(look, records, { rule, key, newEnds: hasNewEnds(look) })] as const,
      );
      for (const [{ plan }, sentences] of found) {
        if (sentences.length > 0) objections.set(plan.merchant, sentences);
      }
      open = found.flatMap(([look, sentences]) => (sentences.length > 0 ? [look] : []));
    };
    judge();
    for await (const approval of approvals.of(since)) {
      pulls.set(approval.pull.number, approval.pull);
      for (const sentence of approval.ignored) ignored.add(sentence);
      records.push(...approval.records.filter((record) => !isSuperseded(record, approval.pull, records)));
      judge();
      // This rule requires the very plan that was reviewed, so other commits do not help.
      if (open.length === 0 || rule === "fail") break;
    }
  }
  return { pulls: [...pulls.values()], objections, ignored: objections.size > 0 ? [...ignored] : [] };
}

/**
 * Returns whether a newer record of the same merchant is from after the merge of a pull request: that plan was made with
 * what the pull request had merged, so nothing of it is approved that the newer plan does not have.
 */
function isSuperseded({ merchant }: TimedRecord, { mergedAt }: Pull, newer: readonly TimedRecord[]): boolean {
  const merged = Date.parse(mergedAt ?? "");
  return newer.some((record) => record.merchant === merchant && record.completedAt > merged);
}

/** The objection to a merchant that no record is of. */
const NO_PLAN = "no plan of this merchant was approved.";

/** Returns the objections to changes that no record approves. */
function objectionsTo(
  { plan, live, planAt, session }: StatedPlan,
  records: readonly TimedRecord[],
  {
    rule,
    key,
    newEnds,
  }: { readonly rule: "refuse-new" | "fail"; readonly key: string; readonly newEnds: boolean },
): readonly string[] {
  const own = records.filter(({ merchant }) => merchant === plan.merchant);
  const times = hashOfTimes(session.state, key);
  if (own.length === 0 && plan.changes.length > 0) return [NO_PLAN];
  if (newEnds && !own.some((record) => record.times === times)) {
    return ["nobody has approved the dates in its file."];
  }
  if (plan.changes.length === 0) return [];
  if (rule === "fail") {
    const isSame = own.some((record) => isRecordedPlan(plan, record, key));
    return isSame ? [] : ["the plan differs from the approved one."];
  }
  const approvals = own.map((record) => {
    const check = (one: Plan): Approval => approveByRecord(one, record, live, key);
    // Time changes nothing that the reviewed file did not leave to it.
    const now = check(plan);
    if (now.status !== "new-changes" || record.times !== times || !Number.isFinite(record.completedAt)) {
      return now;
    }
    const unpinned = now.changes.filter((one) => unpinnedRoles(one, session.state, live, plan).length > 0);
    const overTime = approveOverTime(plan, () => planAt(record.completedAt), check);
    if (unpinned.length === 0) return overTime;
    const others = overTime.status === "new-changes" ? overTime.changes : [];
    return { status: "new-changes" as const, changes: [...new Set([...unpinned, ...others])] };
  });
  return objectionSentences(together(approvals));
}

/**
 * Returns the objections to changes of merchants whose files are as they were at their last apply: access may end without
 * another review only if it ended after that.
 */
export function dueObjections(
  looks: readonly StatedPlan[],
  baselines: ReadonlyMap<string, Baseline>,
): MergedApproval["objections"] {
  return new Map(
    looks.flatMap(({ plan, live, session }) => {
      const { at } = baselines.get(plan.merchant) ?? NO_BASELINE;
      const late = plan.changes.filter((change) => !((dueSince(change, session.state) ?? 0) > at));
      const sentences = late.map(
        ({ name }) =>
          `the access of ${name} was to change before the last apply, so somebody has changed it again since: look at the drift.`,
      );
      const given = plan.changes.flatMap((change) =>
        unpinnedRoles(change, session.state, live, plan).map(
          (role) =>
            `${change.name} is to get ${role} by time alone, but its file does not declare what ${role} grants now.`,
        ),
      );
      const all = [...sentences, ...given];
      return all.length === 0 ? [] : [[plan.merchant, all] as const];
    }),
  );
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

/** Returns the objections to unapproved changes by merchant, and what to do about them. */
export async function unapprovedChanges(
  looks: readonly StatedPlan[],
  baselines: ReadonlyMap<string, Baseline>,
  approvals: Approvals,
  { onPlanChange: rule, approvalSecret: key }: Inputs,
): Promise<Omit<MergedApproval, "ignored"> & { readonly notes: readonly string[] }> {
  if (rule === "apply") return { objections: new Map(), pulls: [], notes: [] };
  const { objections, pulls, ignored } = await readingApprovals(() =>
    mergedApproval(looks, approvals, baselines, { rule, key }),
  );
  return {
    objections,
    pulls,
    notes: objections.size === 0 ? [] : [...ignored, howToGoOn(pulls, objections)],
  };
}

/** Returns the numbers of pull requests, "#7, #8". */
export function pullNames(pulls: readonly Pick<Pull, "number">[]): string {
  const numbers = pulls.map(({ number }) => number).sort((a, b) => a - b);
  return numbers.map((number) => `#${number}`).join(", ");
}

function howToGoOn(pulls: readonly Pull[], objections: MergedApproval["objections"]): string {
  const isReviewed = ![...objections.values()].some((all) => all.includes(NO_PLAN));
  const where =
    pulls.length === 0
      ? "No merged pull request contains this commit, so no plan was reviewed."
      : isReviewed
        ? `The plan was reviewed on ${pullNames(pulls)}.`
        : `It was merged by ${pullNames(pulls)}.`;
  return `${where} Open a pull request that touches the merchant's file, even by a comment only: its plan shows what is new. Or undo what is new, and run this again; or, to apply this plan, run this workflow once with on-plan-change: apply.`;
}
