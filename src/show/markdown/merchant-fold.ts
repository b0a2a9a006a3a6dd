import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { MemberImpact } from "../../model/plan.ts";
import { cutList } from "../blocks/cut-list.ts";
import { accessText, sameImpact } from "../text/impact-text.ts";
import { wrapList, wrapText } from "../text/wrap.ts";
import { type DetailView, type RowView, wordDiffText } from "../view/change-view.ts";
import { LISTED, withEffects } from "../view/effects.ts";
import { cutRows, hiddenRowsText } from "../view/equal-changes.ts";
import { equalText } from "../view/equal-text.ts";
import { namesText } from "../view/names-text.ts";
import type { PlanView } from "../view/plan-view.ts";
import { fenced, folded } from "./markdown-blocks.ts";

/** The part of one merchant, which can be folded. */
export interface MerchantFold {
  /** HTML. */
  readonly summary: string;
  readonly isOpen: boolean;
  readonly view: PlanView;
  /** People with the same changes of access. */
  readonly people: readonly (readonly MemberImpact[])[];
  /** The length of its longest list of names. */
  readonly names: number;
  /** The length of its longest list of changes, groups of people, or warnings. */
  readonly rows: number;
}

/** The number of names in a line above the parts of single merchants, which have all of them. */
export const NAMES_IN_LINE = 12;

/** The extent to which a merchant is shown. */
export interface FoldDetail {
  /** The number of names in a list. */
  readonly names: number;
  /** The number of changes, of groups of people, and of warnings. */
  readonly rows: number;
  /** Shows the changed fields. */
  readonly fields: boolean;
}

/** Shows a merchant in full. */
export const WHOLE: FoldDetail = {
  names: Number.POSITIVE_INFINITY,
  rows: Number.POSITIVE_INFINITY,
  fields: true,
};

/** Returns the part of a merchant. */
export function foldOf(wholeView: PlanView, summary: string, isOpen: boolean): MerchantFold {
  const view = withEffects(wholeView);
  const changes = view.groups.flatMap(({ rows }) => rows);
  const people = sameImpact(view.impact.members);
  const longest = (lists: readonly (readonly unknown[])[]): number =>
    lists.reduce((most, { length }) => Math.max(most, length), 0);
  const names = longest([...people, ...changes.map(namesOf), view.passwords]);
  const rows = longest([changes, people, view.deferred, view.warnings]);
  return { summary, isOpen, view, people, names, rows };
}

function namesOf({ equal }: RowView): readonly string[] {
  return equal?.names ?? [];
}

/** Returns the text of a merchant's part: what people gain and lose, the changes, the warnings. */
export function foldText({ summary, isOpen, view, people }: MerchantFold, detail: FoldDetail): string {
  const blocks = [
    fencedLines("diff", peopleLines(view, people, detail)),
    fencedLines("diff", changeLines(view, detail)),
    fencedLines("text", warningLines(view, detail)),
  ];
  return folded(summary, blocks.flat(), isOpen);
}

function fencedLines(info: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [fenced(info, lines)];
}

/** Returns gained and lost permissions as the lines of a diff, with people of equal changes together. */
function peopleLines(
  { impact: { members, sensitive = [] }, origin }: PlanView,
  people: MerchantFold["people"],
  { names, rows }: FoldDetail,
): readonly string[] {
  if (members.length === 0) return [];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `permissions of ${oneLine(role)} (not reported by the service)`);
  const { shown, hidden } = cutList(people, rows);
  const isSensitive = (permission: string): boolean => sensitive.includes(permission);
  return [
    `# Access: ${accessText(members.length, origin)}`,
    ...shown.flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { gained, lost, unknownGained, unknownLost } = first;
      const harmless = gained.filter((permission) => !isSensitive(permission));
      return [
        ...signed(
          "  ",
          wrapList(
            cutNames(
              group.map(({ name }) => oneLine(name)),
              names,
            ),
            COLUMNS,
          ),
        ),
        ...signed("!   ", wrapList(gained.filter(isSensitive).map(oneLine), COLUMNS)),
        ...signed("+   ", wrapList([...harmless.map(oneLine), ...unknown(unknownGained)], COLUMNS)),
        ...signed("-   ", wrapList([...lost.map(oneLine), ...unknown(unknownLost)], COLUMNS)),
      ];
    }),
    ...moreLines(
      hidden.reduce((sum, { length }) => sum + length, 0),
      "member",
    ),
  ];
}

