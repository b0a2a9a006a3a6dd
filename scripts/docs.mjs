import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import { actionReference } from "./action-reference.mjs";
import { apiReference } from "./api-reference.mjs";
import { commandNames, commandReference } from "./command-reference.mjs";
import { dependencyPage } from "./dependencies.mjs";
import { eventReference } from "./event-reference.mjs";
import { withFindingTable } from "./finding-table.mjs";
import { withFolderMap } from "./folder-map.mjs";
import { withFormatTable } from "./format-table.mjs";
import { reference } from "./reference.mjs";
import { readSources } from "./sources.mjs";

/**
 * Writes docs/file.md from the built program's schema and diagnostics, docs/events.md from its registry of events,
 * docs/action.md from action.yml, docs/commands.md from its help, docs/api.md from its declarations, and docs/dependencies.md from its bundles; the table
 * of findings into docs/plan-json.md, that of formats into docs/ci.md, and the map of the sources into CONTRIBUTING.md. With --check it only reports which of them are out of date.
 */
const root = resolve(import.meta.dirname, "..");
const program = join(root, "dist", "bin.js");
const {
  merchantJsonSchema,
  projectJsonSchema,
  diagnosticTable,
  findingTable,
  formatTable,
  lintTable,
  EVENTS,
} = await import(pathToFileURL(join(root, "dist/index.js")).href);

const commands = await Promise.all(
  commandNames(await help()).map(async (name) => ({ name, help: await help(name) })),
);

const pages = {
  "file.md": reference(
    read("src/file.md"),
    { merchant: merchantJsonSchema(), project: projectJsonSchema() },
    diagnosticTable(),
    lintTable(),
  ),
  "plan-json.md": withFindingTable(read("plan-json.md"), findingTable()),
  "action.md": actionReference(read("src/action.md"), parse(text("action.yml"))),
  "events.md": eventReference(read("src/events.md"), EVENTS),
  "api.md": apiReference(read("src/api.md"), examples(), json("dist/api.json")),
  "commands.md": commandReference(read("src/commands.md"), commands),
  "ci.md": withFormatTable(read("ci.md"), formatTable(), commands),
  "dependencies.md": dependencyPage(read("src/dependencies.md"), {
    manifest: json("package.json"),
    lock: json("package-lock.json"),
    data: json("scripts/dependencies.json"),
    page: existsSync(join(root, "docs/dependencies.md")) ? read("dependencies.md") : "",
    program: { licenses: text("dist/licenses.txt"), sizes: json("dist/sizes.json") },
    action: { licenses: text("dist/action.licenses.txt"), sizes: json("dist/sizes-action.json") },
  }),
  "../CONTRIBUTING.md": withFolderMap(
    read("../CONTRIBUTING.md"),
    readSources(root),
    json("scripts/folders.json"),
  ),
};

for (const [name, text] of Object.entries(pages)) {
  if (!process.argv.includes("--check")) {
    writeFileSync(join(root, "docs", name), text);
  } else if (text !== read(name)) {
    console.error(`${join("docs", name)} is out of date: run npm run docs.`);
    process.exitCode = 1;
  }
}

function read(name) {
  return readFileSync(join(root, "docs", name), "utf8");
}

function text(path) {
  return readFileSync(join(root, path), "utf8");
}

function json(path) {
  return JSON.parse(text(path));
}

function examples() {
  const folder = join(root, "examples/library");
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

async function help(...command) {
  return (await promisify(execFile)(process.execPath, [program, ...command, "--help"])).stdout;
}
