import { diffLines } from "diff";
import type { Plan, Refusal } from "../../../src/model/plan.ts";
import { risksOf } from "../../../src/show/view/risk-view.ts";
import type { Files } from "./chain.ts";
import type { Outcome } from "./year.ts";

/** Returns the paths that differ between two versions of the files. */
export function touchedFiles(before: Files, after: Files): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]);
}

/** Counts the lines that differ; one that is replaced counts once. */
export function touchedLines(before: Files, after: Files): number {
  return sum(
    touchedFiles(before, after).map((path) => {
      const hunks = diffLines(before[path] ?? "", after[path] ?? "");
      return sum(
        hunks.map(({ added, removed, count }, index) => {
          const replaced = added && hunks[index - 1]?.removed ? (hunks[index - 1]?.count ?? 0) : 0;
          return added || removed ? Math.max(0, count - replaced) : 0;
        }),
      );
    }),
  );
}

/** Returns what plans do, without numbers that are 0. */
export function planOutcome(plans: readonly Plan[]): Omit<Outcome, "files" | "lines" | "merchants"> {
  const changes = plans.flatMap((plan) => plan.changes);
  const kind = (one: string): number => changes.filter((change) => change.kind === one).length;
  const people = plans.flatMap(({ impact }) => impact.members);
  const codes = (refusals: (plan: Plan) => readonly Refusal[]): readonly string[] =>
    plans.flatMap((plan) => [...new Set(refusals(plan).map(({ code }) => code))]);
  return withoutZeros({
    create: kind("create"),
    update: kind("update"),
    delete: kind("delete"),
    deferred: sum(plans.map(({ deferred }) => deferred.length)),
    gain: people.filter(({ gained }) => gained.length > 0).length,
    lose: people.filter(({ lost }) => lost.length > 0).length,
    sensitive: sum(
      plans.flatMap((plan) =>
        risksOf(plan).map(({ kind, items }) => (kind === "sensitive" ? items.length : 0)),
      ),
    ),
    refused: countedByCode(codes(({ refusals }) => refusals)),
    overridden: countedByCode(codes(({ overridden = [] }) => overridden)),
  });
}

/** Counts how often each code occurs; `undefined` for none. */
export function countedByCode(codes: readonly string[]): Readonly<Record<string, number>> | undefined {
  if (codes.length === 0) return undefined;
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

function withoutZeros<T extends object>(record: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== 0 && value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
