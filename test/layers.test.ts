import { dirname } from "node:path";
import { expect, test } from "vitest";
import { cyclesOf, type SourceFile, sourceFiles } from "./support/source-files.ts";

const FILES = sourceFiles();

/** The packages that a folder may import, besides those of the folders above it; a name that ends in ":" stands for all. */
const PACKAGES: Readonly<Record<string, string>> = {
  action: "node: @actions/core @actions/github/lib/utils yaml zod",
  app: "node:",
  cli: "node: commander @bomb.sh/tab",
  edit: "yaml",
  "kernel/diff": "node:crypto",
  "kernel/plan": "node:crypto",
  "kernel/rules/settings": "zod",
  "kernel/saved": "zod",
  "kernel/schema": "zod",
  "kernel/values": "zod",
  "kernel/yaml": "js-yaml yaml",
  runs: "zod",
  sandbox: "hono @hono/node-server yaml zod node:http node:crypto",
  service: "undici zod",
  show: "diff",
  "show/html": "node:crypto",
  store: "node:child_process node:crypto node:path",
  "show/screen": "ink react string-width",
};

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

const isPackage = (to: string): boolean => !/\.(tsx?|json)$/.test(to);

test("each folder imports only its packages", () => {
  const allowedFor = ({ path }: SourceFile): readonly string[] =>
    Object.entries(PACKAGES).flatMap(([folder, names]) => (isBelow(path, folder) ? names.split(" ") : []));
  const wrong = FILES.flatMap((file) => {
    const allowed = allowedFor(file);
    const isAllowed = (to: string): boolean =>
      allowed.some((name) => isBelow(to, name) || (name.endsWith(":") && to.startsWith(name)));
    return file.imports
      .filter(({ to }) => isPackage(to) && !isAllowed(to))
      .map(({ to }) => `${file.path} imports ${to}`);
  });
  expect(wrong).toEqual([]);
});

/** The folders of src, from the bottom to the top: each imports only those before it. */
const ORDER = "sandbox lib model kernel store service edit ask runs show app review api action cli .".split(
  " ",
);

test("arrows between the folders of src lead down", () => {
  const heightOf = (path: string): number =>
    ORDER.indexOf(path.includes("/") ? path.split("/", 1).join() : ".");
  const own = FILES.flatMap(({ path, imports }) =>
    imports.filter(({ to }) => !isPackage(to) && !to.endsWith(".json")).map(({ to }) => ({ path, to })),
  );
  const up = own.filter(({ path, to }) => heightOf(path) < heightOf(to) || heightOf(to) < 0);
  expect(up.map(({ path, to }) => `${path} imports ${to}`)).toEqual([]);
  const ofSandbox = own.filter(({ path, to }) => isBelow(path, "sandbox") && !isBelow(to, "sandbox"));
  expect(ofSandbox).toEqual([]);
});

/** Returns which folders import which, if only the first `depth` names of a path are its folder. */
function importsByFolder(depth: number): ReadonlyMap<string, readonly string[]> {
  const folderOf = (path: string): string => dirname(path).split("/", depth).join("/");
  const targets = new Map<string, readonly string[]>();
  for (const { path, imports } of FILES) {
    const folder = folderOf(path);
    const others = imports.flatMap(({ to }) =>
      isPackage(to) || folderOf(to) === folder ? [] : folderOf(to),
    );
    targets.set(folder, [...(targets.get(folder) ?? []), ...others]);
  }
  return targets;
}

test.each([1, 2, 3, 4])("no folders import one another in a circle, to a depth of %i", (depth) => {
  const circles = cyclesOf(importsByFolder(depth));
  expect(circles).toEqual([]);
});

test("reading, formatting and listing files reaches no judge of a rule", () => {
  const byPath = new Map(FILES.map((file) => [file.path, file]));
  const reachOf = (folder: string): readonly string[] => {
    const reached = new Set([...byPath.keys()].filter((path) => isBelow(path, folder)));
    for (const path of reached) for (const { to } of byPath.get(path)?.imports ?? []) reached.add(to);
    return [...reached].filter((path) => dirname(path) === "kernel/rules");
  };
  expect(["kernel/schema", "kernel/validate", "edit/format", "kernel/messages"].flatMap(reachOf)).toEqual([]);
});
