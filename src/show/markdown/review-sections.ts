import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Failure } from "../../model/errors.ts";
import { blockLines } from "../blocks/text-blocks.ts";
import { failureBlocks, groupUnread } from "../documents/failure.ts";
import { remedies } from "../documents/remedies.ts";
import { PLAIN } from "../style.ts";
import { dateLines, type LaterView } from "../view/date-lines.ts";
import type { DriftView } from "../view/drift-view.ts";
import { brokenRules } from "../view/drift-view.ts";
import { groupEqual, MIN_SHARED } from "../view/equal-changes.ts";
import { equalGroups, fleetRiskTitle, messageAt, riskText } from "../view/equal-text.ts";
import { countReasons, type FleetRisk, type FleetView, MIN_FLEET } from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import {
  type DeferredView,
  type FindingView,
  type GroupView,
  joinSame,
  type PlanView,
  type RefusalView,
} from "../view/plan-view.ts";
import { riskTitle } from "../view/risk-view.ts";
import { type RuleLine, rulesTitle, ruleTexts } from "../view/rules-view.ts";
import { blockText, type RiskBlock } from "./fit-review.ts";
import { inlineCode } from "./markdown-blocks.ts";
import { countChanges, detailLines, equalLines, hanging, isWhole, NAMES_IN_LINE } from "./merchant-fold.ts";

/** Returns the problems, refusals, equal changes and risks of all merchants, in that order. */
export function groupRisks(input: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  return [
    ...problems(input, fleet),
    ...refusals(input, fleet),
    ...equalGroups(fleet).map((group) => equalBlock(group, input)),
    ...(fleet.deferred.length > 0 ? [deferredBlock(fleet.deferred)] : []),
    ...fleet.risks.flatMap((risk) => riskBlock(fleet, risk)),
    ...block(
      "Warnings at several merchants",
      fleet.warnings.map((group) => findingLines(messageAt(fleet, group).message, group.item)),
    ),
  ];
}

/** Returns the equal changes of several merchants: each in a line, with its details if these are longer. */
function equalBlock({ title, rows }: GroupView, { command }: ReviewInput): RiskBlock {
  const changes = counted(countChanges(rows), "change");
  const what =
    command === "drift" ? `${title}: ${changes}` : `${changes} that are the same at several merchants`;
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

/** Returns the section about rules, of approximately a maximum size. */
export function rulesBlock({ rules = [] }: ReviewInput, maxSize: number): string {
  const texts = ruleTexts(rules, maxSize);
  const lines = texts.map((text) => hanging(oneLine(text), "! ", "!   "));
  return block(`⚠️ ${rulesTitle(rules)}`, lines)
    .map((block) => blockText(block))
    .join("");
}

function problems({ views, unplanned }: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  const unread = groupUnread(unplanned).map(({ merchants, first, attempts }) => [
    ...hanging(oneLine(`${namesText(merchants)} could not be read`), "- ", "-   "),
    ...blockLines(failureBlocks(first, merchants.length, attempts), { ...PLAIN, columns: 100 }, "    "),
  ]);
  const items = [
    ...fleet.errors.map((group) => findingLines(messageAt(fleet, group).message, group.item)),
    ...fleet.own.flatMap(({ view: { merchant, errors } }) =>
      joinSame(errors).map((error) => findingLines(`${merchant}: ${error.message}`, error)),
    ),
  ];
  const count = unplanned.length + views.reduce((sum, { errors }) => sum + errors.length, 0);
  return block(`❌ ${counted(count, "problem")} to fix before it can be applied`, [...unread, ...items]);
}

function findingLines(text: string, finding: FindingView): readonly string[] {
  const sign = finding.severity === "error" ? "-" : "!";
  return [
    ...hanging(oneLine(text), `${sign} `, `${sign}   `),
    ...blockLines(remedies(finding), DIFF, "    "),
  ];
}

/** The style of blocks inside a diff. */
const DIFF = { ...PLAIN, columns: 106 };

function refusals({ command }: ReviewInput, fleet: FleetView): readonly RiskBlock[] {
  const what =
    command === "drift"
      ? `Live access breaks ${counted(brokenRules(fleet.views), "rule")}`
      : `An apply would be refused, for ${counted(countReasons(fleet), "reason")}`;
  const merchants = fleet.views.filter((view) => view.refusals.length > 0).length;
  const where = fleet.refusals.length > 0 ? `, at ${counted(merchants, "merchant")}` : "";
  return block(`⛔ ${what}${where}`, refusalItems(fleet));
}

function refusalItems(fleet: FleetView): readonly (readonly string[])[] {
  const refused = (text: string, refusal: RefusalView): readonly string[] => [
    ...hanging(oneLine(text), "- ", "-   "),
    ...blockLines(remedies(refusal), DIFF, "    "),
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
            "  To override at all of them, for this run only:",
            ...commands.map((command) => `    → ${oneLine(command)}`),
            ...(line === null
              ? []
              : [
                  "  or, in git, for this run only, under guards in a file that all of them include:",
                  `    ${oneLine(line)}`,
                ]),
          ],
        ]),
    ...fleet.own.flatMap(({ view: { merchant, refusals, overrides } }) => [
      ...refusals.map((refusal) =>
        refused(`${merchant}: ${refusal.rule} ${refusal.code}: ${refusal.message}`, refusal),
      ),
      ...(overrides === null
        ? []
        : [
            [
              `  ${oneLine(merchant)}: to override in git, add under guards in the file:`,
              `    ${oneLine(overrides)}`,
            ],
          ]),
    ]),
  ];
}

