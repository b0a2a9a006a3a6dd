import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, grouped } from "../../lib/text.ts";
import { cutList, cutText } from "../blocks/cut-list.ts";
import { blockLines } from "../blocks/text-blocks.ts";
import { fileOverride, overriddenBlock, overrideStep, refusalBlock } from "../documents/remedies.ts";
import type { Style, Verbosity } from "../style.ts";
import { type CutGroups, cutRows, type Equal } from "../view/equal-changes.ts";
import { equalGroups, fleetRiskTitle, messageAt, riskText } from "../view/equal-text.ts";
import {
  type FleetView,
  fleetView,
  type MerchantRow,
  MIN_FLEET,
  type OwnView,
  type RunOf,
  rowsIn,
} from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import {
  addCounts,
  countsText,
  deferredText,
  errorsText,
  type FindingView,
  type PlanView,
  type RefusalView,
} from "../view/plan-view.ts";
import { accessText, renderTotals } from "./impact-text.ts";
import {
  isEmptyPlan,
  neededRisks,
  renderDeferred,
  renderFindings,
  renderGroups,
  renderHiddenRows,
  renderMerchantPlan,
  renderPasswordVariables,
} from "./plan-text.ts";
import { hangingLines, NARROW, padTo, withCutNote, wrapText } from "./wrap.ts";

const IN_SHARED_FILE =
  "To override in git, for this run only, add under guards in a file that all of them include:";

/** Maximum number of rows of changes in a long plan of one merchant, or of a few. */
const ROWS_SHOWN = 30;
/** The same on a narrow terminal, where each row takes more lines. */
const NARROW_ROWS_SHOWN = 15;
/** The same for a merchant among many. */
const OWN_ROWS_SHOWN = 10;
/** The number of lines about single merchants in a long plan of many. */
const OWN_LINES_SHOWN = 80;
const SHARED_ROWS_SHOWN = 20;
const SUMS_SHOWN = 12;
const RISKS_SHOWN = 8;
const MESSAGES_SHOWN = 8;
const MERCHANTS_SHOWN = 10;
/** Above this number of changes, a plan is cut. */
const LONG = 60;

/**
 * Formats plans: changes, impact on people, findings, refusals and totals. What several merchants share is shown once. If
 * quiet, plans without changes only count in the total; if verbose, every merchant is shown in full.
 */
export function renderPlans(
  views: readonly PlanView[],
  style: Style,
  verbosity: Verbosity = "normal",
  run: RunOf = {},
): string {
  const text = renderPlansIn(views, style, verbosity, run);
  return verbosity === "verbose" ? text : withCutNote(text, views.length > 1, style);
}

function renderPlansIn(views: readonly PlanView[], style: Style, verbosity: Verbosity, run: RunOf): string {
  const fleet = fleetView(views, run);
  const isFleet = views.length >= MIN_FLEET;
  if (verbosity === "verbose") {
    const table = isFleet ? renderTable(fleet, PLANS, style, Number.POSITIVE_INFINITY) : [];
    return renderEach(fleet.views, fleet.views, style, verbosity, table);
  }
  if (isFleet) return shortest((share) => renderFleet(fleet, PLANS, style, verbosity, share));
  const isLong = fleet.own.reduce((sum, { view }) => sum + rowsIn(view.groups), 0) > LONG;
  if (!isLong)
    return renderEach(
      fleet.own.map(({ view }) => view),
      fleet.views,
      style,
      verbosity,
    );
  const rows = (style.columns < NARROW ? NARROW_ROWS_SHOWN : ROWS_SHOWN) / views.length;
  return shortest((share) => {
    const cut = fleet.own.map(({ view }) => ({ ...view, ...cutRows(view.groups, Math.ceil(rows * share)) }));
    return renderEach(cut, fleet.views, style, verbosity);
  });
}

/** Number of lines that a long plan stays below, so that it can be read. */
const MAX_LINES_SHOWN = 195;

/** Returns the longest text that is short enough, by the share of the rows that each one shows. */
function shortest(renderShare: (share: number) => string): string {
  let text = "";
  for (const share of [1, 0.6, 0.3, 0.1]) {
    text = renderShare(share);
    if (text.split("\n").length <= MAX_LINES_SHOWN) break;
  }
  return text;
}

