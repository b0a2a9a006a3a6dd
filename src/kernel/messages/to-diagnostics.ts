import { escapeText } from "../../lib/escape.ts";
import { memoized } from "../../lib/memoized.ts";
import { cellWidth, groupByKey, grouped, listText } from "../../lib/text.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { Code, FileLocation, LocatedProblem, Location, ProblemData } from "../problems/problem.ts";
import { ruleOf, severityOf } from "../problems/rule-table.ts";
import { findKeys, maskKeys, maskRanges, type TextRange } from "../problems/secrets.ts";
import { createLocator, indexPositions, type Positions } from "../yaml/locate.ts";
import { judgedMessage, type MessageTable, type MessageText } from "./message-phrases.ts";
import { YAML_MESSAGES } from "./yaml-messages.ts";

// More than anybody reads; each one costs a search for its location and a frame.
const MAX_PROBLEMS = 1000;

/** Converts problems to diagnostics, sorted by location, with the messages of their kinds; `texts` has the readable files by name. */
export function toDiagnostics<Data extends ProblemData>(
  texts: ReadonlyMap<string, string>,
  problems: readonly LocatedProblem<Data>[],
  messages: MessageTable<Data["code"] | "too-many-problems">,
): readonly Diagnostic[] {
  const byFile = groupByFile(problems as readonly LocatedProblem[]);
  const mapOf = memoized((file: string) => openFile(texts.get(file) ?? "", byFile.get(file) ?? []));
  return [...byFile]
    .flatMap(([file, ofFile]) =>
      limit(ofFile, file).map((problem): Diagnostic => {
        const map = mapOf(file);
        const span = problem.location.at === "file" ? null : map.span(problem.location);
        const first =
          problem.first === undefined ? "" : whereIs(problem.first.file, file, problem.first, mapOf);
        const rule = problem.rule && placeIn(problem.rule, mapOf);
        const { message, hint } = messageOf(problem, messages, first, rule);
        return {
          code: problem.code,
          severity: severityOf(problem),
          ...(ruleOf(problem).refusal === true ? { refusal: true } : {}),
          message: clean(message),
          ...(hint === undefined ? {} : { hint: clean(hint) }),
          file,
          ...(span === null ? {} : { span }),
          ...(span === null || map.empty ? {} : { frame: renderFrame(map.positions, span) }),
        };
      }),
    )
    .toSorted(byPlace)
    .filter((each, index, diagnostics) => !sameDiagnostic(each, diagnostics[index - 1]));
}

/** A finding with its message, at its location. */
export interface WordedFinding {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly location: FileLocation;
}

/** Converts findings to warnings, sorted by location, and counts those of a file that are too many; `texts` has the files by name. */
export function findingDiagnostics(
  texts: ReadonlyMap<string, string>,
  findings: readonly WordedFinding[],
): readonly Diagnostic[] {
  return groupByKey(findings, ({ location }) => location.file)
    .flatMap((ofFile): readonly Diagnostic[] => {
      const { file } = ofFile[0].location;
      const map = openFile(texts.get(file) ?? "", []);
      const shown = ofFile.slice(0, MAX_PROBLEMS).map(({ code, message, hint, location }): Diagnostic => {
        const span = map.span(location);
        const frame = map.empty ? {} : { frame: renderFrame(map.positions, span) };
        return {
          code,
          severity: "warning",
          message: clean(message),
          hint: clean(hint),
          file,
          span,
          ...frame,
        };
      });
      const more = ofFile.length - shown.length;
      return more === 0 ? shown : [...shown, ...toDiagnostics(texts, [tooMany(more, file)], YAML_MESSAGES)];
    })
    .toSorted(byPlace);
}

/** Compares two neighbours, which are equal if an alias repeats a value. */
function sameDiagnostic(a: Diagnostic, b: Diagnostic | undefined): boolean {
  return b !== undefined && byPlace(a, b) === 0 && a.message === b.message && a.hint === b.hint;
}

