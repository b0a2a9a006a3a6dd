import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../src");

/** An import of a source: a path below src, or the name of a package. */
export interface SourceImport {
  readonly to: string;
  /** Nothing of it is left when the program runs. */
  readonly typeOnly: boolean;
}

/** A source of the program, by its path below src. */
export interface SourceFile {
  readonly path: string;
  /** Without comments. */
  readonly code: string;
  readonly imports: readonly SourceImport[];
}

const IMPORT =
  /\b(?:import|export)\s+(type\s)?([^;"']*?)\bfrom\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|^import\s+"([^"]+)"/gm;

/** Reads every source. */
export function sourceFiles(): readonly SourceFile[] {
  return readdirSync(ROOT, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
      return { path, code, imports: importsOf(path, code) };
    });
}

function importsOf(path: string, code: string): readonly SourceImport[] {
  return [...code.matchAll(IMPORT)].map(([, type, names = "", from, dynamic, bare]) => {
    const specifier = from ?? dynamic ?? bare ?? "";
    const to = specifier.startsWith(".") ? relative(ROOT, join(ROOT, path, "..", specifier)) : specifier;
    const named = /^\{(.*)\}\s*$/s.exec(names)?.[1]?.split(",") ?? [""];
    const typeOnly =
      type !== undefined ||
      named
        .map((name) => name.trim())
        .every((name, at) => name.startsWith("type ") || (at > 0 && name === ""));
    return { to, typeOnly };
  });
}

/** Returns the names that a file exports; what it only passes on is another file's. */
export function exportsOf({ code }: SourceFile): readonly string[] {
  const declarations = code.matchAll(
    /^export\s+(?:abstract\s+|async\s+)*(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/gm,
  );
  return [...declarations].map(([, name]) => String(name));
}

/** Returns the files that import one another in a circle, by group. */
export function cyclesOf(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const targets = new Map(files.map((file) => [file.path, file.imports.map(({ to }) => to)]));
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
