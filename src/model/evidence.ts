import type { Change } from "./plan.ts";

/** A period; both moments are ISO 8601, and belong to it. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** A change of access at the service: one that a run has made, or one that was only seen. */
export interface AccessChange {
  readonly merchant: string;
  /** The time at which a run made it, or at which it was first seen, ISO 8601. */
  readonly at: string;
  /** Of a change that no run has made: the last moment at which the access was known to be as before. */
  readonly since: string | null;
  /** What became of the role or member; its reason is always `declared`. */
  readonly change: Change;
  /** The run that made it, or that has recorded it first and has no record of its own; `null` if no run is known. */
  readonly run: string | null;
  /** The commit of the live branch in which it was first seen; `null` if a run has made or met it. */
  readonly seenIn: string | null;
}

/** A recorded run that wrote something, or was to. */
export interface EvidenceRun {
  readonly run: string;
  /** ISO 8601. */
  readonly at: string;
  readonly merchants: readonly string[];
  readonly outcome: string;
  /** User and host. */
  readonly by: string;
  /** Who started the job; `null` outside CI. */
  readonly actor: string | null;
  readonly job: string | null;
  /** The commit that was applied; `null` if none is known. */
  readonly commit: string | null;
  readonly uncommitted: boolean;
  /** The run that it undoes. */
  readonly undoes: string | null;
  /** Numbers of the pull requests that it merged. */
  readonly pulls: readonly number[];
  /** Refusals that were overridden on the command line, by merchant. */
  readonly overridden: readonly { readonly merchant: string; readonly refusal: string }[];
  readonly signature: "verified" | "altered" | "unsigned" | "foreign" | "unchecked";
}

/** A commit on the current branch that changed files of access. */
export interface EvidenceCommit {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly author: string;
  readonly subject: string;
}

/** A pull request that was merged. */
export interface ReviewedPull {
  readonly number: number;
  readonly author: string;
  /** The people whose last review approves it, without its author. */
  readonly approvedBy: readonly string[];
}

/** The answers of a code host about a commit, and when it was asked, ISO 8601. */
export type CommitReview = { readonly asked: string } & (
  | {
      readonly pulls: readonly ReviewedPull[];
      readonly checks: readonly { readonly name: string; readonly passed: boolean }[];
    }
  /** Why there is no answer. */
  | { readonly problem: string }
);

/** The kinds of gaps, in the order in which they are shown. */
export const GAP_KINDS = [
  "outside-git",
  "unreviewed-push",
  "override",
  "unreviewed-apply",
  "ended-late",
  "unrecorded-run",
] as const;

/** The kind of a gap in the evidence. */
export type GapKind = (typeof GAP_KINDS)[number];

/** A fact that the controls do not cover. Texts are raw. */
export interface Gap {
  readonly kind: GapKind;
  /** ISO 8601. */
  readonly at: string;
  /** `null` if it concerns no merchant, or several. */
  readonly merchant: string | null;
  /** A sentence. */
  readonly what: string;
  readonly run: string | null;
  /** A commit of the files, or of the live branch. */
  readonly commit: string | null;
}

/** The record of a period: each change of access with its run, and what is missing. */
export interface Evidence {
  readonly period: Period;
  /** The time at which it was made, ISO 8601. */
  readonly made: string;
  /** By time. */
  readonly gaps: readonly Gap[];
  /** What could not be known, a sentence each. */
  readonly unknown: readonly string[];
  /** Kinds of gaps that could not be looked for, with the reason. */
  readonly unasked: ReadonlyMap<GapKind, string>;
  /** By time. */
  readonly changes: readonly AccessChange[];
  /** By time. */
  readonly runs: readonly EvidenceRun[];
  /** By time. */
  readonly commits: readonly EvidenceCommit[];
  /** The answers of the code host by commit; without one for a commit, it was not asked. */
  readonly reviews: ReadonlyMap<string, CommitReview>;
}
