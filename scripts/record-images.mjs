import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { chunkLoader, imageFolder } from "../src/start/chunks.ts";
import { imageOf } from "../src/start/image.ts";

/**
 * `node record-images.js <dist> <arguments of the program>` runs the built program once, and keeps at its end what the
 * engine has compiled of it until then. The build makes one file of this and runs it.
 */
const [dist = "", ...args] = process.argv.slice(2);
const chunks = [];
let isSetUp = false;

process.argv = [process.execPath, join(dist, "bin.js"), ...args];
chunkLoader({
  folder: dist,
  images: null,
  builtin: (id) => (id === "node:v8" ? withoutSettings() : process.getBuiltinModule(id)),
  // An image is good for the settings that it is made under: those of the start.
  onCompiled: (chunk) => isSetUp || chunks.push(chunk),
})("./program.js");

process.on("exit", () => {
  const folder = imageFolder(dist);
  if (folder === null) return;
  mkdirSync(folder, { recursive: true });
  for (const { file, text, script } of chunks) {
    writeFileSync(join(folder, `${basename(file)}.image`), imageOf(text, script.createCachedData()));
  }
});

/** The module of the engine, but nothing is set; from then on, chunks are compiled under other settings than these. */
function withoutSettings() {
  const setFlagsFromString = () => {
    isSetUp = true;
  };
  return { ...process.getBuiltinModule("node:v8"), setFlagsFromString };
}