/** Formats each plan, and the totals of several. */
function renderEach(
  views: readonly PlanView[],
  allViews: readonly PlanView[],
  style: Style,
  verbosity: Verbosity,
  table: readonly string[] = [],
): string {
  const shown = verbosity === "quiet" ? views.filter((view) => !isEmptyPlan(view)) : views;
  const parts = shown.map((view) => renderMerchantPlan(view, style, verbosity));
  if (table.length > 0) parts.push(`${table.slice(1).join("\n")}\n`);
  if (allViews.length > 1) parts.push(`${renderTotal(allViews, style).join("\n")}\n`);
  return parts.join("\n");
}

function renderTotal(views: readonly PlanView[], style: Style): readonly string[] {
  const total = addCounts(views.map(({ counts }) => counts));
  const deferred = views.reduce((sum, view) => sum + view.deferred.length, 0);
  const refused = views
    .filter(({ refusals }) => refusals.length > 0)
    .map(({ merchant }) => oneLine(merchant));
  const broken = views.filter(({ errors }) => errors.length > 0);
  const isFleet = views.length >= MIN_FLEET;
  const errors = broken.flatMap((view) => view.errors);
  const whom =
    isFleet && refused.length === views.length ? `all ${refused.length} merchants` : namesText(refused, 12);
  return [
    ...hangingLines(
      `${countsText(total)}.${isFleet ? deferredText(deferred) : ""}`,
      style.columns,
      `${style.bold(`${counted(views.length, "merchant")}:`)} `,
      "  ",
    ),
    ...(isFleet && errors.length > 0 ? wrapText(errorsText(errors), style.columns).map(style.red) : []),
    ...(refused.length > 0
      ? wrapText(`An apply would be refused for ${whom}.`, style.columns).map(style.red)
      : []),
  ];
}

/** The functions that format the plans or drifts of many merchants. */
export interface FleetFormat<View extends PlanView> {
  /** Formats the part of a merchant alone; `note` follows its totals. */
  readonly block: (
    view: View & { readonly hidden?: CutGroups["hidden"] },
    style: Style,
    verbosity: Verbosity,
    note: string,
  ) => string;
  readonly total: (views: readonly View[], style: Style) => readonly string[];
  /** The title of the rules that are broken. */
  readonly broken: string;
  /** The heads of the table's columns of numbers. */
  readonly heads: readonly string[];
  /** What the first columns count, in words. */
  readonly counts: readonly string[];
}

const PLANS: FleetFormat<PlanView> = {
  block: renderMerchantPlan,
  total: renderTotal,
  broken: "An apply would be refused:",
  heads: ["+", "~", "-", "people", "risks"],
  counts: ["to create", "to update", "to delete"],
};

/**
 * Formats the plans of many merchants: what they share, what each has for itself, a table, and the total. `share` is the
 * part of the rows that are shown of a long list, at most 1.
 */
export function renderFleet<View extends PlanView>(
  fleet: FleetView<View>,
  format: FleetFormat<View>,
  style: Style,
  verbosity: Verbosity,
  share = 1,
): string {
  const isQuiet = verbosity === "quiet";
  const { refusals, overridden, overrides, errors, warnings } = fleet;
  const lines = [
    ...renderWhere(fleet.views, style),
    ...(isQuiet
      ? renderFleetRisks({ ...fleet, risks: neededRisks(fleet.risks) }, style)
      : renderShared(fleet, style, share)),
    ...renderOwn(fleet, format, style, verbosity, share),
    ...renderFindings(
      {
        errors: messages(fleet, errors),
        warnings: messages(fleet, warnings),
        untouched: fleet.views.flatMap(({ untouched }) => untouched),
      },
      style,
      verbosity,
    ),
    ...more(errors.length - MESSAGES_SHOWN, style),
    ...(refusals.length > 0 ? ["", `  ${style.red(style.bold(format.broken))}`] : []),
    ...blockLines(
      messages(fleet, refusals).map((refusal) => refusalBlock({ ...refusal, override: null })),
      style,
      "    ",
    ),
    ...more(refusals.length - MESSAGES_SHOWN, style),
    // Below all refusals, not only the last one.
    ...blockLines(overrides.commands.slice(0, MESSAGES_SHOWN).map(overrideStep), style, "    "),
    ...more(overrides.commands.length - MESSAGES_SHOWN, style),
    ...(overrides.line === null
      ? []
      : blockLines([fileOverride(overrides.line, IN_SHARED_FILE)], style, "    ")),
    ...(overridden.length > 0 ? [""] : []),
    ...blockLines(messages(fleet, overridden).map(overriddenBlock), style, "  "),
    ...(fleet.passwords.length > 0 && !isQuiet
      ? ["", ...renderPasswordVariables([namesText(fleet.passwords, 8)], style)]
      : []),
    ...renderTable(fleet, format, style),
    "",
    ...format.total(fleet.views, style),
    "",
  ];
  return lines.join("\n");
}

