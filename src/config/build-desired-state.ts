import type { DesiredState } from "../model/desired.ts";
import type { LocatedProblem } from "./diagnostics/problem.ts";
import { isError } from "./diagnostics/rule-table.ts";
import { normalise } from "./normalise.ts";
import { type Joined, join, type Resolve } from "./resolve-includes.ts";
import { checkMerchant } from "./rules/merchant-rules.ts";
import type { Source } from "./source-file.ts";

/** What a merchant's file and all that it includes say together. */
export interface Assembled {
  readonly main: Source;
  /** Null where there is an error, in whichever of the files. */
  readonly state: DesiredState | null;
  /** Only what is wrong with them together; each source has its own. */
  readonly problems: readonly LocatedProblem[];
  readonly sources: readonly Source[];
}

/** Puts a merchant's file together with what it includes. */
export function assemble(main: Source, resolve: Resolve, now: number): Assembled {
  const joined = join(main, resolve);
  const broken = rules(joined, now);
  const problems = [...missingMerchant(main), ...joined.problems, ...broken].map((problem) =>
    problem.place.file === main.file ? problem : { ...problem, via: main.file },
  );
  const failed = [...problems, ...joined.sources.flatMap((source) => source.problems)].some(isError);
  return {
    main,
    state: failed || !joined.complete ? null : stateOf(joined),
    problems,
    sources: joined.sources,
  };
}

function rules({ main, sources, complete }: Joined, now: number): readonly LocatedProblem[] {
  const drafts = sources.flatMap(({ draft }) => (draft === null ? [] : [draft]));
  return checkMerchant({ main: main.file, drafts, complete, now });
}

function stateOf({ main, sources }: Joined): DesiredState | null {
  const contents = sources.flatMap(({ file, content }) => (content === null ? [] : [{ file, content }]));
  const own = contents.find(({ file }) => file === main.file);
  return own === undefined || contents.length < sources.length ? null : normalise(own, contents);
}

/** A file that stands for itself has to say for which merchant; where the key is misspelt, that has been said. */
function missingMerchant({ file, draft, problems }: Source): readonly LocatedProblem[] {
  const missing = draft !== null && !Object.hasOwn(draft.fields, "merchant");
  const misspelt = problems.some(
    (problem) => problem.code === "unknown-key" && problem.path.length === 0 && problem.near === "merchant",
  );
  // A file that is no mapping has no keys at all.
  const shapeless = problems.some((problem) => problem.code === "wrong-type" && problem.path.length === 0);
  return missing && !misspelt && !shapeless
    ? [{ code: "missing-key", key: "merchant", path: [], place: { at: "head", file, path: [] } }]
    : [];
}
