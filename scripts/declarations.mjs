import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

/**
 * Writes dist/index.d.ts with the types of the public API, which need no other package, and dist/api.json for its
 * reference. Throws if they refer to a type that is not exported.
 */
export function declarations(root, dist) {
  const folder = join(dist, "types");
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  const problems = [];
  const { succeeded } = Extractor.invoke(extractorConfig(root, dist, join(folder, "index.d.ts")), {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === "error") problems.push(message.text);
    },
  });
  if (problems.length > 0 || !succeeded) throw new Error(problems.join("\n") || "the types cannot be read");
  // Which a project without the types of Node and the DOM lacks.
  appendFileSync(join(dist, "index.d.ts"), "\ndeclare global {\n  interface AbortSignal {}\n}\n");
  rmSync(folder, { recursive: true });
}

function extractorConfig(projectFolder, dist, entry) {
  const options = { module: "nodenext", target: "es2022", lib: ["es2023"], strict: true, types: ["node"] };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, "package.json"),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions: { ...options, noEmit: true }, files: [entry] } },
      apiReport: { enabled: false },
      docModel: { enabled: true, apiJsonFilePath: join(dist, "api.json") },
      dtsRollup: { enabled: true, untrimmedFilePath: join(dist, "index.d.ts") },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: "error" } },
        extractorMessageReporting: { "ae-forgotten-export": { logLevel: "error" } },
      },
    },
  });
}
