import type { Addressed } from "../model/desired.ts";
import {
  type FileCode,
  type FileLocation,
  inFile,
  type LocatedProblem,
  type Problem,
} from "./diagnostics/problem.ts";
import { keyProblems } from "./diagnostics/secrets.ts";
import { type RawFile, toRawFile } from "./raw-file.ts";
import { checkSource } from "./rules/source-rules.ts";
import { type MerchantFile, merchantSchema } from "./schema/merchant-schema.ts";
import { checkSchema, memberIssues, memberIssuesPausing } from "./schema/schema-problems.ts";
import { includeMistake, isYamlName, MAX_LENGTH } from "./schema/text-schemas.ts";
import { fieldsOf, listOf, omitUndefined } from "./values.ts";
import { endsWithMembers, firstChunk, type ParsedYaml, parseFastPausing } from "./yaml/fast-yaml.ts";

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

/** Validates one parsed file by itself, of whose members the issues may be known; never throws for an invalid one. */
export function analyzeSource(
  file: string,
  text: string,
  { value, readable, problems: faults }: ParsedYaml,
  now: number,
  issues = memberIssues(value),
): SourceFile {
  if (isSandboxSeed(value)) {
    const seed: Problem = { code: "sandbox-seed", location: { at: "key", path: ["merchants"] } };
    return { file, text, content: null, raw: null, includes: [], problems: located(file, [[seed]]) };
  }
  const found = [keyProblems(text, value), faults];
  if (!readable) {
    return { file, text, content: null, raw: null, includes: [], problems: located(file, found) };
  }
  const { content, problems } = checkSchema(value, issues);
  const raw = toRawFile(file, value);
  const broken = checkSource(raw, now);
  return {
    file,
    text,
    content,
    raw,
    includes: includesOf(raw),
    problems: located(file, [...found, problems, broken]),
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
  | { readonly ok: false; readonly reason: ReadFailure };

/** The reasons why a file cannot be read. */
export type ReadFailure = "missing" | "not-a-file" | "not-utf8" | "outside-root" | "too-large" | "unreadable";

/**
 * Reads a file by a path as written: in the including file `from`, or by the user if `from` is `null`. Two paths to one
 * file give one name. Never throws.
 */
export type ReadSource = (path: string, from: string | null) => Promise<ReadResult>;

/** A file that could not be read, with the location of its include. */
export interface FailedRead {
  readonly code: FileCode | "file-too-large";
  readonly name: string;
  readonly limit: number;
  readonly location: FileLocation | null;
}

/** The requested files and all that they include. */
export interface LoadedSources {
  /** The requested files. */
  readonly roots: readonly SourceFile[];
  readonly sources: readonly SourceFile[];
  readonly targets: ReadonlyMap<Include, SourceFile>;
  readonly failures: readonly FailedRead[];
  readonly resolve: (include: Include) => SourceFile | null;
}

/** Hooks that run while files are loaded. */
export interface LoadHooks {
  /** Called with the header of each file before the file is parsed; the rest may still have errors. */
  readonly onHeader: (head: FileHeader) => Promise<void>;
  /** Called between the steps of the work, of which none takes long. */
  readonly pause: () => Promise<void>;
}

/** Reads files and their includes in rounds, each file once. */
export async function loadSources(
  files: readonly string[],
  read: ReadSource,
  now: number,
  hooks: LoadHooks | undefined,
): Promise<LoadedSources> {
  const pause = hooks?.pause ?? noPause;
  const sources = new Map<string, SourceFile>();
  const targets = new Map<Include, SourceFile>();
  const failures: FailedRead[] = [];
  const add = async (
    result: ReadResult,
    name: string,
    location: FileLocation | null,
  ): Promise<SourceFile | null> => {
    if (!result.ok) {
      failures.push({ code: `file-${result.reason}`, name, limit: MAX_LENGTH, location });
      return null;
    }
    const known = sources.get(result.file);
    if (known !== undefined) {
      return known;
    }
    const parsed = await parseYaml(result.text, pause);
    const issues = await memberIssuesPausing(parsed.value, pause);
    const source = analyzeSource(result.file, result.text, parsed, now, issues);
    sources.set(result.file, source);
    await pause();
    return source;
  };
  const given = await Promise.all(files.map((file) => read(file, null)));
  if (hooks) await begin(given, hooks);
  const roots = new Set<SourceFile>();
  for (const [index, result] of given.entries()) {
    const root = await add(result, files[index] ?? "", null);
    if (root !== null) {
      roots.add(root);
    }
  }
  let round: readonly SourceFile[] = [...roots];
  while (round.length > 0) {
    const includes = round.flatMap((source) => source.includes);
    const known = new Set(sources.values());
    const results = await Promise.all(includes.map((include) => read(include.path, include.location.file)));
    for (const [index, include] of includes.entries()) {
      const result = yamlOnly(results[index]);
      const target = await add(result, include.path, include.location);
      if (target !== null) {
        targets.set(include, target);
      }
    }
    round = [...sources.values()].filter((source) => !known.has(source));
  }
  return {
    roots: [...roots],
    sources: [...sources.values()],
    targets,
    failures,
    resolve: (include) => targets.get(include) ?? null,
  };
}

const noPause = async (): Promise<void> => undefined;

/** Parses YAML; the full parser is loaded only for a text that needs it. */
export async function parseYaml(text: string, pause: LoadHooks["pause"] = noPause): Promise<ParsedYaml> {
  return (await parseFastPausing(text, pause)) ?? (await import("./yaml/to-value.ts")).parse(text);
}

/** Reports the headers of the files. */
async function begin(given: readonly ReadResult[], { onHeader, pause }: LoadHooks): Promise<void> {
  for (const result of given) {
    const head = result.ok ? readHeader(result.file, result.text) : null;
    if (head !== null) await onHeader(head);
  }
  await pause();
}

/** Rejects links that end in .yaml but lead to another kind of file, whose text must not be shown. */
function yamlOnly(result: ReadResult | undefined): ReadResult {
  if (result === undefined) {
    return { ok: false, reason: "unreadable" };
  }
  return result.ok && !isYamlName(result.file) ? { ok: false, reason: "not-a-file" } : result;
}

/** The merchant and connection of a file, read from its first chunk. */
export interface FileHeader extends Addressed {
  /** The estimated number of members in the whole file. */
  readonly members: number;
}

/**
 * Reads the header of a file from the first part of its text; `null` if the rest of the file could still change the
 * merchant, the base URL or the key.
 */
function readHeader(file: string, text: string): FileHeader | null {
  const first = firstChunk(text);
  if (first === null) return null;
  const { length } = first.text;
  if (length < text.length && !endsWithMembers(text)) return null;
  const { merchant, environment, api, members } = fieldsOf(first.value);
  const { data: head } = merchantSchema.safeParse(omitUndefined({ version: 1, merchant, environment, api }));
  if (head?.merchant === undefined) return null;
  return omitUndefined({
    merchant: head.merchant,
    environment: head.environment,
    baseUrl: head.api?.base_url,
    keyEnv: head.api?.key_env,
    members: Math.round((listOf(members).length * text.length) / length),
    origin: { file, path: [] },
  });
}
