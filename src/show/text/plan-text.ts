import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted } from "../../lib/text.ts";
import { type Block, sentence } from "../blocks/block.ts";
import { cutList, cutText } from "../blocks/cut-list.ts";
import { blockLines } from "../blocks/text-blocks.ts";
import { fileOverride, findingBlock, overriddenBlock, refusalBlocks } from "../documents/remedies.ts";
import { kindPaint, type Paint, SIGNS, type Style, type Verbosity } from "../style.ts";
import { type DetailView, type EqualRows, type RowView, wordDiffText } from "../view/change-view.ts";
import { dateLines, LATER_TITLE, type LaterView } from "../view/date-lines.ts";
import { LISTED, withEffects } from "../view/effects.ts";
import { type CutGroups, hiddenRowsText } from "../view/equal-changes.ts";
import { equalText } from "../view/equal-text.ts";
import { namesText } from "../view/names-text.ts";
import {
  addCounts,
  countsText,
  type DeferredView,
  deferredText,
  errorsText,
  joinSame,
  type PlanView,
  type RefusalView,
  refusalsText,
  unchangedWarningsText,
} from "../view/plan-view.ts";
import { type RiskView, riskTitle } from "../view/risk-view.ts";
import { type RuleLine, rulesTitle, ruleTexts } from "../view/rules-view.ts";
import { renderImpact } from "./impact-text.ts";
import { hangingLines, NARROW, wrapList, wrapText } from "./wrap.ts";

const LABEL_WIDTH = 13;
const DETAIL_INDENT = " ".repeat(13);

const NARROW_INDENT = " ".repeat(6);

const RISKS_SHOWN = 12;
/** The same in a long plan. */
const LONG_RISKS_SHOWN = 4;

/** Returns whether a plan has nothing to do and nothing to refuse; it may have warnings. */
export function isEmptyPlan({ groups, deferred, refusals, errors }: PlanView): boolean {
  return groups.length + deferred.length + refusals.length + errors.length === 0;
}

/** Formats plans without changes in one line. */
export function renderEmptyPlans(views: readonly PlanView[], style: Style): string {
  const [first, second] = views;
  if (first === undefined) return "";
  const whose =
    second === undefined
      ? `Plan of ${oneLine(first.merchant)}:`
      : `Plans of ${counted(views.length, "merchant")}:`;
  const text = `${countsText(addCounts(views.map(({ counts }) => counts)))}.`;
  return `${hangingLines(text, style.columns, `${style.bold(whose)} `, "  ").join("\n")}\n`;
}

/** Formats the plan of a merchant; `note` follows its totals. */
export function renderMerchantPlan(
  wholeView: PlanView & { readonly hidden?: CutGroups["hidden"] },
  style: Style,
  verbosity: Verbosity,
  note = "",
): string {
  const view = withEffects(wholeView);
  // Never as arguments of a call, since their number is limited.
  const lines = [
    renderHeading(view, style),
    ...(verbosity === "quiet"
      ? renderRisks(neededRisks(view.risks), style, verbosity)
      : renderBody(view, style, verbosity)),
    ...renderFindings(view, style, verbosity),
    ...(view.refusals.length > 0 ? ["", `  ${style.red(style.bold("An apply would be refused:"))}`] : []),
    ...renderRefusals(view.refusals, style),
    ...(view.overrides === null ? [] : blockLines([fileOverride(view.overrides)], style, "    ")),
    ...(view.overridden.length > 0 ? [""] : []),
    ...blockLines(view.overridden.map(overriddenBlock), style, "  "),
  ];
  if (verbosity !== "quiet" || lines.length > 1) lines.push("");
  lines.push(
    ...hangingLines(`${countsText(view.counts)}.${note}`, style.columns, `  ${style.bold("Plan:")} `, "    "),
  );
  if (view.deferred.length > 0) lines.push(` ${deferredText(view.deferred.length)}`);
  if (view.passwords.length > 0 && verbosity !== "quiet")
    lines.push(...renderPasswordVariables(view.passwords, style));
  if (view.errors.length > 0) lines.push(...redLines(errorsText(view.errors), style));
  if (view.refusals.length > 0) lines.push(...redLines(refusalsText(joinSame(view.refusals)), style));
  return `${lines.join("\n")}\n`;
}

