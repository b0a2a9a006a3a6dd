import { cpSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import type { main } from "../../src/cli/main.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Copies the sources into the folder `src` of another one, to be edited. */
export function copySources(home: string): void {
  cpSync(join(ROOT, "src"), join(home, "src"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  for (const folder of ["node_modules", "schemas"]) symlinkSync(join(ROOT, folder), join(home, folder));
}

/** Builds the copied sources without types, and returns the program. */
export async function importCopy(home: string): Promise<typeof main> {
  const build = await rolldown({
    input: join(home, "src/cli/main.ts"),
    platform: "node",
    external: ["react-devtools-core"],
    onLog: () => undefined,
  });
  // Vitest leaves to Node.js what is in such a folder.
  const dist = join(home, "dist/node_modules");
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
  return (await import(pathToFileURL(join(dist, "main.mjs")).href)).main;
}
