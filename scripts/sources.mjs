import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";

/**
 * Reads the sources below a folder of a project, sorted by their paths below it, with their imports: paths from that
 * folder, or names of packages. An import is `typeOnly` if nothing of it is left when the program runs.
 */
export function readSources(root, folder = "src") {
  const src = join(root, folder);
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll(sep, "/"))
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(src, path), "utf8");
      const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
      return { path, text, code, imports: importsOf(path, code) };
    });
}

const IMPORT =
  /\b(?:import|export)\s+(type\s)?[^;"']*?\bfrom\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|^import\s+"([^"]+)"/gm;

function importsOf(path, code) {
  return [...code.matchAll(IMPORT)].map(([, type, from, dynamic, bare]) => {
    const specifier = from ?? dynamic ?? bare;
    const to = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier;
    return { to, typeOnly: type !== undefined };
  });
}

/** Returns how many imports go from each folder to each other one, as `Map<from, Map<to, count>>`. */
export function importsBetweenFolders(sources) {
  const paths = new Set(sources.map(({ path }) => path));
  const arrows = new Map();
  for (const { path, imports } of sources) {
    const from = posix.dirname(path);
    for (const to of new Set(imports.map((one) => one.to))) {
      const folder = posix.dirname(to);
      if (!paths.has(to) || folder === from) continue;
      const counts = arrows.get(from) ?? new Map();
      arrows.set(from, counts.set(folder, (counts.get(folder) ?? 0) + 1));
    }
  }
  return arrows;
}

/** Returns the pairs of folders that import one another, with how many imports go there and back. */
export function mutualImports(sources) {
  const arrows = importsBetweenFolders(sources);
  return [...arrows].flatMap(([from, counts]) =>
    [...counts]
      .filter(([to]) => from < to && arrows.get(to)?.has(from))
      .map(([to, there]) => ({ from, to, there, back: arrows.get(to).get(from) })),
  );
}
