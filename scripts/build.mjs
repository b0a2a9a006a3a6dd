import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { keepImages } from "./keep-images.mjs";
import { pageAssets } from "./page-assets.mjs";

/**
 * Builds dist/: the program and the public API as bundles that need no installed package, CommonJS because that starts
 * faster; Ink, React and what draws with them as modules that only a terminal loads; what this machine's engine has
 * compiled of the program; the types of the public API; and the GitHub Action as one file that can be read, which is
 * committed.
 */
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");

/** What draws on a terminal: Ink awaits its layout engine at the top level, which only a module can. */
const terminal = ["board", "browser", "confirm"];

const drawnElsewhere = {
  name: "drawn-elsewhere",
  resolveId: {
    filter: { id: /\/render\/tui\/(?:board|browser|confirm)\.tsx$/ },
    // As seen from chunks/.
    handler: (id) => ({ id: `../terminal/${basename(id, ".tsx")}.mjs`, external: true }),
  },
};

/** Ink draws nothing before its end where CI is set; whether there is a terminal is rolecall's own question. */
const neverInCi = {
  name: "never-in-ci",
  resolveId: (id) => (id === "is-in-ci" ? "\0is-in-ci" : null),
  load: (id) => (id === "\0is-in-ci" ? "export default false;" : null),
};

/**
 * The pool and how it connects: the rest of undici (fetch, requests as streams, proxies, mocks, caches) is most of what there would be
 * to load, and an eighth of a second where a machine is slow.
 */
const onlyThePool = {
  name: "only-the-pool",
  resolveId: (id) => (id === "undici" ? "\0only-the-pool" : null),
  load: (id) =>
    id === "\0only-the-pool"
      ? `import Pool from "undici/lib/dispatcher/pool.js";
         import buildConnector from "undici/lib/core/connect.js";
         export { buildConnector, Pool };`
      : null,
};

const transform = { target: "node20.19", define: { "process.env.NODE_ENV": '"production"' } };

/** Small, but with the names that a stack trace is read by. */
const bundled = {
  minify: {
    compress: true,
    mangle: { keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: true },
  },
  comments: { legal: true },
  sourcemap: false,
};

/**
 * What is loaded together is one chunk, because loading many takes longer: what declares the commands, and what reads a
 * file that has nothing wrong. What explains a mistake, the thorough YAML reader and the schema above all, is left to
 * chunks of its own.
 */
const groups = [
  {
    name: "start",
    priority: 1,
    test: /src[\\/]cli[\\/](exit-code|node-io|standard-sink|version)\.|package\.json$/,
  },
  {
    name: "commands",
    test: /node_modules[\\/]commander[\\/]|src[\\/](cli[\\/](commands[\\/]|(as-of|completion-words|duration|fleet-matrix|main|options|output|parse-shard|shard)\.)|model[\\/]errors\.|render[\\/](escape|review-size|style|words)\.)/,
  },
  {
    name: "files",
    test: /node_modules[\\/]js-yaml[\\/]|src[\\/](cli[\\/](load|files|project-root)\.|config[\\/](?!messages|format|journal-|plan-file|plan-schema|json-|schema|(check-problems|diagnose|frame|locate|merchants|parse|parse-file|positions|suggest|synonyms|syntax-problems|width|yaml-document)\.))/,
  },
];

// The action is committed: where a build fails, it stays.
for (const name of existsSync(dist) ? readdirSync(dist) : []) {
  if (name !== "action.mjs") rmSync(join(dist, name), { recursive: true });
}
await program();
await starter();
await drawing();
await keepImages(dist);
await action();
declarations();

/** The program, and beside it the public API, which is a module for those who import it. */
async function program() {
  const build = await rolldown({
    cwd: root,
    input: { program: "src/program.ts", api: "src/index.ts" },
    platform: "node",
    plugins: [drawnElsewhere, onlyThePool, pageAssets()],
    transform,
    onLog,
  });
  const { output } = await build.write({
    ...bundled,
    dir: dist,
    format: "cjs",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups },
  });
  await build.close();
  for (const { fileName, code } of output) importElsewhere(join(dist, fileName), code);
  const { exports } = output.find(({ name, isEntry }) => isEntry && name === "api");
  writeFileSync(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  writeFileSync(
    join(dist, "index.mjs"),
    `import api from "./api.js";\nexport const { ${exports.join(", ")} } = api;\n`,
  );
}

/** A chunk that is loaded from an image cannot import by itself: what loads it does that where it asks for a module. */
function importElsewhere(file, code) {
  const asking = code.replaceAll(/\bimport\((["'`]\.\.\/terminal\/\w+\.mjs["'`])\)/g, "require($1)");
  if (/\bimport\(/.test(asking)) throw new Error(`${file} imports what its loader does not know of`);
  if (asking !== code) writeFileSync(file, asking);
}

/** What loads the program: alone, because it is the only part that is compiled each time. */
async function starter() {
  const build = await rolldown({ cwd: root, input: "src/bin.ts", platform: "node", transform, onLog });
  await build.write({ ...bundled, file: join(dist, "bin.js"), format: "cjs" });
  await build.close();
}

/** What draws, loaded by the program where there is a terminal. */
async function drawing() {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(terminal.map((name) => [name, `src/render/tui/${name}.tsx`])),
    platform: "node",
    // Ink's optional developer tools are not shipped; it only asks for them when DEV is "true".
    external: ["react-devtools-core"],
    plugins: [neverInCi],
    transform,
    onLog,
  });
  await build.write({
    ...bundled,
    dir: join(dist, "terminal"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
}

/** The action: one file, the same bytes wherever it is built, so that a reader can hold it against the sources. */
async function action() {
  const build = await rolldown({
    cwd: root,
    input: { action: "src/action/bin.ts" },
    platform: "node",
    // A linked node_modules would put the place that it leads to into the file.
    // Its own HTTP client is enough: the toolkit brings the same one twice more, for proxies.
    resolve: { symlinks: false, alias: { undici: join(root, "node_modules/undici") } },
    transform: { target: "node20.19" },
    onLog,
  });
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].mjs",
    codeSplitting: false,
    minify: false,
    comments: { legal: true },
    sourcemap: false,
  });
  await build.close();
}

function onLog(level, log, handler) {
  // Third parties may refer to each other in circles; our own code may not.
  if (log.code === "CIRCULAR_DEPENDENCY" && log.message.includes("node_modules")) return;
  // The public API and the action have at once what the program loads when it needs it.
  if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
  handler(level, log);
}

/** Emits the declarations of src/index.ts and whatever they reach, and nothing else. */
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
    const text = readFileSync(file, "utf8");
    // The compiler leaves our .ts specifiers in declarations; a reader of the package has .d.mts beside .mjs.
    writeFileSync(file.replace(/\.ts$/, ".mts"), text.replaceAll(/(from "\.[^"]+)\.tsx?"/g, '$1.mjs"'));
    for (const [, specifier] of text.matchAll(/from "(\.[^"]+)\.tsx?"/g)) {
      visit(`${join(dirname(file), specifier)}.d.ts`);
    }
  };
  visit(join(types, "index.d.ts"));
  for (const name of readdirSync(types, { recursive: true })) {
    const file = join(types, String(name));
    if (statSync(file).isFile() && !file.endsWith(".mts")) rmSync(file);
  }
  for (const name of readdirSync(types)) {
    const folder = join(types, name);
    if (statSync(folder).isDirectory() && readdirSync(folder).length === 0)
      rmSync(folder, { recursive: true });
  }
  if (!existsSync(join(types, "index.d.mts"))) throw new Error("no declarations were written");
}