/** Compares diagnostics by file, line, column and code. */
export function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (
    compare(a.file, b.file) ||
    compare(a.span?.line ?? 0, b.span?.line ?? 0) ||
    compare(a.span?.column ?? 0, b.span?.column ?? 0) ||
    compare(a.code, b.code)
  );
}

function groupByFile(problems: readonly LocatedProblem[]): ReadonlyMap<string, readonly LocatedProblem[]> {
  const groups = new Map<string, LocatedProblem[]>();
  for (const problem of problems) {
    const { file } = problem.location;
    const group = groups.get(file);
    if (group === undefined) {
      groups.set(file, [problem]);
    } else {
      group.push(problem);
    }
  }
  return groups;
}

/** The positions of one text, with its secrets masked. */
interface FileMap {
  readonly empty: boolean;
  readonly positions: Positions;
  span(location: Location): ReturnType<Positions["span"]>;
}

function openFile(text: string, problems: readonly LocatedProblem[]): FileMap {
  const locator = createLocator(text);
  const rangeOf = (location: Location): TextRange => locator(location) ?? { start: 0, end: 0 };
  const secrets = problems.flatMap(({ hidden }) => (hidden === undefined ? [] : [rangeOf(hidden)]));
  // The same length and lines as the text itself, so one index serves both.
  const positions = indexPositions(maskRanges(text, [...findKeys(text), ...secrets]));
  return {
    empty: text === "",
    positions,
    span: (location) => {
      const { start, end } = rangeOf(location);
      return positions.span(start, end);
    },
  };
}

/** Names a location by its line, and by its file if that is another one. */
function whereIs(file: string, from: string, location: Location, mapOf: (file: string) => FileMap): string {
  if (location.at === "file") {
    return file;
  }
  const { line } = mapOf(file).span(location);
  return file === from ? `line ${line}` : `${file}:${line}`;
}

/** Names a location by its file, line and column. */
function placeIn({ file, ...location }: FileLocation, mapOf: (file: string) => FileMap): string {
  if (location.at === "file") return file;
  const { line, column } = mapOf(file).span(location);
  return `${file}:${line}:${column}`;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}

// Messages repeat some texts of a file, and a hostile text may be endless.
const MAX_MESSAGE = 1000;

function clean(text: string): string {
  const safe = maskKeys(escapeText(text));
  return safe.length > MAX_MESSAGE ? `${safe.slice(0, MAX_MESSAGE)}…` : safe;
}

function limit(problems: readonly LocatedProblem[], file: string): readonly LocatedProblem[] {
  if (problems.length <= MAX_PROBLEMS) {
    return problems;
  }
  const more = problems.length - MAX_PROBLEMS;
  const errorsFirst = problems.toSorted((a, b) => compare(severityOf(a), severityOf(b)));
  return [...errorsFirst.slice(0, MAX_PROBLEMS), tooMany(more, file)];
}

function tooMany(
  more: number,
  file: string,
): LocatedProblem<Extract<ProblemData, { readonly code: "too-many-problems" }>> {
  return { code: "too-many-problems", more, location: { at: "text", file, start: 0, end: 0 } };
}

/**
 * Returns the message of a problem, not yet escaped; `first` is the location of the first occurrence, `rule` that of the
 * enforced rule.
 */
function messageOf(
  { via, alsoVia = [], ...problem }: LocatedProblem,
  messages: Partial<MessageTable<Code>>,
  first: string,
  rule?: string,
): MessageText {
  const words = ((messages as Readonly<Record<string, unknown>>)[problem.code] ?? judgedMessage) as (
    data: ProblemData,
    where: string,
  ) => MessageText;
  const { message: plain, hint } = words(problem, first);
  const message = rule === undefined ? plain : `${plain} Enforced by ${rule}.`;
  const included = via === undefined ? [] : [seenFrom([via, ...alsoVia])];
  const hints = [...(hint === undefined ? [] : [hint]), ...included];
  return hints.length === 0 ? { message } : { message, hint: hints.join(" ") };
}

