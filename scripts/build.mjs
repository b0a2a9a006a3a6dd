import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { pageAssets } from "./page-assets.mjs";

/**
 * Builds dist/: the program and the public API, as ES modules that need no installed package; the types of the public
 * API; and the GitHub Action as one file that can be read, which is committed.
 */
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");

/** Ink draws nothing before its end where CI is set; whether there is a terminal is rolecall's own question. */
const neverInCi = {
  name: "never-in-ci",
  resolveId: (id) => (id === "is-in-ci" ? "\0is-in-ci" : null),
  load: (id) => (id === "\0is-in-ci" ? "export default false;" : null),
};

// The action is committed: where a build fails, it stays.
for (const name of existsSync(dist) ? readdirSync(dist) : []) {
  if (name !== "action.mjs") rmSync(join(dist, name), { recursive: true });
}
await program();
// A linked installation runs this file itself.
chmodSync(join(dist, "bin.js"), 0o755);
await action();
declarations();

async function program() {
  await bundle(
    {
      input: { bin: "src/bin.ts", index: "src/index.ts" },
      // Ink's optional developer tools are not shipped; it only asks for them when DEV is "true".
      external: ["react-devtools-core"],
      plugins: [neverInCi, pageAssets()],
      // The pool is the small part of undici that is used: fetch, proxies, mocks and caches are the rest.
      resolve: { alias: { undici$: join(root, "scripts/undici-pool.mjs") } },
      transform: { target: "node20.19", define: { "process.env.NODE_ENV": '"production"' } },
    },
    {
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      // Small, but with the names that a stack trace is read by.
      minify: {
        compress: true,
        mangle: { keepNames: { function: true, class: true } },
        codegen: { removeWhitespace: true },
      },
    },
  );
}

/** The same bytes wherever it is built, so that a reader can hold it against the sources. */
async function action() {
  await bundle(
    {
      input: { action: "src/action/action-main.ts" },
      // A linked node_modules would put the place that it leads to into the file.
      // Its own HTTP client is enough: the toolkit brings the same one twice more, for proxies.
      resolve: { symlinks: false, alias: { undici: join(root, "node_modules/undici") } },
      // The toolkit does not declare it: none of its modules does anything when it is evaluated.
      treeshake: { moduleSideEffects: [{ test: /node_modules\/@actions\//, sideEffects: false }] },
      transform: { target: "node20.19" },
    },
    { entryFileNames: "[name].mjs", codeSplitting: false, minify: false },
  );
}

async function bundle(input, output) {
  const build = await rolldown({ cwd: root, platform: "node", onLog, ...input });
  await build.write({ dir: dist, format: "esm", comments: { legal: true }, sourcemap: false, ...output });
  await build.close();
}

function onLog(level, log, handler) {
  // Third parties may refer to each other in circles; our own code may not.
  if (log.code === "CIRCULAR_DEPENDENCY" && log.message.includes("node_modules")) return;
  // The public API and the action have at once what the program loads when it needs it.
  if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
  handler(level, log);
}

/** Emits the declarations of src/index.ts and of whatever they reach, and nothing else. */
function declarations() {
  const types = join(dist, "types");
  const tsc = createRequire(import.meta.url).resolve("typescript/package.json");
  execFileSync(process.execPath, [join(dirname(tsc), "bin/tsc"), "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: "inherit",
  });
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)\.tsx?"/g)) {
      visit(`${join(dirname(file), specifier)}.d.ts`);
    }
  };
  visit(join(types, "index.d.ts"));
  for (const entry of readdirSync(types, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) rmSync(file);
  }
}
