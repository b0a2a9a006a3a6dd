import { oneLine } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";
import type { Failure, Problem } from "../../model/errors.ts";
import type { Style } from "../style.ts";
import { wrapText } from "./wrap.ts";

/** Failures, each kind once: those that differ in no more than path, instance and extensions are one, with their number. */
export function renderFailures(failures: readonly Failure[], style: Style): string {
  const kinds = new Map<string, { readonly first: Failure; times: number }>();
  for (const failure of failures) {
    const kind = kindOf(failure);
    const known = kinds.get(kind);
    if (known) known.times += 1;
    else kinds.set(kind, { first: failure, times: 1 });
  }
  return [...kinds.values()].map(({ first, times }) => renderFailure(first, style, times)).join("");
}

/** Why something could not be done: the message, the service's Problem whole, and what to do next. */
export function renderFailure(failure: Failure, style: Style, times = 1): string {
  const { message, hint, request } = failure;
  const problem = request?.problem;
  const head = times > 1 ? `error, ${counted(times, "time")}` : "error";
  const text = withoutDetail(message, problem).split("\n").map(oneLine).join("\n");
  const lines = [`${style.red(head)}: ${text}`];
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
  if (request && request.attempts > 1) {
    lines.push(`  ${style.dim("sent".padEnd(9))}${counted(request.attempts, "time")}`);
  }
  if (hint !== undefined) {
    const [first = "", ...rest] = wrapText(oneLine(hint), style.columns - 4);
    lines.push(`  ${style.cyan("→")} ${first}`, ...rest.map((line) => `    ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

/** A message alone ends with what the Problem says; where the Problem follows, once is enough. */
function withoutDetail(message: string, problem: Problem | undefined): string {
  const said = [problem?.detail, problem?.title, problem?.type].find((text) => text !== undefined);
  return said && message.endsWith(`: ${said}`) ? `${message.slice(0, -`: ${said}`.length)}.` : message;
}

function kindOf({ code, message, hint, request }: Failure): string {
  const { instance: _, extensions: __, ...problem } = request?.problem ?? { type: null };
  const words = request ? message.replaceAll(request.path, "") : message;
  return JSON.stringify([code, words, hint, problem, request?.attempts]);
}
