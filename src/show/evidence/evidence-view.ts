import { groupByKey, listText } from "../../lib/text.ts";
import type {
  AccessChange,
  CommitReview,
  Evidence,
  EvidenceRun,
  Gap,
  GapKind,
} from "../../model/evidence.ts";
import { GAP_KINDS } from "../../model/evidence.ts";
import { documentJson } from "../machine/machine-formats.ts";
import { rowOf } from "../view/change-view.ts";
import type { Table } from "../view/table.ts";

/** The titles of the kinds of gaps. */
const GAP_TITLES: Readonly<Record<GapKind, string>> = {
  "outside-git": "Changed outside git",
  "unreviewed-push": "Pushed without a review",
  override: "Refusals overridden",
  "unreviewed-apply": "Applied without a review",
  "ended-late": "Ended late",
  "unrecorded-run": "Runs without a record",
};

/** The gaps of one kind; `unasked` says why they could not be looked for, or not completely. */
export interface GapGroup {
  readonly kind: GapKind;
  readonly title: string;
  readonly gaps: readonly Gap[];
  readonly unasked: string | null;
  /** Replaces the number of gaps if none was found. */
  readonly none: "none" | typeof NOT_ASKED | "not known";
}

const NOT_ASKED = "not asked";

/** Returns the gaps by kind, also the kinds without one. */
export function gapGroups({ gaps, unasked, reviews }: Evidence): readonly GapGroup[] {
  return GAP_KINDS.map((kind) => {
    const why = unasked.get(kind) ?? null;
    const isAnswered = kind === "outside-git" || reviews.size > 0;
    return {
      kind,
      title: GAP_TITLES[kind],
      gaps: gaps.filter((gap) => gap.kind === kind),
      unasked: why,
      none: why === null ? "none" : isAnswered ? "not known" : NOT_ASKED,
    };
  });
}

/** Says in a few words how many gaps of a kind there are. */
export function gapCount({ gaps, unasked, none }: GapGroup): string {
  if (gaps.length === 0) return none;
  return unasked === null ? String(gaps.length) : `${gaps.length} or more`;
}

/** What is shown of the review of a commit. */
export interface ReviewView {
  readonly pulls: string;
  readonly approvedBy: string;
  readonly checks: string;
  /** ISO 8601; empty if it was not asked. */
  readonly asked: string;
}

/** Returns what is shown of the review of a commit; `pulls` are numbers that a record has named. */
export function reviewView(
  { reviews }: Pick<Evidence, "reviews">,
  commit: string | null,
  pulls: readonly number[] = [],
): ReviewView {
  const review = reviews.get(commit ?? "");
  const named = pulls.map((number) => `#${number}`).join(" ");
  if (commit === null) return { pulls: named, approvedBy: "", checks: "", asked: "" };
  if (review === undefined)
    return { pulls: named || NOT_ASKED, approvedBy: NOT_ASKED, checks: NOT_ASKED, asked: "" };
  const { asked } = review;
  if ("problem" in review)
    return { pulls: named || "unknown", approvedBy: "unknown", checks: "unknown", asked };
  const approvedBy = [...new Set(review.pulls.flatMap((pull) => pull.approvedBy))];
  return {
    pulls: review.pulls.map(({ number, author }) => `#${number} of ${author}`).join(", ") || named || "none",
    approvedBy: approvedBy.join(", ") || "nobody",
    checks: checksText(review),
    asked,
  };
}

function checksText(review: CommitReview): string {
  if ("problem" in review) return "";
  const names = (isPassed: boolean): readonly string[] => [
    ...new Set(review.checks.flatMap(({ name, passed }) => (passed === isPassed ? name : []))),
  ];
  const parts = [
    ...(names(true).length > 0 ? [`passed: ${names(true).join(", ")}`] : []),
    ...(names(false).length > 0 ? [`not passed: ${names(false).join(", ")}`] : []),
  ];
  return parts.join("; ") || "none";
}

/** Says what became of a role or member: "roles: + Shift Lead, − Cashier". */
export function accessChangeText({ change }: Pick<AccessChange, "change">): string {
  const details = rowOf(change).details.map(({ label, removed, added, plain }) => {
    const items = [...removed.map((item) => `− ${item}`), ...added.map((item) => `+ ${item}`), ...plain];
    return `${label}: ${items.join(", ")}`;
  });
  if (details.length > 0) return details.join("; ");
  if (change.kind !== "update" || change.resource === "role") return "";
  return change.after.status === "disabled" ? "disabled" : "enabled";
}

