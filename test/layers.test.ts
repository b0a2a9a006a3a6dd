import { dirname } from "node:path";
import { expect, test } from "vitest";
import { type SourceFile, sourceFiles } from "./support/source-files.ts";

const FILES = sourceFiles();

/** The packages that a folder may import, besides those of the folders above it; a name that ends in ":" stands for all. */
const PACKAGES: Readonly<Record<string, string>> = {
  action: "node: @actions/core @actions/github/lib/utils yaml zod",
  app: "node:",
  cli: "node: commander @bomb.sh/tab",
  edit: "yaml",
  "kernel/diff": "node:crypto",
  "kernel/plan": "node:crypto",
  "kernel/saved": "zod",
  "kernel/schema": "zod",
  "kernel/values": "zod",
  "kernel/yaml": "js-yaml yaml",
  rules: "zod",
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
const ORDER =
  "sandbox lib model kernel,rules store service edit ask runs show app review api action cli .".split(" ");

test("arrows between the folders of src lead down", () => {
  const heightOf = (path: string): number => {
    const folder = path.includes("/") ? path.split("/", 1).join() : ".";
    return ORDER.findIndex((names) => names.split(",").includes(folder));
  };
  const own = FILES.flatMap(({ path, imports }) =>
    imports.filter(({ to }) => !isPackage(to) && !to.endsWith(".json")).map(({ to }) => ({ path, to })),
  );
  const up = own.filter(({ path, to }) => heightOf(path) < heightOf(to) || heightOf(to) < 0);
  expect(up.map(({ path, to }) => `${path} imports ${to}`)).toEqual([]);
  const ofSandbox = own.filter(({ path, to }) => isBelow(path, "sandbox") && !isBelow(to, "sandbox"));
  expect(ofSandbox).toEqual([]);
});

test("between any two folders imports go one way", () => {
  const arrows = new Set(
    FILES.flatMap(({ path, imports }) =>
      imports.filter(({ to }) => !isPackage(to)).map(({ to }) => `${dirname(path)} → ${dirname(to)}`),
    ),
  );
  const both = [...arrows].filter((arrow) => {
    const [from, to] = arrow.split(" → ");
    return from !== to && arrows.has(`${to} → ${from}`);
  });
  expect(both).toEqual([]);
});