/** Formats the heading: the number of merchants, and where they are. */
function renderWhere(views: readonly PlanView[], style: Style): readonly string[] {
  const where = [
    ...new Set(views.flatMap(({ environment }) => environment ?? [])),
    ...new Set(views.map(({ service }) => service)),
  ].map(oneLine);
  const head = counted(views.length, "merchant");
  return hangingLines(`· ${where.join(" · ")}`, style.columns, `${style.bold(head)} `, "  ").map(
    (line, index) => (index === 0 ? line : style.dim(line)),
  );
}

function renderShared(fleet: FleetView, style: Style, share: number): readonly string[] {
  const { groups, hidden } = cutRows(equalGroups(fleet), Math.ceil(SHARED_ROWS_SHOWN * share));
  return [
    ...renderGroups({ groups }, style),
    ...renderHiddenRows(hidden, style),
    ...renderDeferred(fleet.deferred.slice(0, MESSAGES_SHOWN), style),
    ...more(fleet.deferred.length - MESSAGES_SHOWN, style),
    ...renderFleetRisks(fleet, style),
    ...renderFleetImpact(fleet, style),
  ];
}

function more(count: number, style: Style): readonly string[] {
  return count > 0 ? [`    ${style.dim(cutText(count))}`] : [];
}

function renderFleetRisks(fleet: FleetView, style: Style): readonly string[] {
  if (fleet.risks.length === 0) return [];
  return [
    "",
    `  ${style.bold("Risks")}`,
    ...fleet.risks.flatMap((risk) => {
      const { shown, hidden: rest } = cutList(risk.equal, RISKS_SHOWN);
      const hidden = rest.reduce((sum, { all }) => sum + all.length, 0);
      return [
        ...hangingLines(fleetRiskTitle(risk), style.columns, `    ${style.red("!")} `, "      "),
        ...shown.flatMap((equalRisks) =>
          hangingLines(oneLine(riskText(fleet, risk, equalRisks)), style.columns, "      ", "        "),
        ),
        ...(hidden > 0 ? [`      ${style.dim(cutText(hidden))}`] : []),
      ];
    }),
  ];
}

function renderFleetImpact({ impact, people }: FleetView, style: Style): readonly string[] {
  if (impact.members === 0) return [];
  const placeText = (merchants: number): string => ` at ${counted(merchants, "merchant")}`;
  return [
    "",
    ...hangingLines(
      accessText(impact.members, impact.origin),
      style.columns,
      `  ${style.bold("Access")}: `,
      "    ",
    ),
    ...renderTotals(
      {
        permissions: impact.permissions.map((permission) => ({
          ...permission,
          where: placeText(permission.merchants),
        })),
        roles: impact.roles.map((role) => ({ ...role, where: placeText(role.merchants) })),
        sensitive: impact.sensitive,
      },
      SUMS_SHOWN,
      style,
    ),
    ...(people.some(({ item }) => item.unknownGained.length + item.unknownLost.length > 0)
      ? [`    ${style.dim("The service does not report the permissions of some roles (--verbose).")}`]
      : []),
  ];
}

/** Formats the parts of single merchants; a long list is cut, with a count. */
function renderOwn<View extends PlanView>(
  { own: ownViews }: FleetView<View>,
  { block: formatBlock }: FleetFormat<View>,
  style: Style,
  verbosity: Verbosity,
  share: number,
): readonly string[] {
  const shown =
    verbosity === "quiet"
      ? ownViews.filter(({ view }) => view.refusals.length + view.errors.length > 0)
      : ownViews;
  const isLong =
    shown.reduce((sum, { view }) => sum + rowsIn(view.groups), 0) > LONG || shown.length > LONG / 4;
  const lines: string[] = [];
  const blocks = isLong ? shown.toSorted((a, b) => urgency(a) - urgency(b)) : shown;
  let count = 0;
  for (const { view, above } of blocks) {
    const cut = isLong ? { ...view, ...cutRows(view.groups, Math.ceil(OWN_ROWS_SHOWN * share)) } : view;
    const note = above > 0 ? ` ${grouped(above)} of these ${above === 1 ? "is" : "are"} above.` : "";
    const block = formatBlock(cut, style, verbosity, note).trimEnd().split("\n");
    if (isLong && count > 0 && lines.length + block.length >= OWN_LINES_SHOWN * share) break;
    lines.push("", ...block);
    count += 1;
  }
  const hiddenBlocks = blocks.slice(count);
  if (hiddenBlocks.length === 0) return lines;
  const changes = hiddenBlocks.reduce((sum, { view }) => sum + rowsIn(view.groups), 0);
  const what = `… and ${counted(hiddenBlocks.length, "more merchant")} with ${counted(changes, "change")} of their own`;
  return [...lines, "", ...wrapText(what, style.columns).map(style.dim)];
}