/** The words for what became of a role or member. */
export const CHANGE_VERBS: Readonly<Record<AccessChange["change"]["kind"], string>> = {
  create: "added",
  update: "changed",
  replace: "replaced",
  delete: "removed",
};

/** Returns who made a run: the job's starter, else user and host. */
export function runnerOf({ by, actor }: Pick<EvidenceRun, "by" | "actor">): string {
  return actor === null ? by : `${actor} (${by})`;
}

/** Shortens a time, ISO 8601, to the minute. */
export function minuteText(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

/** "2026-10-01 to 2026-12-31". */
export function periodText({ period: { from, to } }: Pick<Evidence, "period">): string {
  return `${from.slice(0, 10)} to ${to.slice(0, 10)}`;
}

/** Returns sentences on what is not in the table. */
export function evidenceCaveats(evidence: Evidence): readonly string[] {
  const unasked = gapGroups(evidence).flatMap(({ title, unasked: why, none }) =>
    why === null ? [] : [{ title, why, none }],
  );
  return [
    ...groupByKey(unasked, ({ why }) => why).map((group) => {
      const [{ why, none }] = group;
      return `${listText(group.map(({ title }) => title))}: ${none}. ${why}`;
    }),
    ...evidence.unknown,
  ];
}

/** Returns all facts as one table: the gaps first, then the changes, the runs and the commits of the files. */
export function evidenceTable(evidence: Evidence): Table {
  const runs = new Map(evidence.runs.map((run) => [run.run, run]));
  const reviewCells = (commit: string | null, pulls?: readonly number[]): readonly string[] => {
    const { pulls: numbers, approvedBy, checks, asked } = reviewView(evidence, commit, pulls);
    return [numbers, approvedBy, checks, asked];
  };
  const runCells = (id: string | null): readonly string[] => {
    const run = id === null ? undefined : runs.get(id);
    if (run === undefined) return [id ?? "", "", "", "", "", "", ""];
    return [run.run, runnerOf(run), run.commit ?? "", ...reviewCells(run.commit, run.pulls)];
  };
  return {
    columns: [
      ...["fact", "kind", "time", "since", "merchant", "resource", "name", "what"],
      ...["run", "by", "commit", "pull_requests", "approved_by", "checks", "asked_at"],
    ],
    rows: [
      ...evidence.gaps.map((gap) => {
        const [run = "", by = "", commit = "", ...review] = runCells(gap.run);
        const own =
          gap.run === null ? reviewCells(gap.kind === "unreviewed-push" ? gap.commit : null) : review;
        return [
          "gap",
          gap.kind,
          gap.at,
          "",
          gap.merchant ?? "",
          "",
          "",
          gap.what,
          run,
          by,
          commit || (gap.commit ?? ""),
          ...own,
        ];
      }),
      ...evidence.changes.map(({ at, since, merchant, change, run, seenIn }) => {
        const [id = "", by = "", commit = "", ...review] = runCells(run);
        const { kind, resource, name } = change;
        return [
          "change",
          CHANGE_VERBS[kind],
          at,
          since ?? "",
          merchant,
          resource,
          name,
          accessChangeText({ change }),
          id || "outside git",
          by,
          commit || (seenIn ?? ""),
          ...review,
        ];
      }),
      ...evidence.runs.map((run) => [
        "run",
        run.outcome,
        run.at,
        "",
        run.merchants.join(" "),
        "",
        "",
        run.signature,
        ...runCells(run.run),
      ]),
      ...evidence.commits.map(({ id, at, author, subject }) => [
        "commit",
        "",
        at,
        "",
        "",
        "",
        "",
        subject,
        "",
        author,
        id,
        ...reviewCells(id),
      ]),
    ],
  };
}

/** Returns the evidence as JSON. */
export function evidenceJson({ period, reviews, unasked, changes, ...rest }: Evidence): string {
  return documentJson({
    ...period,
    ...rest,
    unasked: Object.fromEntries(unasked),
    changes: changes.map(({ change: { kind, resource, name, id, before, after }, ...facts }) => ({
      ...facts,
      ...{ kind, resource, name, id, before, after },
    })),
    reviews: [...reviews].map(([commit, review]) => ({ commit, ...review })),
  });
}
