import type { DesiredState } from "../../model/desired.ts";
import { inFile } from "../problems/in-file.ts";
import type { FileCode, FileLocation, LocatedProblem, Problem } from "../problems/problem.ts";
import { keyProblems } from "../problems/secrets.ts";
import { checkSchema, memberIssues, memberIssuesPausing } from "../schema/check-file.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import { type RawFile, toRawFile } from "../schema/raw-file.ts";
import { checkSource } from "../validate/source-rules.ts";
import { MAX_LENGTH } from "../values/limits.ts";
import { includeMistake, isYamlName } from "../values/text-schemas.ts";
import { listOf } from "../values/values.ts";
import { endsWithMembers, firstChunk, type ParsedYaml, parseFastPausing } from "../yaml/fast-yaml.ts";
import { type FileHeader, headerOf } from "./file-header.ts";

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
  /** The names of the files that others include. */
  readonly included: ReadonlySet<string>;
  readonly failures: readonly FailedRead[];
  readonly resolve: ResolveInclude;
}

/** Returns the file that an include leads to, `null` if it could not be read. */
export type ResolveInclude = (include: Include) => SourceFile | null;

/** Hooks that run while files are loaded. */
export interface LoadHooks {
  /** Called with the header of each file, of a large one before it is parsed; the rest may still have errors. */
  readonly onHeader: (head: FileHeader) => Promise<void>;
  /** Called between the steps of the work, of which none takes long. */
  readonly pause: () => Promise<void>;
  /**
   * Called with each valid desired state of which no other file can change anything but whether it counts; returns the
   * state to keep. Absent: it is kept whole.
   */
  readonly onState?: (state: DesiredState) => Promise<DesiredState>;
}

/**
 * Reads files and their includes, each file once. `onMerchant` gets each requested file that declares a merchant, as soon
 * as everything that it includes is read; its content is released after that.
 */
export async function loadSources(
  files: readonly string[],
  read: ReadSource,
  now: number,
  hooks: LoadHooks | undefined,
  onMerchant: (source: SourceFile, resolve: ResolveInclude) => Promise<void>,
): Promise<LoadedSources> {
  const pause = hooks?.pause ?? noPause;
  const sources = new Map<string, SourceFile>();
  const targets = new Map<Include, string>();
  const failures: FailedRead[] = [];
  const parse = async ({ file, text }: TextResult, isRoot: boolean): Promise<SourceFile> => {
    const plain = await parseFastPausing(text, pause);
    if (plain !== null && isRoot && !isLarge(text)) await reportHeader(headerOf(file, plain.value), hooks);
    const parsed = plain ?? (await import("../yaml/to-value.ts")).parse(text);
    const issues = await memberIssuesPausing(parsed.value, pause);
    const source = analyzeSource(file, text, parsed, now, issues);
    sources.set(file, source);
    await pause();
    return source;
  };
  const fail = (
    { reason }: ReadResult & { readonly ok: false },
    name: string,
    location: FileLocation | null,
  ) => void failures.push({ code: `file-${reason}`, name, limit: MAX_LENGTH, location });
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
      if (!sources.has(result.file)) await follow(await parse(result, false));
    }
  };
  const resolve: ResolveInclude = (include) => sources.get(targets.get(include) ?? "") ?? null;
  const given = await Promise.all(files.map((file) => read(file, null)));
  await reportLargeFiles(given, hooks);
  const roots = new Set<string>();
  for (const [index, result] of given.entries()) {
    if (!result.ok) {
      fail(result, files[index] ?? "", null);
      continue;
    }
    const { file } = result;
    const source = sources.get(file) ?? (await parse(result, true));
    if (roots.has(file)) continue;
    roots.add(file);
    await follow(source);
    if (source.raw === null || !Object.hasOwn(source.raw.fields, "merchant")) continue;
    await onMerchant(source, resolve);
    sources.set(file, released(source));
    await pause();
  }
  const all = [...sources.values()];
  return {
    roots: [...roots].flatMap((file) => sources.get(file) ?? []),
    sources: all,
    included: new Set(targets.values()),
    failures,
    resolve,
  };
}

/** Returns a merchant's file without its content: a file that includes it reports only that it is a merchant's. */
export function released({ file, text, problems, raw }: SourceFile): SourceFile {
  const { merchant } = raw?.fields ?? {};
  const fields =
    raw === null
      ? null
      : { file, fields: { merchant }, roles: [], adjustments: [], members: [], leavers: [] };
  return { file, text, content: null, raw: fields, includes: [], problems };
}

/** Returns a function that reads what files include; from one folder, a path as written leads to one file. */
function readOnce(read: ReadSource): (include: Include) => Promise<ReadResult> {
  const known = new Map<string, Promise<ReadResult>>();
  return ({ path, location: { file } }) => {
    const key = JSON.stringify([file.replace(/[^\\/]*$/, ""), path]);
    const result = known.get(key) ?? read(path, file);
    known.set(key, result);
    return result;
  };
}

const noPause = async (): Promise<void> => undefined;

/** Files above this size, in UTF-16 units, take so long to parse that their first part is parsed before. */
const LARGE_FILE = 32_000;

function isLarge(text: string): boolean {
  return text.length > LARGE_FILE;
}

/** Reports the headers of the large files. */
async function reportLargeFiles(given: readonly ReadResult[], hooks: LoadHooks | undefined): Promise<void> {
  for (const result of given) {
    if (result.ok && isLarge(result.text)) await reportHeader(readHeader(result.file, result.text), hooks);
  }
  await hooks?.pause();
}

async function reportHeader(head: FileHeader | null, hooks: LoadHooks | undefined): Promise<void> {
  if (head !== null) await hooks?.onHeader(head);
}

/** Rejects links that end in .yaml but lead to another kind of file, whose text must not be shown. */
function yamlOnly(result: ReadResult | undefined): ReadResult {
  if (result === undefined) {
    return { ok: false, reason: "unreadable" };
  }
  return result.ok && !isYamlName(result.file) ? { ok: false, reason: "not-a-file" } : result;
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
  return headerOf(file, first.value, text.length / length);
}
