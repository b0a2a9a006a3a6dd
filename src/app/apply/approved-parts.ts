import { resolve } from "node:path";
import { type Comparison, compareReviewed } from "../../kernel/approval/compare-reviewed.ts";
import type { FreshPlan } from "../../kernel/approval/fresh-context.ts";
import type { Review } from "../../kernel/approval/merged-reviews.ts";
import { refusalSentence } from "../../kernel/approval/words.ts";
import { isEdited } from "../../kernel/plan/edited-plan.ts";
import type { AccountEntry } from "../../model/approval-account.ts";
import type { Origin } from "../../model/desired.ts";
import { textOrNull } from "../io/read-text.ts";
import { placeFinder } from "../show/find-places.ts";
import type { ApprovedFile } from "./approval.ts";

/** The part of a fresh plan that approved files cover, and why they do not cover the rest. */
export interface ApprovedPart {
  readonly merchant: string;
  readonly comparison: Comparison;
  /** Why changes are refused, a sentence each. */
  readonly refusals: readonly string[];
  /** Approved changes that are not made, and why, a sentence each. */
  readonly dropped: readonly string[];
}

/** Compares fresh plans with approved files, in the order of their merges. */
export function compareApproved(
  fresh: readonly FreshPlan[],
  approved: readonly ApprovedFile[],
  cwd: string,
): readonly ApprovedPart[] {
  /** Returns the line of an entry. */
  const placeOf = (origin: Origin): string => {
    const text = textOrNull(resolve(cwd, origin.file));
    const place = text === null ? null : placeFinder([{ file: origin.file, text }]).entry(origin);
    return place === null ? origin.file : `${place.file}:${place.line}`;
  };
  return fresh.map((plan) => approvedPart(plan, approved, placeOf));
}

/** Compares a fresh plan with approved files; `placeOf` names the location of an entry, by default its file. */
export function approvedPart(
  fresh: FreshPlan,
  files: readonly ApprovedFile[],
  placeOf: (origin: Origin) => string = (origin) => origin.file,
): ApprovedPart {
  const { plan } = fresh;
  const approved = files.flatMap(({ file, plans }) =>
    plans.flatMap((one) => (one.merchant === plan.merchant ? { file, plan: one } : [])),
  );
  const isKnown = approved.length > 0;
  const edited = approved.some((one) => isEdited(one.plan));
  const reviews = edited ? [] : approved.map((one): Review => ({ name: one.file, state: one.plan.reviewed }));
  const comparison = compareReviewed(reviews, fresh);
  const { refused, account } = comparison;
  const whole = edited
    ? ["the approved plan was edited: it does not match its fingerprints."]
    : isKnown || refused.length === 0
      ? null
      : ["this merchant is not in the approved plan."];
  return {
    merchant: plan.merchant,
    comparison,
    refusals: whole ?? refused.map(refusalSentence),
    dropped: account.flatMap((entry) => (entry.verdict === "dropped" ? droppedSentence(entry, placeOf) : [])),
  };
}

function droppedSentence(
  { does, resource, name, reasons, origins }: AccountEntry,
  placeOf: (origin: Origin) => string,
): string {
  const what = does === "permissions" ? `permissions of ${name}` : `${does} ${resource} ${name}`;
  const places = origins.length === 0 ? "" : ` (${origins.map(placeOf).join(", ")})`;
  const how =
    does === "create" || does === "remove" ? "approved, but no longer planned" : "approved differently";
  return `${how}: ${what}: ${reasons.join("; ")}${places}.`;
}
