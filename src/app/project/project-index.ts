import { dirname, resolve } from "node:path";
import { inFile } from "../../kernel/problems/in-file.ts";
import type { FileProblem, LocatedProblem } from "../../kernel/problems/problem.ts";
import { isError } from "../../kernel/problems/rule-table.ts";
import type { ReadFailure } from "../../kernel/read/load-sources.ts";
import { unreadableFile } from "../../kernel/read/unreadable-file.ts";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { memoized } from "../../lib/memoized.ts";
import { shownPath, sourceReader, withoutLinks } from "./find-files.ts";

/** The content of a YAML file by itself, without the files that it includes. */
export interface IndexedFile {
  /** Absolute, without links. */
  readonly path: string;
  /** Displayed path. */
  readonly file: string;
  /** Empty if the file cannot be read. */
  readonly text: string;
  /** The sections, with `roles` and `members` empty if there are any; `null` if it cannot be read or is no valid YAML. */
  readonly fields: Readonly<Record<string, unknown>> | null;
  /** Absolute paths without links. */
  readonly includes: readonly string[];
  readonly problems: readonly LocatedProblem<FileProblem>[];
}

/** An index of YAML files by absolute path. Each is read and parsed when it is asked for, once. */
export interface ProjectIndex {
  file(path: string): Promise<IndexedFile>;
  /** Returns the files that a file includes, directly or not, with itself; absolute paths without links. */
  closure(path: string): Promise<ReadonlySet<string>>;
  /** Returns the value of `merchant`; undefined without one, `null` if the file cannot be read. */
  merchantIn(path: string): Promise<unknown>;
}

/** Opens an index of files as a working directory shows them. */
export function openIndex(cwd: string): ProjectIndex {
  const read = sourceReader(cwd);
  const realPath = memoized(withoutLinks);
  const fileAt = memoized(async (given: string): Promise<IndexedFile> => {
    const path = realPath(given);
    const result = await read(given, null);
    const file = result.ok ? result.file : shownPath(path, cwd);
    if (!result.ok) return unreadIn(path, file, result.reason);
    const { text } = result;
    const { value, readable, problems } = await parseYaml(text);
    const located = problems.map((problem) => inFile(file, problem));
    if (!readable || problems.some(isError))
      return { path, file, text, fields: null, includes: [], problems: located };
    const { roles, members, ...rest } = fieldsOf(value);
    const includes = listOf(rest["include"]).flatMap((include) =>
      typeof include === "string" ? realPath(resolve(dirname(path), include)) : [],
    );
    const entries = {
      ...(roles !== undefined && { roles: [] }),
      ...(members !== undefined && { members: [] }),
    };
    return { path, file, text, fields: { ...rest, ...entries }, includes, problems: located };
  });
  return {
    file: fileAt,
    closure: async (path) => {
      const reached = new Set([realPath(path)]);
      for (const next of reached) for (const include of (await fileAt(next)).includes) reached.add(include);
      return reached;
    },
    merchantIn: async (path) => {
      const { fields } = await fileAt(path);
      return fields === null ? null : fields["merchant"];
    },
  };
}

function unreadIn(path: string, file: string, reason: ReadFailure): IndexedFile {
  return { path, file, text: "", fields: null, includes: [], problems: [unreadableFile(file, reason)] };
}
