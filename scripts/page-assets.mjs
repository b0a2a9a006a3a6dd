import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const folder = resolve(import.meta.dirname, "../src/show/html");

/** Creates a plugin for build and tests that replaces assets.ts by the bundled client and style of the page. */
export function pageAssets() {
  return {
    name: "page-assets",
    async load(id) {
      if (id.split("?")[0].replaceAll("\\", "/") !== join(folder, "assets.ts").replaceAll("\\", "/"))
        return null;
      const assets = await makeAssets();
      return { code: `export const ASSETS = ${JSON.stringify(assets)};`, moduleType: "js" };
    },
  };
}

async function makeAssets() {
  const build = await rolldown({ input: join(folder, "client/page-main.ts"), platform: "browser" });
  const { output } = await build.generate({ format: "iife", minify: true });
  await build.close();
  const script = output[0].code.trim();
  const style = readFileSync(join(folder, "client/page.css"), "utf8")
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
  // Neither may end its enclosing element.
  if (/<\/(script|style)|<!--/i.test(script + style))
    throw new Error("the page's script or style would end itself");
  return { script, style, scriptHash: hashOf(script), styleHash: hashOf(style) };
}

function hashOf(text) {
  return `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
}
