import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Code, LocatedProblem } from "../problems/problem.ts";
import { ENTRY_MESSAGES, POLICY_MESSAGES, PROJECT_MESSAGES } from "./entry-messages.ts";
import { FILE_MESSAGES } from "./file-messages.ts";
import type { MessageTable } from "./message-phrases.ts";
import { toDiagnostics } from "./to-diagnostics.ts";

const MESSAGES: MessageTable<Code> = {
  ...FILE_MESSAGES,
  ...ENTRY_MESSAGES,
  ...POLICY_MESSAGES,
  ...PROJECT_MESSAGES,
};

/** Converts problems of any kind to diagnostics, sorted by location; `texts` has the readable files by name. */
export function describeProblems(
  texts: ReadonlyMap<string, string>,
  problems: readonly LocatedProblem[],
): readonly Diagnostic[] {
  return toDiagnostics(texts, problems, MESSAGES);
}
