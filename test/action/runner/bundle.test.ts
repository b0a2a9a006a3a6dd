import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { BUNDLE } from "../support/run-program.ts";

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

test("the licenses of every package in the bundle are beside it", async () => {
  const packages = new Set(
    Array.from(
      bundle.matchAll(/^\/\/ node_modules\/(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)\//gm),
      ([, name]) => name,
    ),
  );
  expect(packages.size).toBeGreaterThan(10);
  const text = await readFile(BUNDLE.replace(/mjs$/, "licenses.txt"), "utf8");
  const entries = text.split(`\n${"-".repeat(80)}\n\n`);
  expect(
    entries.map((entry) => /^(\S+) [^(]*\(/.exec(entry)?.[1]).filter((name) => name !== "llhttp"),
  ).toEqual([...packages].sort((a, b) => String(a).localeCompare(String(b))));
  for (const entry of entries)
    expect(entry).toMatch(
      /permission is hereby granted|redistribution and use|permission to use|apache license/i,
    );
});

test("the bundle has the fetch and the proxy of undici, and not its mocks, caches, cookies and sockets", () => {
  expect(bundle).toContain("// node_modules/undici/lib/web/fetch/index.js");
  expect(bundle).not.toMatch(
    /^\/\/ node_modules\/undici\/(?:index|lib\/(?:mock|cache|web\/(?:websocket|cookies|eventsource)))/m,
  );
});
