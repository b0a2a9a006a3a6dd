import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, shellWord, shorten } from "../../lib/text.ts";
import type { MemberStatus, Membership } from "../../model/live.ts";
import type { Paint, Style, Verbosity } from "../style.ts";
import { hangingLines, moreText, padTo, wrapList } from "./wrap.ts";

/** The memberships of one key's user, compared with the files. */
export interface MembershipsView {
  readonly service: string;
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  /** Merchants first, then by id. */
  readonly memberships: readonly Membership[];
  /** Codes of the merchants with an accepted membership and no file. */
  readonly withoutFile: readonly string[];
  /** Merchants of the files that use this key without an accepted membership; `null` if a filter may hide some. */
  readonly notReached: readonly { readonly merchant: string; readonly file: string }[] | null;
}

/** Formats the memberships of each key; `anyFiles` is true if the project has files at all. */
export function renderMemberships(
  views: readonly MembershipsView[],
  { anyFiles, filtered }: { readonly anyFiles: boolean; readonly filtered: boolean },
  style: Style,
  verbosity: Verbosity,
): string {
  const blocks = views.map((view) =>
    [
      ...table(view.memberships, style),
      ...(view.memberships.length > 0 ? [""] : []),
      ...hangingLines(totalText(view, filtered), style.columns, "", "  "),
      ...withoutFileLines(view, anyFiles, style, verbosity),
      ...notReachedLines(view, style, verbosity),
    ].join("\n"),
  );
  return blocks.length === 0 ? "" : `${blocks.join("\n\n")}\n`;
}

function totalText({ memberships, keySource, service }: MembershipsView, filtered: boolean): string {
  const of = `of the key in ${oneLine(keySource)} at ${oneLine(service)}`;
  if (memberships.length === 0) return `No membership ${of}${filtered ? " matches" : ""}.`;
  const merchants = memberships.filter(isMerchant).length;
  const organizations = memberships.filter(({ resource }) => resource.type === "organization").length;
  const otherResources = memberships.length - merchants - organizations;
  const kinds = [
    ...(merchants > 0 ? [counted(merchants, "merchant")] : []),
    ...(organizations > 0 ? [counted(organizations, "organization")] : []),
    ...(otherResources > 0 ? [counted(otherResources, "other resource")] : []),
  ];
  return `${counted(memberships.length, "membership")} ${of}: ${kinds.join(", ")}.`;
}

function isMerchant({ resource }: Membership): boolean {
  return resource.type === "merchant";
}

/** Maximum number of merchants in a suggested command, to keep it readable. */
const MAX_SUGGESTED = 5;

function withoutFileLines(
  { withoutFile }: MembershipsView,
  anyFiles: boolean,
  style: Style,
  verbosity: Verbosity,
): readonly string[] {
  if (withoutFile.length === 0) return [];
  const suggested = withoutFile.slice(0, MAX_SUGGESTED).map((code) => shellWord(oneLine(code)));
  const command = anyFiles ? `rolecall pull ${suggested.join(" ")}` : "rolecall init";
  return [
    ...noted(
      `${counted(withoutFile.length, "merchant has", "merchants have")} no file:`,
      withoutFile.map((code) => oneLine(code)),
      style,
      verbosity,
    ),
    ...hangingLines(command, style.columns, `  ${style.cyan("→")} `, "    "),
  ];
}

function notReachedLines(
  { notReached }: MembershipsView,
  style: Style,
  verbosity: Verbosity,
): readonly string[] {
  if (notReached === null || notReached.length === 0) return [];
  const names = notReached.map(({ merchant, file }) => `${oneLine(merchant)} (${oneLine(file)})`);
  return [
    ...noted(
      `${counted(names.length, "file names a merchant", "files name merchants")} without an accepted membership:`,
      names,
      style,
      verbosity,
    ),
    ...hangingLines("rolecall doctor", style.columns, `  ${style.cyan("→")} `, "    "),
  ];
}

const MAX_NOTED = 10;

function noted(
  head: string,
  items: readonly string[],
  style: Style,
  verbosity: Verbosity,
): readonly string[] {
  const shown = verbosity === "verbose" ? items : items.slice(0, MAX_NOTED);
  const rest = items.length - shown.length;
  return [
    ...hangingLines(head, style.columns, "", "  ").map((line) => style.yellow(line)),
    ...wrapList(shown, style.columns - 2).map((line) => `  ${line}`),
    ...(rest > 0 ? [style.dim(`  ${moreText(rest)}`)] : []),
  ];
}

