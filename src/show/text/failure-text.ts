import { oneLine } from "../../lib/escape.ts";
import { cellWidth, counted, groupByKey, grouped } from "../../lib/text.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { ErrorCode, Failure, ProblemDetails } from "../../model/errors.ts";
import { PLAIN, type Style } from "../style.ts";
import { attemptsOf } from "../view/ending-view.ts";
import { hangingLines, wrapIfNarrow, wrapText } from "./wrap.ts";

/** Says which merchants could not be read or the like, and why: together those that failed for the same reason. */
export function renderUnread(
  done: string,
  failed: readonly { readonly merchant: string; readonly error: { readonly failure: Failure } }[],
  style: Style,
): string {
  const unread = failed.map(({ merchant, error }) => ({ merchant, failure: error.failure }));
  const parts = groupUnread(unread).map(({ first, merchants, attempts }) => {
    const shown = merchants.slice(0, MERCHANTS_SHOWN).map(oneLine).join(", ");
    const more = merchants.length - MERCHANTS_SHOWN;
    const names = more > 0 ? `${shown} and ${grouped(more)} more` : shown;
    const head = wrapText(`${names} could not be ${done}.`, style.columns).map(style.bold);
    return `${head.join("\n")}\n${renderFailure(first, style, merchants.length, attempts)}`;
  });
  return parts.join("\n");
}

/** The merchants that could not be read for the same reason. */
interface UnreadGroup {
  readonly first: Failure;
  readonly merchants: readonly string[];
  /** How often the requests were sent, the same number once. */
  readonly attempts: readonly number[];
}

/** Groups merchants whose failures are equal but for their codes and the number of attempts. */
export function groupUnread(
  failed: readonly { readonly merchant: string; readonly failure: Failure }[],
): readonly UnreadGroup[] {
  const kinds = groupByKey(failed, ({ merchant, failure }) => kindOf(failure).replaceAll(merchant, ""));
  return kinds.map((group) => ({
    first: group[0].failure,
    merchants: group.map(({ merchant }) => merchant),
    attempts: attemptsOf(group.map(({ failure }) => failure)),
  }));
}

const MERCHANTS_SHOWN = 10;

/** Formats a failure: the message, the service's whole Problem, and the next step. */
export function renderFailure(
  failure: Failure,
  style: Style,
  times = 1,
  attempts: readonly number[] = attemptsOf([failure]),
): string {
  const { message, hint, request } = failure;
  const problem = request?.problem;
  const head = times > 1 ? `error, ${counted(times, "time")}` : "error";
  const [first = "", ...more] = withoutDetail(message, problem).split("\n").map(oneLine);
  const lines = [
    ...wrapIfNarrow(first, style, `${style.red(head)}: `, "  "),
    ...more.flatMap((text) => wrapIfNarrow(text, style, "", "  ")),
  ];
  if (problem) {
    const fields = [
      ["type", problem.type],
      ["title", problem.title],
      ["status", problem.status?.toString()],
      ["detail", problem.detail],
      ["instance", problem.instance],
      ...(problem.extensions ?? []).map(({ name, value }) => [oneLine(name), value] as const),
    ] as const;
    for (const [name, value] of fields) {
      if (value !== undefined) lines.push(`  ${style.dim(`${name} `.padEnd(9))}${oneLine(value)}`);
    }
  }
  const [least = 0, most = least] = [attempts[0], attempts.at(-1)];
  if (most > 1) {
    const sent = least === most ? counted(most, "time") : `${grouped(least)} to ${grouped(most)} times`;
    lines.push(`  ${style.dim("sent".padEnd(9))}${sent}`);
  }
  const next = [...(hint === undefined ? [] : [hint]), ...(isConnectionProblem(failure) ? [DOCTOR] : [])];
  if (next.length > 0) {
    lines.push(...hangingLines(oneLine(next.join(" ")), style.columns, `  ${style.cyan("→")} `, "    "));
  }
  return `${lines.join("\n")}\n`;
}

const DOCTOR = 'Run "rolecall doctor" to find out what is wrong.';

/** The kinds of failures before the first request. */
const SETUP_PROBLEMS: ReadonlySet<ErrorCode> = new Set([
  "base-url-missing",
  "key-missing",
  "key-malformed",
  "key-environment",
]);

