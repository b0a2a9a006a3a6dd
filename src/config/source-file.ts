import { type FileLocation, inFile, type LocatedProblem, type Problem } from "./diagnostics/problem.ts";
import { keyProblems } from "./diagnostics/secrets.ts";
import { type RawFile, toRawFile } from "./raw-file.ts";
import { checkSource } from "./rules/source-rules.ts";
import { type MerchantFile, merchantSchema } from "./schema/merchant-schema.ts";
import { schemaProblems } from "./schema/schema-problems.ts";
import { includeMistake } from "./schema/text-schemas.ts";
import { listOf } from "./values.ts";
import type { ParsedYaml } from "./yaml/fast-yaml.ts";

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
  const found = [keyProblems(text, value), faults];
  if (!readable) {
    return { file, text, content: null, raw: null, includes: [], problems: located(file, found) };
  }
  const checked = merchantSchema.safeParse(value);
  const read = toRawFile(file, value);
  const broken = checkSource(read, now);
  return {
    file,
    text,
    content: checked.success ? withMembersOf(value as MerchantFile, checked.data) : null,
    raw: read,
    includes: includesOf(read),
    problems: located(file, [...found, checked.success ? [] : schemaProblems(value, checked.error), broken]),
  };
}

/** Returns a validated file with the members as they were read: the schema's equal copies would only take memory. */
function withMembersOf({ members }: MerchantFile, file: MerchantFile): MerchantFile {
  return members === undefined ? file : { ...file, members };
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
