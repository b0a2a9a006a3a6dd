import { basename } from "node:path";
import { expect, test } from "vitest";
import { cyclesOf, exportsOf, sourceFiles } from "./support/source-files.ts";

const FILES = sourceFiles();

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
  const circles = cyclesOf(new Map(FILES.map(({ path, imports }) => [path, imports.map(({ to }) => to)])));
  expect(circles).toEqual([]);
});

test("no command imports a command", () => {
  const isCommand = (path: string): boolean => /^cli\/commands\/.*-command\.ts$/.test(path);
  const wrong = FILES.filter(({ path }) => isCommand(path)).flatMap(({ path, imports }) =>
    imports.filter(({ to }) => isCommand(to)).map(({ to }) => `${path} imports ${to}`),
  );
  expect(wrong).toEqual([]);
});

test("only app/io, cli/io and what starts a program touch the process", () => {
  const touching = FILES.filter(
    ({ path, code }) =>
      /(?<![\w$"'`-]|(?<!globalThis)\.)process\s*(?:\.|\?\.|\[)/.test(code) &&
      !/^(?:app|cli)\/io\//.test(path) &&
      !isEntry(code),
  );
  expect(touching.map(({ path }) => path)).toEqual([]);
});
