import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Failure } from "../../model/errors.ts";
import type { Impact } from "../../model/plan.ts";
import { PLAIN } from "../style.ts";
import { groupUnread, renderFailure } from "../text/failure-text.ts";
import { accessText, sameImpact } from "../text/impact-text.ts";
import { wrapList, wrapText } from "../text/wrap.ts";
import { type DetailView, type RowView, wordDiffText } from "../view/change-view.ts";
import type { DriftView } from "../view/drift-view.ts";
import { MIN_SHARED } from "../view/equal-changes.ts";
import {
  type DateView,
  dateLines,
  equalGroups,
  equalText,
  fleetRiskTitle,
  messageAt,
  namesText,
  riskText,
} from "../view/equal-text.ts";
import { countReasons, type FleetRisk, type FleetView, MIN_FLEET } from "../view/fleet-view.ts";
import type { DeferredView, FindingView, GroupView, PlanView, RefusalView } from "../view/plan-view.ts";
import { type ChangeOrigin, riskTitle } from "../view/risk-view.ts";
import { type RuleLine, rulesTitle, ruleTexts } from "../view/rules-view.ts";
import { blockText, type RiskBlock } from "./fit-review.ts";
import { inlineCode } from "./markdown-blocks.ts";

/** Returns the problems, refusals, equal changes and risks of all merchants, in that order. */
export function groupRisks(input: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  return [
    ...problems(input, fleet),
    ...refusals(input, fleet),
    ...equalGroups(fleet).map((group) => equalBlock(group, input)),
    ...(fleet.deferred.length > 0 ? [deferredBlock(fleet.deferred)] : []),
    ...fleet.risks.flatMap((risk) => riskBlock(fleet, risk)),
  ];
}

/** Returns the equal changes of several merchants: each in a line, with its details if these are longer. */
function equalBlock({ title, rows }: GroupView, { command }: ReviewInput): RiskBlock {
  const changes = counted(countChanges(rows), "change");
  const what =
    command === "drift" ? `${title}: ${changes}` : `${changes} that are equal at several merchants`;
  const items = rows.map((row) => [...equalLines(row), ...(isWhole(row) ? [] : detailLines(row))]);
  return { title: what, items };
}

/** Returns the removals that are deferred at several merchants, and what they wait for. */
function deferredBlock(rows: readonly DeferredView[]): RiskBlock {
  const items = rows.map((row) => [
    ...equalLines(row),
    ...(row.kind === "delete" || isWhole(row) ? [] : detailLines(row)),
    ...hanging(oneLine(row.until), "    ", "    "),
  ]);
  return { title: `${counted(countChanges(rows), "removal")} deferred`, items };
}

function isWhole(row: RowView): boolean {
  return row.equal !== undefined && equalText(row, row.equal).whole;
}

function equalLines(row: RowView, shown: number = LONG_NAMES): readonly string[] {
  const { kind, verb, equal } = row;
  if (equal === undefined) return [headOf(row)];
  const { subject, where, effect, names, whole } = equalText(row, equal);
  const label = verb !== undefined ? `${verb}: ` : whole ? "" : `${kind} `;
  const text = `${label}${subject}${where === "" ? "" : ` in ${where}`}${effect === "" ? "" : `; ${effect}`}`;
  const sign = SIGNS[kind];
  return [
    ...hanging(oneLine(text), `${sign} `, `${sign}   `),
    ...(names.length === 0 ? [] : hanging(oneLine(namesText(names, shown)), "      ", "      ")),
  ];
}

const LONG_NAMES = 12;

/** Returns the section about rules, of about a size at most. */
export function rulesBlock({ rules = [] }: ReviewInput, maxSize: number): string {
  const texts = ruleTexts(rules, maxSize);
  const lines = texts.map((text) => hanging(oneLine(text), "! ", "!   "));
  return block(`⚠️ ${rulesTitle(rules)}`, lines)
    .map((one) => blockText(one))
    .join("");
}

function problems({ views, unplanned }: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  const unread = groupUnread(unplanned).map(({ merchants, first }) => [
    ...hanging(oneLine(`${namesText(merchants)} could not be read`), "- ", "-   "),
    ...renderFailure(first, { ...PLAIN, columns: 96 }, merchants.length)
      .trimEnd()
      .split("\n")
      .map((line) => `    ${line}`),
  ]);
  const found = (text: string, { hint, place }: FindingView): readonly string[] => [
    ...hanging(oneLine(text), "- ", "-   "),
    ...(place === null ? [] : [`    written at ${oneLine(place)}`]),
    ...(hint === null ? [] : hanging(oneLine(hint), "    → ", "      ")),
  ];
  const items = [
    ...fleet.errors.map((group) => found(messageAt(fleet, group).message, group.item)),
    ...fleet.own.flatMap(({ view: { merchant, errors } }) =>
      errors.map((error) => found(`${merchant}: ${error.message}`, error)),
    ),
  ];
  const count = unplanned.length + views.reduce((sum, { errors }) => sum + errors.length, 0);
  return block(`❌ ${counted(count, "problem")} to fix before it can be applied`, [...unread, ...items]);
}