function redLines(text: string, style: Style): readonly string[] {
  return wrapText(text, style.columns - 2).map((line) => `  ${style.red(line)}`);
}

function renderBody(
  view: PlanView & { readonly hidden?: CutGroups["hidden"] },
  style: Style,
  verbosity: Verbosity,
): readonly string[] {
  const { hidden = [] } = view;
  return [
    ...renderImpact(view.impact, style, verbosity, view.origin, view.hidden !== undefined),
    ...renderRisks(view.risks, style, verbosity, view.hidden !== undefined),
    ...renderGroups(view, style),
    ...renderHiddenRows(hidden, style),
    ...renderDeferred(
      view.hidden === undefined ? view.deferred : view.deferred.slice(0, LONG_DEFERRED_SHOWN),
      style,
      view.deferred.length,
    ),
  ];
}

/** Formats the number of changes that are hidden, by what they do. */
export function renderHiddenRows(rows: CutGroups["hidden"], style: Style): readonly string[] {
  return rows.length === 0
    ? []
    : hangingLines(hiddenRowsText(rows), style.columns, "    ", "      ").map((line) => style.dim(line));
}

/** Maximum number of deferred changes of a plan that is cut. */
const LONG_DEFERRED_SHOWN = 10;

const DATES_SHOWN = 10;

/** Formats what the dates in the files bring soon; empty if there is nothing. */
export function renderDates(
  later: readonly LaterView[],
  style: Style,
  verbosity: Verbosity = "normal",
): string {
  const max = verbosity === "verbose" ? Number.POSITIVE_INFINITY : DATES_SHOWN;
  const { lines, more, refused } = dateLines(later, max, oneLine);
  if (lines.length === 0) return "";
  const rest = more > 0 ? [`and ${counted(more, "more date")}; --verbose shows all`] : [];
  const texts = [...lines, ...rest];
  const wrapped = [
    ...texts.flatMap((text) => hangingLines(text, style.columns, "  ", "    ")),
    ...refused.flatMap((text) => hangingLines(text, style.columns, `  ${style.red("✗")} `, "    ")),
  ];
  return `\n${[style.bold(LATER_TITLE), ...wrapped, ""].join("\n")}\n`;
}

/** Formats what a review has to know about rules; empty if there is nothing. */
export function renderRules(rules: readonly RuleLine[], style: Style): string {
  if (rules.length === 0) return "";
  const lines = ruleTexts(rules).flatMap((text) =>
    hangingLines(oneLine(text), style.columns, `  ${style.yellow("!")} `, "    "),
  );
  return `${[style.bold(rulesTitle(rules)), ...lines, ""].join("\n")}\n`;
}

/** Formats the changes, below the title of their group. */
export function renderGroups({ groups }: Pick<PlanView, "groups">, style: Style): readonly string[] {
  return groups.flatMap(({ title, rows }) => [
    "",
    ...wrapText(title, style.columns - 2).map((line) => `  ${style.bold(line)}`),
    ...rows.flatMap((row) => renderRow(row, style)),
  ]);
}

/** Returns the risks that are shown even if quiet: a refusal refers to the rules that an undo breaks. */
export function neededRisks<Risk extends Pick<RiskView, "kind">>(risks: readonly Risk[]): readonly Risk[] {
  return risks.filter(({ kind }) => kind === "violations");
}

