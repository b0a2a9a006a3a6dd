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
  readonly lines: number;
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
      return { path, code, lines: text.split("\n").length - 1, imports: importsOf(path, code) };
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
