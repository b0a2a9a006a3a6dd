import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadSource } from "../bench/support/source.mjs";

/** Writes the files of an example organisation into a new folder, and the seed of its live state as live.yaml. */
const [name, folder] = process.argv.slice(2);
const [{ CHAINS }, { seedOf }] = await Promise.all([
  loadSource("test/support/chains/chains.ts"),
  loadSource("test/support/chains/chain.ts"),
]);

if (!Object.hasOwn(CHAINS, name ?? "") || folder === undefined || existsSync(folder)) {
  if (folder !== undefined && existsSync(folder)) console.error(`${folder} is there already.`);
  console.error(`Usage: node scripts/chain.mjs ${Object.keys(CHAINS).join("|")} NEW-FOLDER`);
  process.exit(1);
}
const chain = CHAINS[name](Date.now());
for (const [path, text] of Object.entries({ ...chain.files, "live.yaml": seedOf(chain) })) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
console.log(`${folder}: ${Object.keys(chain.files).length} files and live.yaml, a seed for the sandbox.`);
