import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

/** Builds the program, then bundles a module of the tests and runs it from the root of the project. */
export async function runBundled(module) {
  const root = resolve(import.meta.dirname, "..");
  process.chdir(root);
  if (spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" }).status !== 0) {
    process.exit(1);
  }
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bundled-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const build = await rolldown({
    cwd: root,
    input: { main: module },
    platform: "node",
    external: ["react-devtools-core"],
    logLevel: "silent",
  });
  await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
  await import(pathToFileURL(join(folder, "main.mjs")).href);
}
