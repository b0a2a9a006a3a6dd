import type { Addressed } from "../model/desired.ts";
import type { FileCode, Site } from "./diagnostics/problem.ts";
import { MAX_LENGTH } from "./schema/limits.ts";
import { checkSchema } from "./schema/schema-problems.ts";
import { isYamlName } from "./schema/text-schemas.ts";
import { type Include, readSource, type Source } from "./source-file.ts";
import { fieldsOf, listOf, present } from "./values.ts";
import { endsWithMembers, firstPiece, parsePlain } from "./yaml/fast-yaml.ts";

/** A file's text under the one name that it is known and shown by, or why it cannot be read. */
export type ReadResult =
  | { readonly ok: true; readonly file: string; readonly text: string }
  | { readonly ok: false; readonly reason: ReadFailure };

/** Why a file cannot be read. */
export type ReadFailure = "missing" | "not-a-file" | "not-utf8" | "outside-root" | "too-large" | "unreadable";

/**
 * Reads a file by a path as somebody wrote it: from the file that includes it, whose name `from` is, or given by the
 * user, where `from` is null. Two paths to one file give one name. It does not throw.
 */
export type ReadSource = (path: string, from: string | null) => Promise<ReadResult>;

/** A file that could not be read, and where it is included. */
export interface FailedRead {
  readonly code: FileCode | "file-too-large";
  readonly name: string;
  readonly limit: number;
  readonly site: Site | null;
}

/** Every file that was asked for, and every one that those include. */
export interface Library {
  /** Those that were asked for. */
  readonly roots: readonly Source[];
  readonly sources: readonly Source[];
  readonly targets: ReadonlyMap<Include, Source>;
  readonly failures: readonly FailedRead[];
  readonly resolve: (include: Include) => Source | null;
}

/** What goes on while files are read. */
export interface Meanwhile {
  /** Hears whose a file is as soon as its beginning tells; whether the rest is right is not known then. */
  readonly begun: (head: FileHead) => Promise<void>;
  /** Called before the files are read whole, before they are judged together, and after that. */
  readonly pause: () => Promise<void>;
}

/** Reads files and what they include, round by round, each file once. */
export async function openLibrary(
  files: readonly string[],
  read: ReadSource,
  now: number,
  meanwhile: Meanwhile | undefined,
): Promise<Library> {
  const sources = new Map<string, Source>();
  const targets = new Map<Include, Source>();
  const failures: FailedRead[] = [];
  const add = async (result: ReadResult, name: string, site: Site | null): Promise<Source | null> => {
    if (!result.ok) {
      failures.push({ code: `file-${result.reason}`, name, limit: MAX_LENGTH, site });
      return null;
    }
    const known = sources.get(result.file);
    if (known !== undefined) {
      return known;
    }
    // The thorough reader is loaded only for a file that needs it.
    const parsed = parsePlain(result.text) ?? (await import("./yaml/to-value.ts")).parse(result.text);
    const source = readSource(result.file, result.text, parsed, now);
    sources.set(result.file, source);
    return source;
  };
  const given = await Promise.all(files.map((file) => read(file, null)));
  if (meanwhile) await begin(given, meanwhile);
  const roots = new Set<Source>();
  for (const [index, result] of given.entries()) {
    const root = await add(result, files[index] ?? "", null);
    if (root !== null) {
      roots.add(root);
    }
  }
  let round: readonly Source[] = [...roots];
  while (round.length > 0) {
    const includes = round.flatMap((source) => source.includes);
    const known = new Set(sources.values());
    const results = await Promise.all(includes.map((include) => read(include.path, include.site.file)));
    for (const [index, include] of includes.entries()) {
      const result = yamlOnly(results[index]);
      const target = await add(result, include.path, include.site);
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

/** Tells whose files these are. */
async function begin(given: readonly ReadResult[], { begun, pause }: Meanwhile): Promise<void> {
  for (const result of given) {
    const head = result.ok ? fileHead(result.file, result.text) : null;
    if (head !== null) await begun(head);
  }
  await pause();
}

/** A link that ends in .yaml may lead to a file of another kind, whose text must not be shown. */
function yamlOnly(result: ReadResult | undefined): ReadResult {
  if (result === undefined) {
    return { ok: false, reason: "unreadable" };
  }
  return result.ok && !isYamlName(result.file) ? { ok: false, reason: "not-a-file" } : result;
}

/** What the beginning of a merchant's file tells while the rest of it is still being read. */
export interface FileHead extends Addressed {
  /** About how many members the whole file declares. */
  readonly members: number;
}

/**
 * Reads the head of a file from the first part of its text; null where that does not certainly tell whose file it is and
 * how its service is reached. What may still come must not mean another address or key than the one that is asked with.
 */
function fileHead(file: string, text: string): FileHead | null {
  const first = firstPiece(text);
  if (first === null) return null;
  const { length } = first.text;
  if (length < text.length && !endsWithMembers(text)) return null;
  const { merchant, environment, api, members } = fieldsOf(first.value);
  const { file: head } = checkSchema(present({ version: 1, merchant, environment, api }));
  if (head?.merchant === undefined) return null;
  return present({
    merchant: head.merchant,
    environment: head.environment,
    baseUrl: head.api?.base_url,
    keyEnv: head.api?.key_env,
    members: Math.round((listOf(members).length * text.length) / length),
    origin: { file, path: [] },
  });
}
