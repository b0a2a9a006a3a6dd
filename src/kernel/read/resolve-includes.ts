import type { LocatedProblem } from "../problems/problem.ts";
import { keyLocation } from "../schema/raw-file.ts";
import type { Include, ResolveInclude, SourceFile } from "./load-sources.ts";

/** A merchant's file with all its includes, each once; included files come first. */
export interface IncludeGraph {
  readonly main: SourceFile;
  readonly sources: readonly SourceFile[];
  /** True if every included file could be read. */
  readonly complete: boolean;
  readonly problems: readonly LocatedProblem[];
}

/** Follows the includes of a file; leaves out cycles and files of other merchants. */
export function resolveIncludes(main: SourceFile, resolve: ResolveInclude): IncludeGraph {
  const done = new Set<SourceFile>();
  const problems: LocatedProblem[] = [];
  const stack: Frame[] = [{ source: main, next: 0 }];
  let complete = true;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const include = frame.source.includes[frame.next];
    frame.next += 1;
    if (include === undefined) {
      stack.pop();
      done.add(frame.source);
      continue;
    }
    const target = resolve(include);
    const problem = target === null ? null : refusal(include, target, done, stack);
    if (target === null || problem !== null) {
      complete = false;
      if (problem !== null) {
        problems.push(problem);
      }
    } else if (!done.has(target)) {
      stack.push({ source: target, next: 0 });
    }
  }
  const sources = [...done];
  return {
    main,
    sources,
    complete: complete && sources.every((source) => source.raw !== null),
    problems: [
      ...problems,
      ...sources.flatMap((source) => (source === main ? [] : identityProblems(source))),
    ],
  };
}

interface Frame {
  readonly source: SourceFile;
  next: number;
}

function refusal(
  { location }: Include,
  target: SourceFile,
  done: ReadonlySet<SourceFile>,
  stack: readonly Frame[],
): LocatedProblem | null {
  const start = done.has(target) ? -1 : stack.findIndex(({ source }) => source === target);
  if (start !== -1) {
    const chain = [...stack.slice(start).map(({ source }) => source.file), target.file];
    return { code: "include-cycle", chain, location };
  }
  const fields = target.raw?.fields ?? {};
  return Object.hasOwn(fields, "merchant")
    ? { code: "include-merchant", name: target.file, merchant: String(fields["merchant"]), location }
    : null;
}

/** Reports keys that only a merchant's own file may have. */
function identityProblems({ raw }: SourceFile): readonly LocatedProblem[] {
  if (raw === null) return [];
  return Object.hasOwn(raw.fields, "api")
    ? [{ code: "include-identity", key: "api", location: keyLocation(raw.file, ["api"]) }]
    : [];
}
