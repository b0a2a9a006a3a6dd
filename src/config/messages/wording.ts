import type { Code, LocatedProblem, ProblemData } from "../diagnostics/problem.ts";
import { ENTRY_WORDS } from "./entry-messages.ts";
import type { Wording, Words } from "./phrases.ts";
import { POLICY_WORDS } from "./policy-messages.ts";
import { SHAPE_WORDS } from "./shape-messages.ts";
import { YAML_WORDS } from "./yaml-messages.ts";

const WORDS: Words<Code> = { ...YAML_WORDS, ...SHAPE_WORDS, ...ENTRY_WORDS, ...POLICY_WORDS };

/** The words for a problem; `first` says where the same thing stands already. Not yet fit to print: escape it. */
export function wordingOf({ via, ...problem }: LocatedProblem, first: string): Wording {
  const words = WORDS[problem.code] as (data: ProblemData, where: string) => Wording;
  const { message, hint } = words(problem, first);
  const included = via === undefined ? [] : [`Seen from ${via}, which includes this file.`];
  const hints = [...(hint === undefined ? [] : [hint]), ...included];
  return hints.length === 0 ? { message } : { message, hint: hints.join(" ") };
}
