import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

/** The package's entries: whether each has a reference in docs/, and the global types that a project may lack. */
const ENTRIES = [
  { name: "index", hasReference: true, globals: ["AbortSignal"] },
  { name: "sandbox", hasReference: false, globals: ["Request", "RequestInit", "Response", "URL"] },
];

/**
 * Writes the types of each entry of the package, such as dist/index.d.ts, which need no other package, and dist/api.json for
 * the reference. Throws if they refer to a type that is not exported.
 */
export function declarations(root, dist) {
  const folder = join(dist, "types");
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  for (const entry of ENTRIES) rollUp(root, dist, folder, entry);
  rmSync(folder, { recursive: true });
}

function rollUp(root, dist, folder, { name, hasReference, globals }) {
  const problems = [];
  const output = join(dist, `${name}.d.ts`);
  const docModel = {
    enabled: hasReference,
    ...(hasReference && { apiJsonFilePath: join(dist, "api.json") }),
  };
  const config = extractorConfig(root, join(folder, `${name}.d.ts`), docModel, output);
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === "error") problems.push(message.text);
    },
  });
  if (problems.length > 0 || !succeeded) throw new Error(problems.join("\n") || "the types cannot be read");
  // Which a project without the types of Node and the DOM lacks.
  const interfaces = globals.map((one) => `  interface ${one} {}\n`).join("");
  appendFileSync(output, `\ndeclare global {\n${interfaces}}\n`);
}

function extractorConfig(projectFolder, entry, docModel, untrimmedFilePath) {
  const options = { module: "nodenext", target: "es2022", lib: ["es2023"], strict: true, types: ["node"] };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, "package.json"),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions: { ...options, noEmit: true }, files: [entry] } },
      apiReport: { enabled: false },
      docModel,
      dtsRollup: { enabled: true, untrimmedFilePath },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: "error" } },
        extractorMessageReporting: { "ae-forgotten-export": { logLevel: "error" } },
      },
    },
  });
}
