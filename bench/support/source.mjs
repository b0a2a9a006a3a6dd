import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { pageAssets } from "../../scripts/page-assets.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

/** Builds and loads a source file that the public API does not export. */
export async function loadSource(path) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  try {
    const build = await rolldown({
      cwd: ROOT,
      input: { part: path },
      platform: "node",
      plugins: [pageAssets()],
    });
    await build.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs" });
    await build.close();
    return await import(pathToFileURL(join(folder, "part.mjs")).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
