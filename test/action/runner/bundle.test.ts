import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { BUNDLE } from "../support/repository.ts";

const bundle = await readFile(BUNDLE, "utf8");

test("the bundle is one file that can be read: no Ink, no React, no command line, nothing to install", async () => {
  const modules = [...bundle.matchAll(/^\/\/ (\S+\.(?:js|mjs|cjs|ts|tsx))$/gm)].map(([, path]) =>
    String(path),
  );
  expect(modules.length).toBeGreaterThan(100);
  expect(
    modules.filter((path) => /node_modules\/(ink|react|yoga|commander|hono)\b|\.tsx$/.test(path)),
  ).toEqual([]);
  expect(bundle).not.toContain("react.transitional.element");
  const imports = [...bundle.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, name]) => String(name));
  const { builtinModules } = await import("node:module");
  expect(imports.filter((name) => !builtinModules.includes(name.replace("node:", "")))).toEqual([]);
  expect(bundle).not.toMatch(/\bimport\("\.\//);
  expect(bundle.length / bundle.split("\n").length).toBeLessThan(60);
});

test("the bundle holds nothing of the place where it was made", () => {
  expect(bundle).not.toContain(resolve(import.meta.dirname, "../../.."));
  expect(bundle).not.toMatch(/^\/\/ (\.\.|\/)/m);
});
