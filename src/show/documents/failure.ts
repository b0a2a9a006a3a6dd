import { counted, groupByKey, grouped } from "../../lib/text.ts";
import type { ErrorCode, Failure, ProblemDetails } from "../../model/errors.ts";
import { type Block, type Document, indented, sentence, toned } from "../blocks/block.ts";
import { documentText } from "../blocks/text-blocks.ts";
import type { Style } from "../style.ts";
import { attemptsOf } from "../view/ending-view.ts";
import { namesText, textOfSeveral } from "../view/names-text.ts";

/** Says which merchants could not be read or processed, and why; those with the same reason are listed together. */
export function unreadDocument(
  done: string,
  failed: readonly { readonly merchant: string; readonly error: { readonly failure: Failure } }[],
): Document {
  const unread = failed.map(({ merchant, error }) => ({ merchant, failure: error.failure }));
  return groupUnread(unread).map(({ first, merchants, attempts }) => [
    sentence(`${namesText(merchants, MERCHANTS_SHOWN)} could not be ${done}.`, { tone: "bold" }),
    ...failureBlocks(first, merchants.length, attempts),
  ]);
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

/** Prints a failure. */
export function renderFailure(failure: Failure, style: Style): string {
  return documentText([failureBlocks(failure)], style);
}

/** Says what failed: the message, the service's whole Problem, and the next step. */
export function failureBlocks(
  failure: Failure,
  times = 1,
  attempts: readonly number[] = attemptsOf([failure]),
): readonly Block[] {
  const { message, hint, request } = failure;
  const problem = request?.problem;
  const head = times > 1 ? `error, ${counted(times, "time")}` : "error";
  const [first = "", ...more] = withoutDetail(message, problem).split("\n");
  const [least = 0, most = least] = [attempts[0], attempts.at(-1)];
  const sent = least === most ? counted(most, "time") : `${grouped(least)} to ${grouped(most)} times`;
  const fields: readonly (readonly [string, string | undefined])[] = [
    ...(problem
      ? ([
          ["type", problem.type],
          ["title", problem.title],
          ["status", problem.status?.toString()],
          ["detail", problem.detail],
          ["instance", problem.instance],
          ...(problem.extensions ?? []).map(({ name, value }) => [name, value] as const),
        ] as const)
      : []),
    ["sent", most > 1 ? sent : undefined],
  ];
  const rows = fields.flatMap(([label, text]) => (text === undefined ? [] : [{ label, text }]));
  const steps = [...(hint === undefined ? [] : [hint]), ...(isConnectionProblem(failure) ? [DOCTOR] : [])];
  return [
    sentence([toned("red", head), `: ${first}`], { isLogged: true }),
    ...more.map((text) => sentence(text, { isLogged: true })),
    indented([
      { kind: "facts", rows, width: LABEL, isLogged: true },
      ...(steps.length === 0 ? [] : [sentence(steps.join(" "), { mark: "next" })]),
    ]),
  ];
}

/** Width of the longest usual field of a Problem. */
const LABEL = 8;

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