const HEAD = ["Code", "Name", "Type", "Status", "Roles"] as const;
const NAME = 1;
const STATUS = 3;
const ROLES = 4;
const GAP = 2;

/** Smallest width of the columns of names and of roles; on a narrower terminal each membership is a block of lines. */
const MIN_FLEXIBLE = 14;

function cellsOf({ resource, status, roles }: Membership): readonly string[] {
  const type = oneLine(resource.type);
  return [
    shorten(oneLine(resource.id)),
    shorten(oneLine(resource.name)) || "-",
    shorten(resource.sandbox === true ? `${type} (test)` : type),
    status,
    roles.map((role) => shorten(oneLine(role))).join(", ") || "-",
  ];
}

function table(memberships: readonly Membership[], style: Style): readonly string[] {
  if (memberships.length === 0) return [];
  const rows = memberships.map(cellsOf);
  const widths = widthsFor([HEAD, ...rows], style.columns);
  if (widths === null) return rows.flatMap((cells) => block(cells, style));
  const head = lineOf(HEAD, widths, (text) => text);
  return [
    style.dim(head),
    ...rows.flatMap((cells) => {
      const parts = cells.map((cell, index) => broken(cell, widths[index] ?? 0));
      const height = Math.max(...parts.map(({ length }) => length));
      return Array.from({ length: height }, (_, line) =>
        lineOf(
          parts.map((part) => part[line] ?? ""),
          widths,
          statusPaint(cells[STATUS], style),
        ),
      );
    }),
  ];
}

function lineOf(cells: readonly string[], widths: readonly number[], paintStatus: Paint): string {
  return cells
    .map((cell, index) => {
      const padded = index === ROLES ? cell : padTo(cell, widths[index] ?? 0);
      return index === STATUS && cell !== "" ? paintStatus(padded) : padded;
    })
    .join(" ".repeat(GAP))
    .trimEnd();
}

/** Returns the widths of the columns, where names and roles share what the others leave; `null` if that is too little. */
function widthsFor(rows: readonly (readonly string[])[], columns: number): readonly number[] | null {
  const natural = HEAD.map((_, index) => Math.max(...rows.map((row) => cellWidth(row[index] ?? ""))));
  const [name = 0, roles = 0] = [natural[NAME], natural[ROLES]];
  const fixed = natural.reduce((sum, width) => sum + width + GAP, -GAP) - name - roles;
  const flexible = columns - fixed;
  if (name + roles <= flexible) return natural;
  if (flexible < 2 * MIN_FLEXIBLE) return null;
  const half = Math.floor(flexible / 2);
  const forName = Math.min(name, Math.max(half, flexible - roles));
  return natural.map((width, index) =>
    index === NAME ? forName : index === ROLES ? Math.min(roles, flexible - forName) : width,
  );
}

function block(cells: readonly string[], style: Style): readonly string[] {
  const [code = "", name = "", type = "", status = "", roles = ""] = cells;
  const width = style.columns - 2;
  const paint = statusPaint(status, style);
  const [first = "", ...rest] = broken(`${code}  ${name}`, width);
  return [
    style.bold(first),
    ...[...rest, ...broken(`${type}, ${status}`, width).map(paint), ...broken(roles, width)].map(
      (line) => `  ${line}`,
    ),
  ];
}

/** Breaks a text into lines of at most `width` cells: at its spaces, and a longer word anywhere. */
function broken(text: string, width: number): readonly string[] {
  const words = text.split(" ").flatMap((word) => pieces(word, width));
  return wrapList(words, width, " ");
}

function pieces(word: string, width: number): readonly string[] {
  if (cellWidth(word) <= width) return [word];
  const pieceTexts: string[] = [];
  let piece = "";
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (cellWidth(piece + segment) > width) {
      pieceTexts.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return [...pieceTexts, piece];
}

function statusPaint(status: string | undefined, style: Style): Paint {
  return PAINTS[status as MemberStatus](style);
}

const PAINTS: Readonly<Record<MemberStatus, (style: Style) => Paint>> = {
  accepted: ({ green }) => green,
  pending: ({ yellow }) => yellow,
  expired: ({ yellow }) => yellow,
  disabled: ({ red }) => red,
  unknown: ({ dim }) => dim,
};
