import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { bundleSizes } from "./bundle-sizes.mjs";
import { declarations } from "./declarations.mjs";
import { licenses } from "./licenses.mjs";
import { pageAssets } from "./page-assets.mjs";

/**
 * Builds dist/: the program and the public API, as ES modules that need no installed package; the types of the public
 * API; and the GitHub Action as one file that can be read, which is committed.
 */
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");

/** Ink renders only the last frame if CI is set; rolecall itself checks for a terminal. */
const neverInCi = {
  name: "never-in-ci",
  resolveId: (id) => (id === "is-in-ci" ? "\0is-in-ci" : null),
  load: (id) => (id === "\0is-in-ci" ? "export default false;" : null),
};

// The action is committed: keep it if a build fails.
for (const name of existsSync(dist) ? readdirSync(dist) : []) {
  if (!name.startsWith("action.")) rmSync(join(dist, name), { recursive: true });
}
await program();
// A linked installation executes this file itself.
chmodSync(join(dist, "bin.js"), 0o755);
await action();
nameRelease();
declarations(root, dist);

async function program() {
  await bundle(
    {
      input: { bin: "src/bin.ts", index: "src/index.ts", sandbox: "src/sandbox.ts" },
      // Ink loads its optional developer tools only if DEV is "true".
      external: ["react-devtools-core"],
      plugins: [neverInCi, pageAssets(), licenses("licenses.txt"), bundleSizes("sizes.json")],
      // Only the pool of undici is used, not its fetch, proxies, mocks and caches.
      resolve: { alias: { undici$: join(root, "scripts/undici-pool.mjs") } },
      transform: { target: "node20.19", define: { "process.env.NODE_ENV": '"production"' } },
    },
    {
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      // Minified, but with the names and lines that stack traces need: Node.js prints the line of an uncaught error.
      minify: {
        compress: true,
        mangle: { keepNames: { function: true, class: true } },
        codegen: { removeWhitespace: false },
      },
    },
  );
}

/** Names the commit of a release, so that workflows can refer to its action. */
function nameRelease() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const git = spawnSync("git", ["rev-parse", "--verify", `refs/tags/v${version}^{commit}`, "HEAD"], {
    cwd: root,
    encoding: "utf8",
  });
  const [tagged, head] = git.stdout?.trim().split("\n") ?? [];
  if (git.status === 0 && tagged === head)
    writeFileSync(join(dist, "release.json"), `${JSON.stringify({ commit: head })}\n`);
}

/** Builds the action reproducibly, so that it can be compared with the sources. */
async function action() {
  await bundle(
    {
      input: { action: "src/action/action-main.ts" },
      // A linked node_modules would put its target into the file. The toolkit depends on two more copies of undici, and
      // uses its fetch and its proxy.
      resolve: { symlinks: false, alias: { undici$: join(root, "scripts/undici-action.mjs") } },
      // The toolkit's modules have no side effects, but do not declare that.
      treeshake: { moduleSideEffects: [{ test: /node_modules\/@actions\//, sideEffects: false }] },
      plugins: [licenses("action.licenses.txt"), bundleSizes("sizes-action.json")],
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
  // Only third-party modules may import each other in circles.
  if (log.code === "CIRCULAR_DEPENDENCY" && log.message.includes("node_modules")) return;
  // The public API imports statically what the program loads on demand.
  if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
  handler(level, log);
}