/** The kinds of failures of reads that `doctor` can say more about. */
const READ_PROBLEMS: ReadonlySet<ErrorCode> = new Set(["unauthorized", "forbidden", "network", "timeout"]);

/** Returns whether `doctor` can say more; after a write it comes first to see what has become of it. */
function isConnectionProblem({ code, request }: Failure): boolean {
  return request === undefined
    ? SETUP_PROBLEMS.has(code)
    : request.method === "GET" && READ_PROBLEMS.has(code);
}

/** Removes the detail from the end of a message, since the Problem follows. */
function withoutDetail(message: string, problem: ProblemDetails | undefined): string {
  const said = [problem?.detail, problem?.title, problem?.type].find((text) => text !== undefined);
  return said && message.endsWith(`: ${said}`) ? `${message.slice(0, -`: ${said}`.length)}.` : message;
}

function kindOf({ code, message, hint, request }: Failure): string {
  const { instance: _, extensions: __, ...problem } = request?.problem ?? { type: null };
  const words = request ? message.replaceAll(request.path, "") : message;
  return JSON.stringify([code, words, hint, problem]);
}

/** Formats diagnostics: location, message, code frame and hint of each, equal ones once, then the totals. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return "";
  return `${joinEqual(diagnostics)
    .map((equal) => renderDiagnostic(equal, style))
    .join("\n")}\n${tally(diagnostics)}\n`;
}

/** Distinct from the first in nothing but the location; without others if they are shown by themselves. */
type EqualDiagnostics = readonly [first: Diagnostic, ...others: Diagnostic[]];

/** Joins the diagnostics that differ only in their locations, if there are enough of them. */
function joinEqual(diagnostics: readonly Diagnostic[]): readonly EqualDiagnostics[] {
  const kinds = new Map<string, [Diagnostic, ...Diagnostic[]]>();
  for (const diagnostic of diagnostics) {
    const kind = kindOfDiagnostic(diagnostic);
    const equal = kinds.get(kind);
    if (equal) equal.push(diagnostic);
    else kinds.set(kind, [diagnostic]);
  }
  return diagnostics.flatMap((diagnostic): readonly EqualDiagnostics[] => {
    const equal = kinds.get(kindOfDiagnostic(diagnostic));
    if (equal === undefined || equal.length < JOINED_FROM) return [[diagnostic]];
    return equal[0] === diagnostic ? [equal] : [];
  });
}

const JOINED_FROM = 3;

function kindOfDiagnostic({ severity, code, message, hint }: Diagnostic): string {
  return JSON.stringify([severity, code, message, hint]);
}

function renderDiagnostic([diagnostic, ...repetitions]: EqualDiagnostics, style: Style): string {
  const { severity, code, message, frame, hint } = diagnostic;
  const paint = severity === "error" ? style.red : style.yellow;
  const head = `${style.bold(placeOf(diagnostic))}: ${paint(severity)}: `;
  const lines = [...wrapIfNarrow(`${oneLine(message)} ${style.dim(`[${code}]`)}`, style, head, "  ")];
  if (frame !== undefined) lines.push(...frameLines(frame, style).map((line) => `  ${style.dim(line)}`));
  if (repetitions.length > 0) lines.push(...wrapIfNarrow(alsoIn(repetitions), style, "  ", "    "));
  if (hint !== undefined) lines.push(...wrapIfNarrow(oneLine(hint), style, `  ${style.cyan("→")} `, "    "));
  return `${lines.join("\n")}\n`;
}

/** Returns the lines of a frame; on a narrow terminal cut around the carets, which stay below what they mark. */
function frameLines(frame: string, { columns }: Style): readonly string[] {
  const lines = frame.split("\n").map(oneLine);
  const width = columns - FRAME_INDENT;
  if (columns >= PLAIN.columns || lines.every((line) => cellWidth(line) <= width)) return lines;
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
  const shown = diagnostics.slice(0, PLACES_SHOWN).map(placeOf).join(", ");
  const more = diagnostics.length - PLACES_SHOWN;
  return `Also at ${shown}${more > 0 ? ` and ${grouped(more)} more` : ""}.`;
}

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
