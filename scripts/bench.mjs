import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { pageAssets } from "./page-assets.mjs";

/** Runs bench/<name>.ts as the built program would run: bundled first. */
const root = resolve(import.meta.dirname, "..");
const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("Which one? node scripts/bench.mjs formats");

const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
try {
  const build = await rolldown({
    cwd: root,
    input: `bench/${name}.ts`,
    platform: "node",
    plugins: [pageAssets()],
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "bench.mjs" });
  await build.close();
  await import(pathToFileURL(join(folder, "bench.mjs")).href);
} finally {
  rmSync(folder, { recursive: true });
}
