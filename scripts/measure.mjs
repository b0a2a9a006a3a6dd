import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { mutualImports, readSources } from "./sources.mjs";

/**
 * Measures the structure of a project's sources: their size, by folder and in total; the size of everything that a
 * command imports, directly or not; the folders that import one another; and how many files name each rule and field.
 */
export function measure(root) {
  const sources = readSources(root).map((source) => ({
    ...source,
    lines: source.text.split("\n").length - 1,
    tokens: tokensOf(source.text),
    words: snakeCase(source.text),
  }));
  const lines = sources.map((source) => source.lines).sort((a, b) => a - b);
  const { rules, fields } = vocabulary(root);
  const mentions = (names) =>
    Object.fromEntries(
      names.map((name) => {
        const word = new RegExp(`(?<![a-z])${name}s?(?![a-z])`);
        return [name, sources.filter(({ words }) => word.test(words)).length];
      }),
    );
  return {
    total: sizeOf(sources),
    medianFile: lines[lines.length >> 1] ?? 0,
    largestFile: lines.at(-1) ?? 0,
    folders: bySize(byFolder(sources)),
    commands: bySize(reachOfCommands(sources)),
    mutualImports: mutualImports(sources).map(
      ({ from, to, there, back }) => `${from} (${there}) ⇄ (${back}) ${to}`,
    ),
    filesNamingRule: mentions(rules),
    filesNamingField: mentions(fields),
  };
}

const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^\\`])*`|"(?:\\.|[^\\"\n])*"|'(?:\\.|[^\\'\n])*'|[\w$]+(?:\.\d+)?|=>|\.{3}|[=!]==?|\?\.|(?:\?\?|&&|\|\|)=?|[<>]=|\S/g;

/** Counts words, literals and operators; a string is one token, and a comment none. */
const tokensOf = (text) => text.match(TOKEN)?.filter((token) => !/^\/[/*]/.test(token)).length ?? 0;

/** Writes camelCase and kebab-case as snake_case, as the keys of files are. */
const snakeCase = (text) =>
  text
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")
    .replaceAll("-", "_")
    .toLowerCase();

const sizeOf = (sources) => ({
  files: sources.length,
  lines: sources.reduce((sum, { lines }) => sum + lines, 0),
  tokens: sources.reduce((sum, { tokens }) => sum + tokens, 0),
});

/** Groups sources by the folders right below src; those of src itself are ".". */
function byFolder(sources) {
  const folders = {};
  for (const source of sources) {
    const folder = /^[^/]+(?=\/)/.exec(source.path)?.[0] ?? ".";
    folders[folder] = [...(folders[folder] ?? []), source];
  }
  return folders;
}

const bySize = (groups) =>
  Object.fromEntries(
    Object.entries(groups)
      .map(([name, sources]) => [name, sizeOf(sources)])
      .sort(([, a], [, b]) => b.tokens - a.tokens),
  );

const COMMAND = /-command\.tsx?$/;

/** Returns the sources that run with each command, without those of other commands. */
function reachOfCommands(sources) {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reach = (command) => {
    const reached = new Set([command]);
    for (const { imports } of reached)
      for (const { to, typeOnly } of imports)
        if (!typeOnly && byPath.has(to) && !COMMAND.test(to)) reached.add(byPath.get(to));
    return [...reached];
  };
  return Object.fromEntries(
    sources
      .filter(({ path }) => COMMAND.test(path))
      .map((command) => [basename(command.path).replace(COMMAND, ""), reach(command)]),
  );
}

/**
 * Returns the keys of rules and the names of fields that a project's schemas have. Rules of a single word, such as
 * `protect`, are left out: the word has other uses.
 */
function vocabulary(root) {
  const { guards, policies } = schema(root, "merchant").properties ?? {};
  const rules = [guards, policies].flatMap((section) => Object.keys(section?.properties ?? {}));
  const diffs = schema(root, "plan").definitions?.fieldDiff?.oneOf ?? [];
  return {
    rules: rules.filter((name) => name.includes("_")),
    fields: diffs.map(({ properties }) => properties.field.const),
  };
}

function schema(root, name) {
  const path = join(root, `schemas/${name}.schema.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}
