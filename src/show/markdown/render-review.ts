import { counted, grouped, naturally } from "../../lib/text.ts";
import type { Counts } from "../../model/plan.ts";
import { LATER_TITLE } from "../view/date-lines.ts";
import {
  addSums,
  type DriftSums,
  type DriftView,
  differencesIn,
  driftText,
  knownDriftText,
} from "../view/drift-view.ts";
import { withEffects } from "../view/effects.ts";
import { countReasons, type FleetView, fleetView, MIN_FLEET } from "../view/fleet-view.ts";
import { NAMES_SHOWN } from "../view/names-text.ts";
import {
  addCounts,
  changesOf,
  countsText,
  deferredText,
  type PlanView,
  unchangedWarningsText,
  untouchedText,
} from "../view/plan-view.ts";
import { fitReview, type Parts, type ReviewRow } from "./fit-review.ts";
import { impactTable, namesFold } from "./fleet-sections.ts";
import { DEFAULT_REVIEW_SIZE, inlineCode, MIN_REVIEW_SIZE } from "./markdown-blocks.ts";
import { foldOf, type MerchantFold } from "./merchant-fold.ts";
import { datesText, groupRisks, type ReviewInput, rulesBlock } from "./review-sections.ts";

/**
 * Renders plans or drifts as Markdown of at most `maxSize` UTF-16 units; parts that do not fit are left out whole and
 * named.
 */
export function renderReview(input: ReviewInput, maxSize: number = DEFAULT_REVIEW_SIZE): string {
  const size = Math.max(maxSize, MIN_REVIEW_SIZE);
  const fleet = fleetView<PlanView | DriftView>(
    input.views,
    input.run === undefined ? {} : { run: input.run },
  );
  const isSmall = input.views.length < MIN_FLEET && input.views.every(hasEffectsBeside);
  const parts: Parts = {
    verdict: verdictOf(input, fleet),
    rules: rulesBlock(input, size * RULES_SHARE),
    risks: groupRisks(input, fleet),
    impact: isSmall ? "" : impactTable(fleet, size * IMPACT_SHARE),
    rows: joinRows(rowsOf(input)),
    names: [namesFold(fleet, true), namesFold(fleet, false)].filter((text) => text !== ""),
    folds: foldsOf(fleet),
    command: input.command,
  };
  return fitReview(parts, size);
}

/** Returns whether the changes of a plan show what people gain and lose. */
function hasEffectsBeside(view: PlanView): boolean {
  return withEffects(view).impact.members.length === 0;
}

/** The share of a review that rules may take before they are shortened. */
const RULES_SHARE = 1 / 3;

/** The share of a review that the table of permissions may take before names are replaced by their number. */
const IMPACT_SHARE = 1 / 6;

