import { readdirSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseMerchantFile } from "../../../../src/index.ts";
import { loadMerchants } from "../../../../src/kernel/read/load-merchants.ts";
import type { ReadResult, ReadSource } from "../../../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../../../src/kernel/rules/judge-rules.ts";
import type { Diagnostic } from "../../../../src/model/diagnostic.ts";
import { memoryProject } from "../../../support/project-access.ts";

/** Where the files with mistakes are, each with what a user reads about it. */
export const folder = fileURLToPath(new URL("../err/", import.meta.url));

/** The moment at which the files with mistakes are read: the first one of 21 November 2026, UTC. */
export const NOW = Date.UTC(2026, 10, 21);

/** Single files, and folders of files that are read together. */
export const cases = readdirSync(folder)
  .filter((name) => !name.endsWith(".out") && name !== "large")
  .sort();

/** What a case gives. */
export async function run(name: string): Promise<readonly Diagnostic[]> {
  if (name.endsWith(".yaml")) {
    return parseMerchantFile(name, readFileSync(`${folder}${name}`, "utf8"), { now: NOW }).diagnostics;
  }
  const files = readdirSync(`${folder}${name}`, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ya?ml$/.test(file) && statSync(`${folder}${name}/${file}`).isFile())
    .toSorted();
  const projects = [await memoryProject(files, readerIn(name))];
  return (await loadMerchants(files, readerIn(name), { now: NOW, judge: judgeDeclared, projects }))
    .diagnostics;
}

function readerIn(name: string): ReadSource {
  return (path, from) => {
    const file = posix.join(from === null ? "" : posix.dirname(from), path);
    return Promise.resolve(read(`${folder}${name}`, file));
  };
}

function read(root: string, file: string): ReadResult {
  if (file.startsWith("../")) {
    return { ok: false, reason: "outside-root" };
  }
  try {
    const bytes = readFileSync(`${root}/${file}`);
    return { ok: true, file, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "missing" : code === "EISDIR" ? "not-a-file" : "not-utf8";
    return { ok: false, reason };
  }
}