function riskBlock(fleet: FleetView, risk: FleetRisk): readonly RiskBlock[] {
  // Green would say that a gain is harmless.
  const sign = risk.kind === "removals" ? "-" : "!";
  const isFleet = fleet.views.length >= MIN_FLEET;
  const title = isFleet ? fleetRiskTitle(risk) : riskTitle(risk.kind, risk.items, risk.origin);
  const isShared = ({ places }: FleetRisk["equal"][number]): boolean =>
    isFleet && places.length >= MIN_SHARED;
  const shared = risk.equal.filter(isShared).map((group) => riskText(fleet, risk, group));
  const ownRisks = risk.equal.filter((group) => !isShared(group)).flatMap(({ all }) => all);
  const texts = (shown: number): readonly (readonly string[])[] =>
    [...shared, ...ownRiskTexts(fleet, risk.kind, ownRisks, shown)].map((text) =>
      hanging(oneLine(text), `${sign} `, `${sign}   `),
    );
  const items = texts(Number.POSITIVE_INFINITY);
  return items.length === 0 ? [] : [{ title: `⚠️ ${title}`, items, shortItems: texts(NAMES_IN_LINE) }];
}

type OwnRisks = FleetRisk["equal"][number]["all"];

/** Returns a line for the removals of each merchant, and for equal other risks there. */
function ownRiskTexts(
  { views }: FleetView,
  kind: FleetRisk["kind"],
  risks: OwnRisks,
  shown: number,
): readonly string[] {
  const nameText = (occurrences: OwnRisks): string =>
    groupEqual(occurrences, ({ item }) => item.resource)
      .map(
        ({ names, item: { resource } }) =>
          `${names.length === 1 ? resource : `${resource}s`} ${namesText(names, shown)}`,
      )
      .join(", ");
  const label = ({ what }: OwnRisks[number]["item"]): string =>
    what === "" ? "" : kind === "removals" ? ` (${what})` : `: ${what}`;
  return groupEqual(risks, ({ at }) => String(at)).flatMap(({ all: here, places: [at = 0] }) => {
    const merchant = views[at]?.merchant ?? "";
    const texts = groupEqual(here, ({ item }) => item.what).map(
      ({ all, item }) => `${nameText(all)}${label(item)}`,
    );
    return (kind === "removals" ? [texts.join("; ")] : texts).map((text) => `${merchant}: ${text}`);
  });
}

function block(title: string, items: readonly (readonly string[])[]): readonly RiskBlock[] {
  return items.length === 0 ? [] : [{ title, items }];
}

const DATES_SHOWN = 10;

const LATER_HEAD = "**Later**, on the dates in the files, without another review:";

/** Lists the effects of future dates, the earliest first and equal ones together; empty if there are none. */
export function datesText(later: readonly LaterView[], head = LATER_HEAD): string {
  const { lines, more, refused } = dateLines(later, DATES_SHOWN, inlineCode);
  if (lines.length === 0) return "";
  const listed = [
    ...lines,
    ...(more > 0 ? [`and ${counted(more, "more date")}`] : []),
    ...refused.map((line) => `⛔ ${line}`),
  ];
  return `${head}\n\n${listed.map((line) => `- ${line}`).join("\n")}`;
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
  /** Changes that dates in the files bring soon. */
  readonly later?: readonly LaterView[];
}

/** A merchant without a file, and the reason; plain text. */
export interface UnmanagedMerchant {
  readonly merchant: string;
  readonly reason: string;
}
