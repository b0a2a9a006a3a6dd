import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { pageAssets } from "../../scripts/page-assets.mjs";

const TARGET_MS = 300;

/** How long a plan of 10,000 changes takes to render, in each format; bundled first, as the program is. */
export async function formats({ runs = "9" }) {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-bench-"));
  try {
    const input = resolve(import.meta.dirname, "formats.ts");
    const build = await rolldown({ input, platform: "node", plugins: [pageAssets()] });
    await build.write({ dir: folder, format: "esm", entryFileNames: "formats.mjs" });
    await build.close();
    const { measure } = await import(pathToFileURL(join(folder, "formats.mjs")).href);
    return measure(Number(runs)).map(({ name, values }) => ({
      name: `formats: 10,000 changes as ${name}`,
      target: `<= ${TARGET_MS} ms`,
      unit: "ms",
      digits: 0,
      isMet: (value) => value <= TARGET_MS,
      values,
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}
