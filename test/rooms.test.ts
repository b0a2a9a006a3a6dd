import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { cyclesOf, exportsOf, sourceFiles } from "./support/source-files.ts";

const FILES = sourceFiles();

/** Grows only with what rolecall can do: 300 for the core, the rest for shared rules, questions, and screens. */
const MOST_FILES = 390;

/** Returns the paths by a name, of the names that several have. */
function several(
  named: readonly (readonly [name: string, path: string])[],
): Readonly<Record<string, string>> {
  const paths = new Map<string, string[]>();
  for (const [name, path] of named) paths.set(name, [...(paths.get(name) ?? []), path]);
  return Object.fromEntries(
    [...paths].filter(([, all]) => all.length > 1).map(([name, all]) => [name, all.join(" ")]),
  );
}

test(`there are at most ${MOST_FILES} sources, at most 15 of them in a folder`, () => {
  expect(FILES.length).toBeLessThanOrEqual(MOST_FILES);
  const counts: Record<string, number> = {};
  for (const { path } of FILES) counts[dirname(path)] = (counts[dirname(path)] ?? 0) + 1;
  const crowded = Object.entries(counts).filter(([, count]) => count > 15);
  expect(Object.fromEntries(crowded)).toEqual({});
});

test("no source is under 20 lines, unless it holds only types or starts a program", () => {
  const small = FILES.filter(({ lines, code }) => lines < 20 && !isOnlyTypes(code) && !isEntry(code));
  expect(Object.fromEntries(small.map(({ path, lines }) => [path, lines]))).toEqual({});
});

const isOnlyTypes = (code: string): boolean =>
  !/^(?:export )?(?:async )?(?:function|const|class)\b/m.test(code);

/** Nothing imports it. */
const isEntry = (code: string): boolean => !/^export /m.test(code);

test("no two sources have one name, and no two exports", () => {
  const files = several(FILES.map(({ path }) => [basename(path), path]));
  expect(files).toEqual({});
  // A constant and its type may share a name.
  const names = several(
    FILES.flatMap((file) => [...new Set(exportsOf(file))].map((name) => [name, file.path] as const)),
  );
  expect(names).toEqual({});
});

test("no sources import one another in a circle, not even for types", () => {
  const circles = cyclesOf(FILES);
  expect(circles).toEqual([]);
});

test("no command imports a command", () => {
  const isCommand = (path: string): boolean => /^cli\/commands\/.*-command\.ts$/.test(path);
  const wrong = FILES.filter(({ path }) => isCommand(path)).flatMap(({ path, imports }) =>
    imports.filter(({ to }) => isCommand(to)).map(({ to }) => `${path} imports ${to}`),
  );
  expect(wrong).toEqual([]);
});

test("only cli/io and what starts a program touch the process", () => {
  const touching = FILES.filter(
    ({ path, code }) =>
      /(?<![\w$"'`-]|(?<!globalThis)\.)process\s*(?:\.|\?\.|\[)/.test(code) &&
      !path.startsWith("cli/io/") &&
      !isEntry(code),
  );
  expect(touching.map(({ path }) => path)).toEqual([]);
});