/** Formats risks, in a few lines each. */
export function renderRisks(
  risks: readonly RiskView[],
  style: Style,
  verbosity: Verbosity,
  isLong = false,
): readonly string[] {
  if (risks.length === 0) return [];
  const most = isLong ? LONG_RISKS_SHOWN : RISKS_SHOWN;
  return [
    "",
    `  ${style.bold("Risks")}`,
    ...risks.flatMap(({ kind, items, origin }) => {
      const { shown, hidden } = cutList(items, verbosity === "verbose" ? items.length : most);
      const more = hidden.length;
      const texts = shown.map(({ name, what, resource }) =>
        oneLine(kind !== "removals" ? `${name}: ${what}` : resource === "role" ? `role ${name}` : name),
      );
      // A removal stands among the changes with its reason; what is gained may come from afar, so each has its line.
      const rows =
        kind === "removals"
          ? wrapList(texts, style.columns - 7)
          : texts.flatMap((text) => hangingFrom(text, style));
      return [
        ...hangingLines(riskTitle(kind, items, origin), style.columns, `    ${style.red("!")} `, "      "),
        ...rows.map((row) => `      ${row}`),
        ...(more > 0 ? [`      ${style.dim(cutText(more))}`] : []),
      ];
    }),
  ];
}

function hangingFrom(text: string, style: Style): readonly string[] {
  const [first = "", ...rest] = wrapText(text, style.columns - 8);
  return [first, ...rest.map((line) => `  ${line}`)];
}

/** Formats the variables that an apply reads passwords from. */
export function renderPasswordVariables(variables: readonly string[], style: Style): readonly string[] {
  const text = `An apply reads first passwords from ${variables.map(oneLine).join(", ")}.`;
  return wrapText(text, style.columns - 2).map((line) => `  ${line}`);
}

/** Formats deferred removals, under a title; empty if there are none. */
export function renderDeferred(
  rows: readonly DeferredView[],
  style: Style,
  total = rows.length,
): readonly string[] {
  if (rows.length === 0) return [];
  return [
    "",
    `  ${style.bold("Deferred")}`,
    ...rows.flatMap((row) => renderDeferredRow(row, style)),
    ...(total > rows.length ? [`    ${style.dim(cutText(total - rows.length))}`] : []),
  ];
}

function renderDeferredRow(row: DeferredView, style: Style): readonly string[] {
  // The plan that removes a member lists the roles it held.
  const head = renderRow(row.kind === "delete" ? { ...row, details: [] } : row, style);
  const indent = style.columns < NARROW ? NARROW_INDENT : DETAIL_INDENT;
  return [...head, ...hangingLines(oneLine(row.until), style.columns, indent, indent).map(style.dim)];
}

// More than anybody reads.
const MAX_SHOWN = 1000;

/** Formats the refusals of a plan, or the violations by live access. */
export function renderRefusals(refusals: readonly RefusalView[], style: Style): readonly string[] {
  return cutToMost(refusalBlocks(joinSame(refusals)), "    ", style);
}

/** Formats the first of many blocks. */
function cutToMost(blocks: readonly Block[], indent: string, style: Style): readonly string[] {
  const more = blocks.length - MAX_SHOWN;
  const rest = sentence(`${cutText(more)} (--format json shows all)`, { tone: "dim" });
  return blockLines(more > 0 ? [...blocks.slice(0, MAX_SHOWN), rest] : blocks, style, indent);
}

/** Formats a merchant's heading: code, environment and service. */
export function renderHeading({ merchant, environment, service }: PlanView, style: Style): string {
  const where = [environment, service].filter((part) => part !== null).map((part) => oneLine(part));
  const [code, rest] = [oneLine(merchant), ` · ${where.join(" · ")}`];
  return cellWidth(`${code}${rest}`) <= style.columns
    ? `${style.bold(code)}${style.dim(rest)}`
    : [style.bold(code), ...where.map((part) => `  ${style.dim(part)}`)].join("\n");
}

/** Formats a change with its details. */
function renderRow(row: RowView, style: Style): readonly string[] {
  if (row.equal !== undefined) return renderEqualRow(row, row.equal, style);
  const { kind, verb = kind, name, remark, details } = row;
  const paint = kindPaint(kind, style);
  const label = paint(`${SIGNS[kind]} ${verb}`);
  const line = `    ${label} ${oneLine(name)}`;
  const note = remark === "" ? "" : `(${oneLine(remark)})`;
  const head =
    cellWidth(`${line} ${note}`) <= style.columns
      ? [note === "" ? line : `${line} ${style.dim(note)}`]
      : [
          ...hangingLines(oneLine(name), style.columns, `    ${label} `, NARROW_INDENT),
          ...hangingLines(note, style.columns, NARROW_INDENT, NARROW_INDENT).map(style.dim),
        ];
  return [...head, ...details.flatMap((detail) => renderDetail(detail, style))];
}

