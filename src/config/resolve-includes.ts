import type { LocatedProblem, Site } from "./diagnostics/problem.ts";
import { type Draft, siteOf } from "./raw-file.ts";
import type { Include, Source } from "./source-file.ts";

/** Where the includes of a source lead; null where the file could not be read. */
export type Resolve = (include: Include) => Source | null;

/** A merchant's file with all that it includes, each file once: included ones come first, as if written in its place. */
export interface Joined {
  readonly main: Source;
  readonly sources: readonly Source[];
  /** Whether every file could be read, so that nothing is unknown. */
  readonly complete: boolean;
  readonly problems: readonly LocatedProblem[];
}

/** Follows the includes of a file; a cycle, and a file that belongs to a merchant of its own, are left out. */
export function join(main: Source, resolve: Resolve): Joined {
  const done = new Set<Source>();
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
    complete: complete && sources.every((source) => source.draft !== null),
    problems: [
      ...problems,
      ...sources.flatMap((source) => (source === main ? [] : identityProblems(source))),
    ],
  };
}

interface Frame {
  readonly source: Source;
  next: number;
}

function refusal(
  { site }: Include,
  target: Source,
  done: ReadonlySet<Source>,
  stack: readonly Frame[],
): LocatedProblem | null {
  const start = done.has(target) ? -1 : stack.findIndex(({ source }) => source === target);
  if (start !== -1) {
    const chain = [...stack.slice(start).map(({ source }) => source.file), target.file];
    return { code: "include-cycle", chain, place: site };
  }
  const fields = target.draft?.fields ?? {};
  return Object.hasOwn(fields, "merchant")
    ? { code: "include-merchant", name: target.file, merchant: String(fields["merchant"]), place: site }
    : null;
}

/** What only a merchant's own file can say. */
function identityProblems({ draft }: Source): readonly LocatedProblem[] {
  return draft === null
    ? []
    : ["environment", "api"].flatMap((key): readonly LocatedProblem[] =>
        Object.hasOwn(draft.fields, key)
          ? [{ code: "include-identity", key, place: { ...keySite(draft, key) } }]
          : [],
      );
}

function keySite({ file }: Draft, key: string): Site {
  return { ...siteOf(file, [key]), at: "key" } as Site;
}
