import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SEED = `merchants:
  - code: MC0ONE
    roles:
      - { name: Cashier, permissions: [catalog_view] }
    members:
      - { email: ada@example.com, roles: [role_employee] }
`;

const FILE = `version: 1
merchant: MC0ONE
sync: { members: additive, roles: additive }
members:
  - email: ada@example.com
    roles: [role_employee, Cashier]
`;

/**
 * Applies a file that gives one member one more role, which is one PUT, to a sandbox, and returns the named functions
 * that ran, by their source below src. Node.js runs the sources as they are, so that it has to be able to.
 */
export async function functionsOfOnePut(root) {
  if (!process.features.typescript)
    throw new Error("--put needs Node.js 24, which runs sources without a build.");
  const folder = mkdtempSync(join(tmpdir(), "rolecall-put-"));
  writeFileSync(join(folder, "seed.yaml"), SEED);
  writeFileSync(join(folder, "one.yaml"), FILE);
  const program = join(root, "src/bin.ts");
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, ROLECALL_API_KEY: "sk_test_sandbox", CI: "true" },
  };
  const sandbox = spawn(
    process.execPath,
    [program, "sandbox", "--port", "0", "--seed", "seed.yaml"],
    options,
  );
  try {
    const url = await urlOf(sandbox);
    const coverage = join(folder, "coverage");
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, "apply", "--yes", "--base-url", url, "one.yaml"],
      { ...options, env: { ...options.env, NODE_V8_COVERAGE: coverage }, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`The apply exits ${status}:\n${stdout}${stderr}`);
    return functionsRun(coverage, pathToFileURL(`${join(root, "src")}/`).href);
  } finally {
    sandbox.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Waits until a sandbox prints its address. */
async function urlOf(sandbox) {
  let output = "";
  const read = async (stream) => {
    for await (const chunk of stream) {
      output += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (url !== undefined) return url;
    }
    throw new Error(`The sandbox ended:\n${output}`);
  };
  return Promise.any([read(sandbox.stdout), read(sandbox.stderr)]);
}

/** Reads a folder that NODE_V8_COVERAGE names. */
function functionsRun(folder, src) {
  const byFile = {};
  for (const name of readdirSync(folder))
    for (const script of JSON.parse(readFileSync(join(folder, name), "utf8")).result) {
      const names = script.functions
        .filter(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0)
        .map(({ functionName }) => functionName);
      if (script.url.startsWith(src) && names.length > 0) byFile[script.url.slice(src.length)] = names;
    }
  return byFile;
}