function refusals({ command }: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  const reasons = countReasons(fleet);
  const what =
    command === "drift"
      ? `Live access breaks ${counted(reasons, "rule")}`
      : `An apply would be refused, for ${counted(reasons, "reason")}`;
  const merchants = fleet.views.filter((view) => view.refusals.length > 0).length;
  const where = fleet.refusals.length > 0 ? `, at ${counted(merchants, "merchant")}` : "";
  return block(`⛔ ${what}${where}`, refusalItems(fleet));
}

function refusalItems(fleet: FleetView): readonly (readonly string[])[] {
  const refused = (text: string, { hint, override, place }: RefusalView): readonly string[] => [
    ...hanging(oneLine(text), "- ", "-   "),
    ...(place === null ? [] : [`    written at ${oneLine(place)}`]),
    ...hanging(oneLine(hint), "    → ", "      "),
    ...(override === null ? [] : [`    → To override: ${oneLine(override)}`]),
  ];
  const { commands, line } = fleet.overrides;
  return [
    ...fleet.refusals.map((group) => {
      const { rule, code, ...item } = messageAt(fleet, group);
      const [where = "", ...message] = item.message.split(": ");
      return refused(`${where}: ${rule} ${code}: ${message.join(": ")}`, {
        ...item,
        rule,
        code,
        override: null,
      });
    }),
    ...(commands.length === 0
      ? []
      : [
          [
            "  To override at all of them, in this run alone:",
            ...commands.map((one) => `    → ${oneLine(one)}`),
            ...(line === null
              ? []
              : [
                  "  or in git, in this run alone, under guards in a file that all of them include:",
                  `    ${oneLine(line)}`,
                ]),
          ],
        ]),
    ...fleet.own.flatMap(({ view: { merchant, refusals: all, overrides } }) => [
      ...all.map((one) => refused(`${merchant}: ${one.rule} ${one.code}: ${one.message}`, one)),
      ...(overrides === null
        ? []
        : [
            [
              `  ${oneLine(merchant)}: to override in git, for this plan alone, add under guards in the file:`,
              `    ${oneLine(overrides)}`,
            ],
          ]),
    ]),
  ];
}

function riskBlock(fleet: FleetView, risk: FleetRisk): readonly RiskBlock[] {
  const sign = risk.kind === "removals" ? "-" : "+";
  const isFleet = fleet.views.length >= MIN_FLEET;
  const title = isFleet ? fleetRiskTitle(risk) : riskTitle(risk.kind, risk.items, risk.origin);
  const items = risk.equal.flatMap((group): readonly string[] =>
    isFleet && group.places.length >= MIN_SHARED
      ? [riskText(fleet, risk, group)]
      : group.all.map(({ at, item: { name, what, resource } }) => {
          const merchant = fleet.views[at]?.merchant ?? "";
          return `${merchant}: ${resource} ${name}${what === "" ? "" : `: ${what}`}`;
        }),
  );
  return block(
    `⚠️ ${title}`,
    items.map((text) => hanging(oneLine(text), `${sign} `, `${sign}   `)),
  );
}

function block(title: string, items: readonly (readonly string[])[]): readonly RiskBlock[] {
  return items.length === 0 ? [] : [{ title, items }];
}

/** Width of lines in a comment: wider than a terminal, but without a scroll bar. */
const COLUMNS = 100;

/** A `diff` fence paints a line by its first character. */
const SIGNS = { create: "+", update: "!", replace: "!", delete: "-" } as const;

/** Returns gained and lost permissions as the lines of a diff, with people of equal changes together. */
export function peopleLines({ members }: Impact, origin: ChangeOrigin): readonly string[] {
  if (members.length === 0) return [];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `permissions of ${oneLine(role)} (not reported by the service)`);
  return [
    `# Access: ${accessText(members.length, origin)}`,
    ...sameImpact(members).flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const names = group.map(({ name }) => oneLine(name));
      return [
        ...signed("  ", wrapList(names, COLUMNS)),
        ...signed("+   ", wrapList([...first.gained.map(oneLine), ...unknown(first.unknownGained)], COLUMNS)),
        ...signed("-   ", wrapList([...first.lost.map(oneLine), ...unknown(first.unknownLost)], COLUMNS)),
      ];
    }),
  ];
}

/** The detail in which changes are shown. */
export interface ChangeDetail {
  /** Shows the changed fields. */
  readonly details: boolean;
  /** Shows each change of a member, or else only their number. */
  readonly members: boolean;
}