function verdictOf(input: ReviewInput, fleet: FleetView): string {
  const { command, views, unplanned, fileErrors } = input;
  const counts = addCounts(views.map((view) => view.counts));
  const errors = views.reduce((sum, view) => sum + view.errors.length, 0) + unplanned.length + fileErrors;
  const refusals = views.reduce((sum, view) => sum + view.refusals.length, 0);
  const worries = worriesOf(input);
  const sums = input.command === "drift" ? addSums(input.views) : null;
  const changes = changesOf(counts);
  const said = ((): readonly [mark: string, words: string] => {
    if (errors > 0) return ["❌", `${counted(errors, "problem")} to fix first`];
    if (sums !== null) {
      if (sums.violations > 0) return ["⛔", driftText(sums)];
      return differencesIn(sums) === 0 ? ["✅", "no drift"] : ["⚠️", driftText(sums)];
    }
    if (refusals > 0)
      return ["⛔", `an apply would be refused, for ${counted(countReasons(fleet), "reason")}`];
    if (input.unstored) return ["❌", "the approval could not be stored"];
    return changesVerdict(changes, worries, (input.later ?? []).length > 0);
  })();
  const deferred = views.reduce((sum, view) => sum + view.deferred.length, 0);
  const files =
    fileErrors > 0
      ? ` The files have ${counted(fileErrors, "error")}: \`rolecall validate\` lists them.`
      : "";
  const totals = sums === null ? countsText(counts) : sumsText(sums, counts, errors > 0);
  const total =
    views.length === 0 ? "" : `${counted(views.length, "merchant")}: ${totals}.${deferredText(deferred)}`;
  const unread = unplanned.length === 0 ? "" : ` ${counted(unplanned.length, "merchant")} could not be read.`;
  return [
    `## ${said[0]} rolecall ${command}: ${said[1]}`,
    `${total}${unread}${files}`.trim(),
    unchangedWarningsText(views.flatMap(({ untouched }) => untouched)),
    ...unmanagedBlocks(input),
    datesText(input.later ?? [], `**${LATER_TITLE}:**`),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function changesVerdict(
  changes: number,
  worries: string,
  hasLater: boolean,
): readonly [mark: string, words: string] {
  const none = hasLater ? "no changes now" : "no changes";
  if (worries === "") return ["✅", changes === 0 ? none : "changes without risks"];
  return ["⚠️", changes === 0 ? `${none}, with ${worries}` : `changes with ${worries}`];
}

/** "risks and looser rules", "risks and changed rules"; empty if there are none. */
function worriesOf({ views, rules = [] }: ReviewInput): string {
  const risky = views.some(({ risks }) => risks.length > 0);
  const kinds = new Set(rules.map(({ kind }) => kind));
  const isOther = kinds.has("changed") || kinds.has("unknown");
  const changed = kinds.has("loosened") ? ["looser rules"] : isOther ? ["changed rules"] : [];
  return [...(risky ? ["risks"] : []), ...changed].join(" and ");
}

const UNMANAGED_SHOWN = 10;

/** Lists the merchants that are no longer managed: nothing else in a review mentions them. */
function unmanagedBlocks({ unmanaged = [] }: ReviewInput): readonly string[] {
  if (unmanaged.length === 0) return [];
  const lines = unmanaged
    .slice(0, UNMANAGED_SHOWN)
    .map(({ merchant, reason }) => `- ${inlineCode(merchant)}: ${inlineCode(reason)}`);
  const more = unmanaged.length - lines.length;
  const rest = more > 0 ? [`- and ${counted(more, "more merchant")}`] : [];
  const title = `### ⚠️ ${counted(unmanaged.length, "merchant")} no longer managed; the live state stays as it is`;
  return [title, [...lines, ...rest].join("\n")];
}

/** "1 added outside git; 5 unchanged, 412 not managed". */
function sumsText(sums: DriftSums, counts: Counts, hasProblems: boolean): string {
  return `${knownDriftText(sums, hasProblems, "no drift")}; ${untouchedText(counts)}`;
}

/** Above this number of rows, equal ones are combined. */
const ROWS_APART = 20;

/** Joins the rows of merchants with equal numbers in a long table. */
function joinRows(rows: readonly MerchantCells[]): readonly ReviewRow[] {
  const groups = new Map<string, MerchantCells[]>();
  for (const [index, row] of rows.entries()) {
    const key = rows.length > ROWS_APART ? `${row.rank}\n${row.environment}\n${row.cells}` : String(index);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()].flatMap((group): readonly ReviewRow[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { rank, environment, cells } = first;
    const codes = group.map(({ merchant }) => merchant).toSorted(naturally);
    const more = codes.length - NAMES_SHOWN;
    const shown = more > 1 ? codes.slice(0, NAMES_SHOWN) : codes;
    const names = shown.map(inlineCode).join(", ") + (more > 1 ? ` and ${grouped(more)} more` : "");
    const where = environment === null ? "" : ` ${inlineCode(environment)}`;
    const each = codes.length > 1 ? ", each" : "";
    return [{ text: `| ${names}${each}${where} | ${cells}`, rank, merchants: codes.length }];
  });
}

/** A merchant's row, apart from its name. */
interface MerchantCells {
  readonly merchant: string;
  readonly environment: string | null;
  readonly cells: string;
  readonly rank: number;
}

function rowsOf({ views, unplanned }: ReviewInput): readonly MerchantCells[] {
  const failed = unplanned.map(
    ({ merchant }): MerchantCells => ({
      merchant,
      environment: null,
      cells: "**could not be read** | | | | | | |",
      rank: 0,
    }),
  );
  const planned = views.map((view): MerchantCells => {
    const { create, update, replace, delete: remove, unchanged, unmanaged = 0 } = view.counts;
    const [rank, outcome] = outcomeOf(view);
    const changed = "sums" in view ? driftNumbers(view.sums) : [create, update, replace, remove];
    const numbers = changed.map(grouped);
    const kept = grouped(unchanged) + (unmanaged > 0 ? ` (${grouped(unmanaged)} not managed)` : "");
    const risks = view.risks.reduce((sum, { items }) => sum + items.length, 0);
    const { merchant, environment } = view;
    return {
      merchant,
      environment,
      cells: `${outcome} | ${numbers.join(" | ")} | ${kept} | ${risks} |`,
      rank,
    };
  });
  return [...failed, ...planned].sort((a, b) => a.rank - b.rank);
}

function driftNumbers({ added, changed, missing, notApplied, due, unknown }: DriftSums): readonly number[] {
  return [added, changed, missing, notApplied + due + unknown];
}

function outcomeOf(view: PlanView): readonly [rank: number, outcome: string] {
  if (view.errors.length > 0) return [1, `**${counted(view.errors.length, "problem")}**`];
  if (view.refusals.length > 0) return [2, "sums" in view ? "**breaks rules**" : "**would be refused**"];
  if (view.risks.length > 0) return [3, "risks"];
  if (changesOf(view.counts) > 0) return [4, "sums" in view ? "drift" : "changes"];
  if (view.deferred.length > 0) return [4, "deferred only"];
  return [5, "sums" in view ? "no drift" : "no changes"];
}

function hasFold(view: PlanView): boolean {
  return view.groups.length > 0 || view.deferred.length > 0 || view.warnings.length > 0;
}

/** Maximum number of changes that are not folded. */
const FEW_CHANGES = 12;

function foldsOf({ own, views }: FleetView<PlanView | DriftView>): readonly MerchantFold[] {
  const changes = changesOf(addCounts(views.map(({ counts }) => counts)));
  return own
    .filter(({ view }) => hasFold(view))
    .map(({ view, above }) => foldOf(view, foldSummary(view, above), changes <= FEW_CHANGES));
}

function foldSummary(view: PlanView | DriftView, above: number): string {
  const sums =
    "sums" in view ? sumsText(view.sums, view.counts, view.errors.length > 0) : countsText(view.counts);
  const note = above === 0 ? "" : `; ${grouped(above)} of these ${above === 1 ? "is" : "are"} above`;
  return `${inlineCode(view.merchant)} ${sums}${note}`;
}