/** Sorts merchants first that would be refused or that lose something. */
function urgency({ view }: OwnView): number {
  if (view.errors.length + view.refusals.length > 0) return 0;
  return view.groups.some(({ rows }) => rows.some(({ kind }) => kind === "delete" || kind === "replace"))
    ? 1
    : 2;
}

function messages<Item extends RefusalView | FindingView>(
  fleet: FleetView,
  groups: readonly Equal<Item>[],
): readonly Item[] {
  return groups.slice(0, MESSAGES_SHOWN).map((group) => messageAt(fleet, group));
}

/** Formats the table of merchants with changes, without empty columns. */
function renderTable(
  { rows, views }: FleetView,
  { heads: allHeads, counts }: Pick<FleetFormat<PlanView>, "heads" | "counts">,
  style: Style,
  most = MERCHANTS_SHOWN,
): readonly string[] {
  if (rows.length === 0) return [];
  const { shown, hidden } = cutList(rows, most);
  const all = rows.map(numbersOf);
  const filled = (cells: readonly string[]): readonly string[] =>
    cells.filter((_, index) => all.some((row) => row[index] !== NONE));
  const heads = filled(allHeads);
  const changed = rows.reduce((sum, { merchants }) => sum + merchants.length, 0);
  const idle = views.length - changed;
  const names = shown.map(({ merchants }) =>
    oneLine(merchants.length === 1 ? merchants.join("") : namesText(merchants, 1)),
  );
  const cells = shown.map((row) => filled(numbersOf(row)));
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...cells.map((row) => (row[index] ?? "").length)),
  );
  const notes = shown.map(({ outcome }) => outcome);
  const longest = Math.max("Merchant".length, ...names.map(cellWidth));
  const roomWith = (space: number): number => {
    const note = Math.max(0, ...notes.map((text) => (text === "" ? 0 : text.length + space)));
    return style.columns - widths.reduce((sum, width) => sum + width + space, 0) - note - 2;
  };
  // Narrower gaps keep each merchant on one line if only a little space is missing.
  const gap = roomWith(2) >= longest ? "  " : " ";
  const width = Math.min(longest, Math.max(roomWith(gap.length), "Merchant".length));
  const line = (name: string, numbers: readonly string[], text: string): readonly string[] => {
    const right = numbers.map((numeral, index) => `${gap}${numeral.padStart(widths[index] ?? 0)}`).join("");
    const end = text === "" ? "" : `${gap}${style.red(text)}`;
    return cellWidth(name) <= width
      ? [`  ${padTo(name, width)}${right}${end}`]
      : [`  ${name}`, `  ${" ".repeat(width)}${right}${end}`];
  };
  const head = line("Merchant", heads, "");
  return [
    "",
    ...head.map(style.dim),
    ...shown.flatMap((_, index) => line(names[index] ?? "", cells[index] ?? [], notes[index] ?? "")),
    ...(hidden.length > 0
      ? hangingLines(hiddenMerchants(hidden, counts), style.columns, "  ", "    ").map((text) =>
          style.dim(text),
        )
      : []),
    ...(idle > 0 ? [`  ${style.dim(`${counted(idle, "merchant")} without changes`)}`] : []),
  ];
}

/** "… and 50 more merchants: 280 to create, 50 to update, 100 to delete". */
function hiddenMerchants(rows: readonly MerchantRow[], words: readonly string[]): string {
  const sums = words.map((word, index) => {
    const sum = rows.reduce((total, row) => total + (countsIn(row)[index] ?? 0) * row.merchants.length, 0);
    return sum === 0 ? [] : [`${grouped(sum)} ${word}`];
  });
  const merchants = rows.reduce((sum, row) => sum + row.merchants.length, 0);
  return `… and ${counted(merchants, "more merchant")}: ${sums.flat().join(", ")}`;
}

function countsIn({ create, update, delete: remove }: MerchantRow): readonly number[] {
  return [create, update, remove];
}

/** Returns the cells of a row; for several merchants, the numbers that each of them has. */
function numbersOf(row: MerchantRow): readonly string[] {
  return [...countsIn(row), row.people, row.risks].map((figure) => (figure === 0 ? NONE : grouped(figure)));
}

const NONE = "·";
