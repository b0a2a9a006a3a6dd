import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, groupByKey, grouped } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Style } from "../style.ts";
import { wrapOnTerminal } from "./wrap.ts";

/** Formats diagnostics: location, message, code frame and hint of each, equal ones once, then the totals. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return "";
  return `${joinEqual(diagnostics)
    .map((equal) => renderDiagnostic(equal, style))
    .join("\n")}\n${tally(diagnostics)}\n`;
}

/** Those that differ from the first only in location and person; empty if they are shown separately. */
type EqualDiagnostics = readonly [first: Diagnostic, ...others: Diagnostic[]];

/**
 * Joins diagnostics that differ only in their locations and the people they name, or that concern one rule of a file
 * that many include, if there are enough of them.
 */
function joinEqual(diagnostics: readonly Diagnostic[]): readonly EqualDiagnostics[] {
  const equal = groupByKey(diagnostics, kindOfDiagnostic).flatMap((group): readonly EqualDiagnostics[] =>
    group.length < JOINED_FROM ? group.map((diagnostic) => [diagnostic]) : [group],
  );
  const sorted = new Map(diagnostics.map((diagnostic, index) => [diagnostic, index]));
  return groupByKey(equal, ([diagnostic]) => `${diagnostic.code} ${placeOf(diagnostic)}`)
    .flatMap((groups): readonly EqualDiagnostics[] => {
      const [first, ...others] = groups;
      return groups.length < JOINED_FROM ? groups : [[...first, ...others.flat()]];
    })
    .toSorted(([a], [b]) => (sorted.get(a) ?? 0) - (sorted.get(b) ?? 0));
}

const JOINED_FROM = 3;

function kindOfDiagnostic({ severity, code, message, hint }: Diagnostic): string {
  return JSON.stringify([severity, code, withoutPerson(message), hint && withoutPerson(hint)]);
}

/** Returns a text with a placeholder for the address, if it names just one. */
function withoutPerson(text: string): string {
  const addresses = text.match(ADDRESS) ?? [];
  return addresses.length === 1 ? text.replace(ADDRESS, "@") : text;
}

const ADDRESS = /[^\s"'(),<>[\]]+@[^\s"'(),<>[\]]+/g;

function renderDiagnostic([diagnostic, ...repetitions]: EqualDiagnostics, style: Style): string {
  const { severity, code, message, frame, hint } = diagnostic;
  const paint = severity === "error" ? style.red : style.yellow;
  const text = `${paint(severity)}: ${oneLine(message)} ${style.dim(`[${code}]`)}`;
  const lines = [...wrapOnTerminal(text, style, `${style.bold(placeOf(diagnostic))}: `, "  ")];
  if (frame !== undefined) lines.push(...frameLines(frame, style).map((line) => `  ${style.dim(line)}`));
  const place = placeOf(diagnostic);
  const elsewhere = repetitions.filter((repetition) => placeOf(repetition) !== place);
  const here = repetitions.length - elsewhere.length;
  if (elsewhere.length > 0) lines.push(...wrapOnTerminal(alsoIn(elsewhere), style, "  ", "    "));
  if (here > 0)
    lines.push(
      ...wrapOnTerminal(
        `The same line has ${counted(here, `more ${severity}`)}: "rolecall validate" and "rolecall lint" list them with --format json.`,
        style,
        "  ",
        "    ",
      ),
    );
  if (hint !== undefined)
    lines.push(...wrapOnTerminal(oneLine(hint), style, `  ${style.cyan("→")} `, "    "));
  return `${lines.join("\n")}\n`;
}

/** Returns the lines of a frame; on a terminal cut to its width around the carets, which stay below what they mark. */
function frameLines(frame: string, { columns, onTerminal }: Style): readonly string[] {
  const lines = frame.split("\n").map(oneLine);
  const width = columns - FRAME_INDENT;
  if (!onTerminal || lines.every((line) => cellWidth(line) <= width)) return lines;
  const [head = "", before = "", marks = ""] = lines.flatMap((line) => [
    ...(/^( +\| )( *)(\^+)$/.exec(line)?.slice(1) ?? []),
  ]);
  const room = width - head.length - 2;
  const isVisible = before.length + marks.length <= room;
  const from = isVisible ? 0 : Math.max(0, before.length - Math.floor(room / 3));
  return lines.map((line) => {
    // A wide character fills two cells, of which the second is empty.
    const cells = [...line.slice(head.length)].flatMap((character) =>
      cellWidth(character) > 1 ? [character, ""] : [character],
    );
    const isMark = cells.every((cell) => cell === "^" || cell === " ");
    const cut = isMark ? " " : CUT;
    const shown = cells.slice(from, from + room).join("");
    const rest = cells.length > from + room && !isMark ? CUT : "";
    return `${line.slice(0, head.length)}${from > 0 ? cut : ""}${shown}${rest}`.trimEnd();
  });
}

const FRAME_INDENT = 2;
const CUT = "…";

/** "Also at access/a.yaml:3:1, access/b.yaml:3:1 and 295 more." */
function alsoIn(diagnostics: readonly Diagnostic[]): string {
  const most = diagnostics.length > MOST_PLACES ? PLACES_SHOWN : MOST_PLACES;
  const shown = diagnostics.slice(0, most).map(placeOf).join(", ");
  const more = diagnostics.length - most;
  return `Also at ${shown}${more > 0 ? ` and ${grouped(more)} more` : ""}.`;
}

const MOST_PLACES = 30;
/** The number of places that are shown of more than `MOST_PLACES`. */
const PLACES_SHOWN = 3;

function placeOf({ file, span }: Diagnostic): string {
  return span ? `${oneLine(file)}:${span.line}:${span.column}` : oneLine(file);
}

/** "2 errors, 1 warning". */
function tally(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = diagnostics.length - errors;
  return [errors > 0 ? counted(errors, "error") : "", warnings > 0 ? counted(warnings, "warning") : ""]
    .filter((part) => part !== "")
    .join(", ");
}
