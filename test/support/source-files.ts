import { resolve } from "node:path";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { readSources } from "../../scripts/sources.mjs";

/** A source of the program, by its path below src. */
export interface SourceFile {
  readonly path: string;
  /** Without comments. */
  readonly code: string;
  /** Paths below src, and names of packages. */
  readonly imports: readonly { readonly to: string }[];
}

/** Reads every source. */
export const sourceFiles = (): readonly SourceFile[] => readSources(resolve(import.meta.dirname, "../.."));

/** Returns the names that a file exports; what it only passes on is another file's. */
export function exportsOf({ code }: SourceFile): readonly string[] {
  const declarations = code.matchAll(
    /^export\s+(?:abstract\s+|async\s+)*(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/gm,
  );
  return [...declarations].map(([, name]) => String(name));
}

/** Returns the files or folders that import one another in a circle, by group, from what each imports. */
export function cyclesOf(targets: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const reachedFrom = (path: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    const open = [path];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const fresh = (targets.get(at) ?? []).filter((to) => !reached.has(to));
      for (const to of fresh) reached.add(to);
      open.push(...fresh);
    }
    return reached;
  };
  const reach = new Map([...targets.keys()].map((path) => [path, reachedFrom(path)]));
  const circular = [...reach].filter(([path, reached]) => reached.has(path)).map(([path]) => path);
  const groupOf = (path: string): string =>
    circular.filter((other) => reach.get(path)?.has(other) && reach.get(other)?.has(path)).join(" ");
  return [...new Set(circular.map(groupOf))].map((group) => group.split(" "));
}