function seenFrom(files: readonly string[]): string {
  if (files.length <= MAX_FILES) {
    return `Seen from ${listText(files)}, which ${files.length === 1 ? "includes" : "include"} this file.`;
  }
  const named = files.slice(0, FILES_NAMED);
  return `Seen from ${named.join(", ")} and ${grouped(files.length - named.length)} more files, which include this file.`;
}

const MAX_FILES = 30;
/** Number of files that are named of more than `MAX_FILES`. */
const FILES_NAMED = 3;

const LINES_BEFORE = 2;
const LINES_AFTER = 1;
const MAX_CELLS = 100;
const CELLS_BEFORE = 40;
const TAB = "    ";
// A hostile file may be one endless line; only this much of it is read, which is always more than is shown.
const MAX_CHARACTERS = 2000;
const CHARACTERS_BEFORE = 400;

/** Renders the numbered lines around a span, its first line marked and underlined; control characters are escaped. */
export function renderFrame(positions: Positions, span: Span): string {
  const first = Math.max(1, span.line - LINES_BEFORE);
  const last = Math.min(positions.lineCount, span.line + LINES_AFTER);
  const cut = span.column > MAX_CHARACTERS / 2 ? span.column - CHARACTERS_BEFORE : 0;
  const lineOf = (number: number) => positions.line(number).slice(cut, cut + MAX_CHARACTERS);
  const marked = markedCells(lineOf(span.line), {
    ...span,
    column: span.column - cut,
    endColumn: span.endColumn - cut,
  });
  const from = windowStart(marked);
  const gutter = String(last).length;
  const lines: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lineOf(number);
    // Readers do not count the empty line after the file's last line break as a line.
    if (number === positions.lineCount && positions.line(number) === "" && number !== span.line) {
      continue;
    }
    const marker = number === span.line ? ">" : " ";
    lines.push(`${marker} ${String(number).padStart(gutter)} | ${windowed(cellsOf(text), from)}`.trimEnd());
    if (number === span.line) {
      lines.push(`  ${" ".repeat(gutter)} | ${carets(marked, from)}`);
    }
  }
  return lines.join("\n");
}

/** A rendered character and its width, in cells. */
interface Cell {
  readonly text: string;
  readonly width: number;
}

// One cell for each character; most lines have no others.
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

function cellsOf(line: string): readonly Cell[] {
  if (PRINTABLE_ASCII.test(line)) return Array.from(line, (text) => ({ text, width: 1 }));
  return Array.from(line, (character) => {
    const text = character === "\t" ? TAB : escapeText(character);
    return { text, width: text === character ? cellWidth(character) : text.length };
  });
}

/** Returns the start and length of the underline, in cells. */
interface Marked {
  readonly start: number;
  readonly width: number;
  readonly total: number;
}

function markedCells(line: string, span: Span): Marked {
  const end = span.endLine === span.line ? span.endColumn : line.length + 1;
  const start = widthOf(line.slice(0, span.column - 1));
  const width = widthOf(line.slice(span.column - 1, end - 1));
  return { start, width: Math.max(1, width), total: widthOf(line) };
}

function widthOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  return cellsOf(text).reduce((sum, { width }) => sum + width, 0);
}

/** Returns the first visible cell; all lines of a frame scroll together, so that indentation stays comparable. */
function windowStart({ start, width, total }: Marked): number {
  return total <= MAX_CELLS || start + width < MAX_CELLS ? 0 : Math.max(0, start - CELLS_BEFORE);
}

const CUT = "…";

function windowed(cells: readonly Cell[], from: number): string {
  let shown = from > 0 ? CUT : "";
  let position = 0;
  for (const { text, width } of cells) {
    if (position >= from + MAX_CELLS) {
      return shown + CUT;
    }
    if (position >= from) {
      shown += text;
    } else if (position + width > from) {
      // Half of a wide character is cut off: keep the columns below it true.
      shown += " ".repeat(position + width - from);
    }
    position += width;
  }
  return shown;
}

function carets({ start, width }: Marked, from: number): string {
  const offset = start - from + (from > 0 ? 1 : 0);
  return " ".repeat(offset) + "^".repeat(Math.min(width, MAX_CELLS - (start - from)));
}
