import { memoized } from "../../lib/memoized.ts";
import { inFile } from "../problems/in-file.ts";
import type { FileLocation, LocatedProblem, Problem } from "../problems/problem.ts";
import { keyProblems } from "../problems/secrets.ts";
import { checkSchema } from "../schema/check-file.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import { type RawFile, toRawFile } from "../schema/raw-file.ts";
import { checkSource } from "../validate/source-rules.ts";
import { includeMistake, isYamlName } from "../values/text-schemas.ts";
import { listOf } from "../values/values.ts";
import type { ParsedYaml } from "../yaml/fast-yaml.ts";
import { parseYaml } from "../yaml/parse-yaml.ts";

/** An include: the path as written, and its location. */
export interface Include {
  readonly path: string;
  readonly location: FileLocation;
}

/** A parsed file with the problems that it has by itself. */
export interface SourceFile {
  readonly file: string;
  readonly text: string;
  /** `null` if the schema rejects the file. */
  readonly content: MerchantFile | null;
  /** `null` if the file is not readable YAML. */
  readonly raw: RawFile | null;
  readonly includes: readonly Include[];
  readonly problems: readonly LocatedProblem[];
}

/** Validates one parsed file by itself; never throws for an invalid one. */
export function analyzeSource(
  file: string,
  text: string,
  { value, readable, problems: faults }: ParsedYaml,
  now: number,
): SourceFile {
  if (isSandboxSeed(value)) {
    const seed: Problem = { code: "sandbox-seed", location: { at: "key", path: ["merchants"] } };
    return { file, text, content: null, raw: null, includes: [], problems: located(file, [[seed]]) };
  }
  const problemLists = [keyProblems(text, value), faults];
  if (!readable) {
    return { file, text, content: null, raw: null, includes: [], problems: located(file, problemLists) };
  }
  const { content, problems } = checkSchema(value);
  const raw = toRawFile(file, value);
  const broken = checkSource(raw, now);
  return {
    file,
    text,
    content,
    raw,
    includes: includesOf(raw),
    problems: located(file, [...problemLists, problems, broken]),
  };
}

/** Detects a seed of the sandbox, which lists many merchants. */
function isSandboxSeed(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { merchants } = value as { readonly merchants?: unknown };
  return Array.isArray(merchants) && !("merchant" in value) && !("version" in value);
}

function located(file: string, problems: readonly (readonly Problem[])[]): readonly LocatedProblem[] {
  return problems.flat().map((problem) => inFile(file, problem));
}

/** Returns each valid path once; the schema reports the invalid ones. */
function includesOf({ file, fields }: RawFile): readonly Include[] {
  const seen = new Set<unknown>();
  return listOf(fields["include"]).flatMap((path, index) => {
    if (typeof path !== "string" || seen.has(path) || includeMistake(path) !== null) {
      return [];
    }
    seen.add(path);
    return [{ path, location: { at: "value", file, path: ["include", index] } as const }];
  });
}

/** A file's text and canonical name, or the reason why it cannot be read. */
export type ReadResult =
  | { readonly ok: true; readonly file: string; readonly text: string }
  | {
      readonly ok: false;
      readonly reason: ReadFailure;
      /** Its displayed path, if it is there. */
      readonly file?: string;
    };

type TextResult = ReadResult & { readonly ok: true };

/** The reasons why a file cannot be read. */
export type ReadFailure = "missing" | "not-a-file" | "not-utf8" | "outside-root" | "too-large" | "unreadable";

/**
 * Reads a file by a path as written: in the including file `from`, or by the user if `from` is `null`. Two paths to one
 * file give one name. Never throws.
 */
export type ReadSource = (path: string, from: string | null) => Promise<ReadResult>;

/** A file that could not be read, with the location of its include. */
export interface FailedRead {
  readonly reason: ReadFailure;
  /** As written. */
  readonly path: string;
  /** Its displayed path. */
  readonly file: string;
  readonly location: FileLocation | null;
}

/** The requested files and all that they include. */
export interface LoadedSources {
  /** The requested files. */
  readonly roots: readonly SourceFile[];
  readonly sources: readonly SourceFile[];
  /** The names of the files that others include. */
  readonly included: ReadonlySet<string>;
  readonly failures: readonly FailedRead[];
  readonly resolve: ResolveInclude;
}

/** Returns the file that an include leads to, `null` if it could not be read. */
export type ResolveInclude = (include: Include) => SourceFile | null;

/** Reads files and their includes, each file once. */
export async function loadSources(
  files: readonly string[],
  read: ReadSource,
  now: number,
): Promise<LoadedSources> {
  const sources = new Map<string, SourceFile>();
  const targets = new Map<Include, string>();
  const failures: FailedRead[] = [];
  const parse = async ({ file, text }: TextResult): Promise<SourceFile> => {
    const source = analyzeSource(file, text, await parseYaml(text), now);
    sources.set(file, source);
    return source;
  };
  const fail = (
    { reason, file }: ReadResult & { readonly ok: false },
    path: string,
    location: FileLocation | null,
  ) => void failures.push({ reason, path, file: file ?? path, location });
  const readIncluded = readOnce(read);
  const follow = async ({ includes }: SourceFile): Promise<void> => {
    const results = await Promise.all(includes.map(readIncluded));
    for (const [index, include] of includes.entries()) {
      const result = yamlOnly(results[index]);
      if (!result.ok) {
        fail(result, include.path, include.location);
        continue;
      }
      targets.set(include, result.file);
      if (!sources.has(result.file)) await follow(await parse(result));
    }
  };
  const resolve: ResolveInclude = (include) => sources.get(targets.get(include) ?? "") ?? null;
  const given = await Promise.all(files.map((file) => read(file, null)));
  const roots = new Set<string>();
  for (const [index, result] of given.entries()) {
    if (!result.ok) {
      fail(result, files[index] ?? "", null);
      continue;
    }
    const { file } = result;
    const source = sources.get(file) ?? (await parse(result));
    if (roots.has(file)) continue;
    roots.add(file);
    await follow(source);
  }
  const sourceFiles = [...sources.values()];
  return {
    roots: [...roots].flatMap((file) => sources.get(file) ?? []),
    sources: sourceFiles,
    included: new Set(targets.values()),
    failures,
    resolve,
  };
}

/** Returns a function that reads what files include; from one folder, a path as written leads to one file. */
function readOnce(read: ReadSource): (include: Include) => Promise<ReadResult> {
  return memoized(
    ({ path, location: { file } }) => read(path, file),
    ({ path, location: { file } }) => JSON.stringify([file.replace(/[^\\/]*$/, ""), path]),
  );
}

/** Rejects links that end in .yaml but lead to another kind of file, whose text must not be shown. */
function yamlOnly(result: ReadResult | undefined): ReadResult {
  if (result === undefined) {
    return { ok: false, reason: "unreadable" };
  }
  return result.ok && !isYamlName(result.file) ? { ok: false, reason: "not-a-file" } : result;
}
