import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey, grouped } from "../../lib/text.ts";
import type { ErrorCode, Failure, ProblemDetails } from "../../model/errors.ts";
import type { Style } from "../style.ts";
import { attemptsOf } from "../view/ending-view.ts";
import { textOfSeveral } from "../view/names-text.ts";
import { hangingLines, wrapOnTerminal, wrapText } from "./wrap.ts";

/** Says which merchants could not be read or processed, and why; those with the same reason are listed together. */
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
  /** Distinct numbers of attempts. */
  readonly attempts: readonly number[];
}

/** Groups merchants whose failures differ only in their codes and the number of attempts. */
export function groupUnread(
  failed: readonly { readonly merchant: string; readonly failure: Failure }[],
): readonly UnreadGroup[] {
  const kinds = groupByKey(failed, ({ merchant, failure }) => kindOf(failure).replaceAll(merchant, ""));
  return kinds.map((group) => ({
    first: group.length === 1 ? group[0].failure : failureOfSeveral(group[0]),
    merchants: group.map(({ merchant }) => merchant),
    attempts: attemptsOf(group.map(({ failure }) => failure)),
  }));
}

function failureOfSeveral({
  merchant,
  failure: { message, hint, ...failure },
}: {
  readonly merchant: string;
  readonly failure: Failure;
}): Failure {
  return {
    ...failure,
    message: textOfSeveral(withoutDetail(message, failure.request?.problem), merchant),
    ...(hint !== undefined && { hint: textOfSeveral(hint, merchant) }),
  };
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
    ...wrapOnTerminal(first, style, `${style.red(head)}: `, "  "),
    ...more.flatMap((text) => wrapOnTerminal(text, style, "", "  ")),
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
      const head = `  ${style.dim(`${name} `.padEnd(9))}`;
      if (value !== undefined) lines.push(...wrapOnTerminal(oneLine(value), style, head, "    "));
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

const DOCTOR = 'Run "rolecall doctor" to find the cause.';

/** The kinds of failures before the first request. */
const SETUP_PROBLEMS: ReadonlySet<ErrorCode> = new Set([
  "base-url-missing",
  "key-missing",
  "key-malformed",
  "key-environment",
]);

/** The kinds of failures of reads that `doctor` can say more about. */
const READ_PROBLEMS: ReadonlySet<ErrorCode> = new Set(["unauthorized", "forbidden", "network", "timeout"]);

/** Returns whether `doctor` can say more; after a write, it is more important to see the outcome first. */
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