/** Returns the changes of a merchant as the lines of a diff, with deferred ones. */
function changeLines({ groups, deferred }: PlanView, { names, rows, fields }: FoldDetail): readonly string[] {
  const cut = cutRows(groups, rows);
  const lines = cut.groups.flatMap((group) => [
    `# ${group.title}`,
    ...group.rows.flatMap((row) => [
      ...equalLines(row, names),
      ...(fields && !isWhole(row) ? detailLines(row) : []),
    ]),
  ]);
  const waiting = cutList(deferred, rows);
  return [
    ...lines,
    ...(cut.hidden.length > 0 ? [`  ${hiddenRowsText(cut.hidden)}`] : []),
    ...(deferred.length > 0 ? ["# Deferred"] : []),
    ...waiting.shown.flatMap((row) => [
      `  ${row.kind} ${oneLine(row.name)} (${oneLine(row.until)})`,
      ...(fields && row.kind !== "delete" ? detailLines(row) : []),
    ]),
    ...moreLines(waiting.hidden.length, "removal"),
  ];
}

/** Returns the warnings, and the variables that an apply reads passwords from. */
function warningLines({ warnings, passwords }: PlanView, { names, rows }: FoldDetail): readonly string[] {
  const { shown, hidden } = cutList(warnings, rows);
  const texts = shown.map(
    ({ severity, message, hint, place }) =>
      `${severity}: ${message}${place === null ? "" : ` (written at ${place})`}${hint === null ? "" : ` → ${hint}`}`,
  );
  const parts = [
    ...texts,
    ...moreLines(hidden.length, "warning"),
    ...(passwords.length > 0 ? [`An apply reads first passwords from ${namesText(passwords, names)}.`] : []),
  ];
  return parts.flatMap((text) => hanging(oneLine(text)));
}

function cutNames(names: readonly string[], most: number): readonly string[] {
  const { shown, hidden } = cutList(names, most);
  return hidden.length === 0 ? shown : [...shown, `and ${grouped(hidden.length)} more`];
}

function moreLines(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`  … and ${counted(count, `more ${what}`)}`];
}

/** Width of lines in a comment: wider than a terminal, but without a scroll bar. */
const COLUMNS = 100;

/** A `diff` fence paints a line by its first character. */
const SIGNS = { create: "+", update: "!", replace: "!", delete: "-" } as const;

/** Returns the number of changes that rows stand for. */
export function countChanges(rows: readonly RowView[]): number {
  return rows.reduce((sum, { equal }) => sum + (equal?.changes ?? 1), 0);
}

/** Returns a text as lines with a hanging indent. */
export function hanging(text: string, first = "", rest = "    "): readonly string[] {
  return wrapText(text, COLUMNS).map((line, index) => `${index === 0 ? first : rest}${line}`);
}

function headOf({ kind, verb = kind, resource, name, remark }: RowView): string {
  const note = remark === "" ? "" : ` (${oneLine(remark)})`;
  return `${SIGNS[kind]} ${verb === kind ? `${kind} ${resource}` : `${verb}: ${resource}`} ${oneLine(name)}${note}`;
}

/** Returns the fields of a change as the lines of a diff. */
export function detailLines({ kind, details }: RowView): readonly string[] {
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
  const listed = LISTED.has(label);
  const rows = listed ? wrapList(safe, COLUMNS) : safe.flatMap((item) => wrapText(item, COLUMNS));
  return signed(`${sign}     ${label}: `, rows, `${sign}       `);
}

function signed(first: string, lines: readonly string[], rest = first): readonly string[] {
  return lines.map((line, index) => `${index === 0 ? first : rest}${line}`);
}

/** Returns whether the line of a row has its details. */
export function isWhole(row: RowView): boolean {
  return row.equal !== undefined && equalText(row, row.equal).whole;
}

/** Returns a change, or equal ones with their names, as the lines of a diff. */
export function equalLines(row: RowView, shown: number = NAMES_IN_LINE): readonly string[] {
  const { kind, verb, equal } = row;
  if (equal === undefined) return [headOf(row)];
  const { title, effect, names, values, whole } = equalText(row, equal);
  const label = verb !== undefined ? `${verb}: ` : whole ? "" : `${kind} `;
  const text = `${label}${title}${effect === "" ? "" : `; ${effect}`}`;
  const sign = SIGNS[kind];
  return [
    ...hanging(oneLine(text), `${sign} `, `${sign}   `),
    ...(values.length > 0
      ? cutNames(values, shown).flatMap((text) => hanging(oneLine(text), "      ", "        "))
      : names.length === 0
        ? []
        : hanging(oneLine(namesText(names, shown)), "      ", "      ")),
  ];
}
