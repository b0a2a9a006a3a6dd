import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { reference } from "./reference.mjs";

/** Writes docs/file.md from the built program's schema and diagnostics; with --check it only says whether it is up to date. */
const root = resolve(import.meta.dirname, "..");
const target = join(root, "docs", "file.md");

const { merchantJsonSchema, diagnosticTable } = await import(pathToFileURL(join(root, "dist/index.js")).href);
const head = readFileSync(join(root, "docs", "file.head.md"), "utf8");
const text = reference(head, merchantJsonSchema(), diagnosticTable());

if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
} else if (text !== current()) {
  console.error("docs/file.md is out of date: run npm run docs.");
  process.exitCode = 1;
}

function current() {
  try {
    return readFileSync(target, "utf8");
  } catch {
    return null;
  }
}