const EQUAL_NAMES_SHOWN = 6;

/** Formats equal changes: what is changed, where, for how many people, and who they are if there are several. */
function renderEqualRow(row: RowView, equal: EqualRows, style: Style): readonly string[] {
  const { kind, verb } = row;
  const { title, effect, names, values, whole } = equalText(row, equal);
  const label = kindPaint(
    kind,
    style,
  )([SIGNS[kind], ...(whole && verb === undefined ? [] : [verb ?? kind])].join(" "));
  const indent = style.columns < NARROW ? NARROW_INDENT : DETAIL_INDENT;
  const nameList = oneLine(namesText(names, EQUAL_NAMES_SHOWN));
  const cut = cutList(values, EQUAL_NAMES_SHOWN);
  return [
    ...hangingLines(
      oneLine(effect === "" ? title : `${title}; ${effect}`),
      style.columns,
      `    ${label} `,
      NARROW_INDENT,
    ),
    ...(whole ? [] : row.details.flatMap((detail) => renderDetail(detail, style))),
    ...(values.length > 0
      ? [...cut.shown, ...(cut.hidden.length > 0 ? [cutText(cut.hidden.length)] : [])].flatMap((text) =>
          hangingLines(oneLine(text), style.columns, indent, `${indent}  `),
        )
      : names.length === 0
        ? []
        : hangingLines(nameList, style.columns, indent, indent)),
  ];
}

function renderDetail(detail: DetailView, style: Style): readonly string[] {
  const { label, removed, added, plain, words } = detail;
  const isNarrow = style.columns < NARROW;
  const margin = isNarrow ? NARROW_INDENT.length + 2 : DETAIL_INDENT.length + LABEL_WIDTH;
  const width = Math.max(style.columns - margin - 2, 1);
  // A description or a metadata value has a line of its own; names are listed on one line.
  const listed = LISTED.has(label);
  const lay = (items: readonly string[], sign: string, paint: Paint): readonly string[] => {
    const safe = items.map(oneLine);
    const rows = listed ? wrapList(safe, width) : safe.flatMap((item) => wrapText(item, width));
    return rows.map((row) => paint(`${sign}${row}`));
  };
  const rows =
    words === undefined
      ? [
          ...lay(removed, "- ", style.red),
          ...lay(added, "+ ", style.green),
          ...lay(plain, "", (text) => text),
        ]
      : wrapText(oneLine(wordDiffText(words)), width + 2);
  if (isNarrow)
    return [`${NARROW_INDENT}${style.dim(label)}`, ...rows.map((row) => `${NARROW_INDENT}  ${row}`)];
  return rows.map((row, index) => {
    const head = index === 0 ? style.dim(label.padEnd(LABEL_WIDTH)) : " ".repeat(LABEL_WIDTH);
    return `${DETAIL_INDENT}${head}${row}`;
  });
}

/**
 * Formats findings, errors first, after an empty line; empty if there are none. Warnings about what the plan does not touch
 * are counted, unless verbose; quiet leaves out all warnings.
 */
export function renderFindings(
  { errors, warnings, untouched }: Pick<PlanView, "errors" | "warnings" | "untouched">,
  style: Style,
  verbosity: Verbosity,
): readonly string[] {
  const isQuiet = verbosity === "quiet";
  const aside = verbosity === "verbose" ? joinSame(untouched) : [];
  const findings = [...joinSame(errors), ...(isQuiet ? [] : warnings), ...aside];
  const unchanged = verbosity === "normal" ? unchangedWarningsText(untouched) : "";
  const lines = [
    ...cutToMost(findings.map(findingBlock), "  ", style),
    ...(unchanged === "" ? [] : hangingLines(`${unchanged}.`, style.columns, "  ", "    ").map(style.dim)),
  ];
  return lines.length === 0 ? [] : ["", ...lines];
}