/** Returns the changes of a merchant as the lines of a diff, with deferred ones. */
export function changeLines(
  { groups, deferred }: PlanView,
  { details, members }: ChangeDetail,
): readonly string[] {
  const lines = groups.flatMap(({ title, rows }) => {
    const listed = members ? rows : rows.filter(({ resource }) => resource === "role");
    const hidden = countChanges(rows) - countChanges(listed);
    return [
      `# ${title}`,
      ...listed.flatMap((row) => [
        ...equalLines(row, details ? Number.POSITIVE_INFINITY : LONG_NAMES),
        ...(details && !isWhole(row) ? detailLines(row) : []),
      ]),
      ...(hidden > 0 ? [`  ${counted(hidden, "change")} of members`] : []),
    ];
  });
  const waiting = deferred.flatMap((row) => [
    `  ${row.kind} ${oneLine(row.name)} (${oneLine(row.until)})`,
    ...(details && row.kind !== "delete" ? detailLines(row) : []),
  ]);
  if (deferred.length === 0) return lines;
  return [...lines, "# Deferred", ...(members ? waiting : [`  ${counted(deferred.length, "removal")}`])];
}

function countChanges(rows: readonly RowView[]): number {
  return rows.reduce((sum, { equal }) => sum + (equal?.changes ?? 1), 0);
}

/** Returns the warnings, and the variables that an apply reads passwords from. */
export function warningLines({ warnings, passwords }: PlanView): readonly string[] {
  const texts = warnings.map(
    ({ severity, message, hint, place }) =>
      `${severity}: ${message}${place === null ? "" : ` (written at ${place})`}${hint === null ? "" : ` → ${hint}`}`,
  );
  if (passwords.length > 0) texts.push(`An apply reads first passwords from ${passwords.join(", ")}.`);
  return texts.flatMap((text) => hanging(oneLine(text)));
}

/** Returns a text as lines with a hanging indent. */
function hanging(text: string, first = "", rest = "    "): readonly string[] {
  return wrapText(text, COLUMNS).map((line, index) => `${index === 0 ? first : rest}${line}`);
}

function headOf({ kind, verb = kind, resource, name, remark }: RowView): string {
  const note = remark === "" ? "" : ` (${oneLine(remark)})`;
  return `${SIGNS[kind]} ${verb === kind ? `${kind} ${resource}` : `${verb}: ${resource}`} ${oneLine(name)}${note}`;
}

function detailLines({ kind, details }: RowView): readonly string[] {
  const sign = kind === "create" ? "+" : kind === "delete" ? "-" : " ";
  return details.flatMap((detail) => [
    ...labelled("-", detail, detail.words === undefined ? detail.removed : []),
    ...labelled("+", detail, detail.words === undefined ? detail.added : []),
    ...labelled("!", detail, detail.words === undefined ? [] : [wordDiffText(detail.words)]),
    ...labelled(sign, detail, detail.plain),
  ]);
}

function labelled(sign: string, { label }: DetailView, items: readonly string[]): readonly string[] {
  const safe = items.map(oneLine);
  // A description or a metadata value has a line of its own; names are listed on one line.
  const listed = label === "permissions" || label === "roles";
  const rows = listed ? wrapList(safe, COLUMNS) : safe.flatMap((item) => wrapText(item, COLUMNS));
  return signed(`${sign}     ${label}: `, rows, `${sign}       `);
}

function signed(first: string, lines: readonly string[], rest = first): readonly string[] {
  return lines.map((line, index) => `${index === 0 ? first : rest}${line}`);
}

const DATES_SHOWN = 10;

/** Lists what time alone will bring, the earliest first and equal ones together; empty if there is nothing. */
export function datesText(dates: readonly DateView[]): string {
  const { lines, more } = dateLines(dates, DATES_SHOWN, inlineCode);
  if (lines.length === 0) return "";
  const listed = [...lines, ...(more > 0 ? [`and ${counted(more, "more date")}`] : [])];
  return `**Later**, by their dates, without another review:\n\n${listed.map((line) => `- ${line}`).join("\n")}`;
}

/** A merchant that could not be read, with the reason. */
export interface UnplannedView {
  readonly merchant: string;
  readonly failure: Failure;
}

/** The input of a review. */
export type ReviewInput = ReviewOf<"plan", PlanView> | ReviewOf<"drift", DriftView>;

interface ReviewOf<Command, View> {
  readonly command: Command;
  readonly views: readonly View[];
  readonly unplanned: readonly UnplannedView[];
  /** The number of errors in the files. */
  readonly fileErrors: number;
  /** True if the approval of the plans could not be stored. */
  readonly unstored?: boolean;
  /** The fingerprint over all plans of the run. */
  readonly run?: string;
  /** Merchants that are no longer managed; absent if it is not known. */
  readonly unmanaged?: readonly UnmanagedMerchant[];
  /** The rules that are looser than those of the base branch; absent if they are not compared. */
  readonly rules?: readonly RuleLine[];
}

/** A merchant whose file is gone, and why; plain text. */
export interface UnmanagedMerchant {
  readonly merchant: string;
  readonly reason: string;
}
