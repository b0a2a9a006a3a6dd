import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { imageFolder } from "../../src/start/chunks.ts";
import { rolecall } from "../support/program.ts";

const DIST = resolve(import.meta.dirname, "../../dist");

let copy = "";

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "rolecall-images-"));
  await cp(DIST, copy, { recursive: true });
});

afterAll(async () => {
  await rm(copy, { recursive: true });
});

test("the build keeps images of what a short run loads, and this engine takes every one of them", async () => {
  const names = (await readdir(imageFolder(DIST) ?? "")).map((name) =>
    name.replace(/-[\w-]{8}\.js\.image$/, ""),
  );
  expect(names).toEqual(
    expect.arrayContaining(["commands", "files", "prepare", "schemas", "service", "start"]),
  );
  // In a process of its own, where nobody has changed the engine's settings.
  const look = `
    const { Script } = require("node:vm");
    const refused = [];
    Script.prototype.runInThisContext = new Proxy(Script.prototype.runInThisContext, {
      apply(run, script, args) { refused.push(script.cachedDataRejected); return Reflect.apply(run, script, args); },
    });
    process.argv = [process.argv[0], "rolecall", "validate", "examples/retail/access"];
    process.on("exit", () => console.error(JSON.stringify(refused)));
    require(${JSON.stringify(join(DIST, "bin.js"))});`;
  const { stderr } = await promisify(execFile)(process.execPath, ["-e", look], {
    env: { PATH: process.env["PATH"] },
  });
  const refused: unknown[] = JSON.parse(stderr);
  expect(refused.length).toBeGreaterThan(4);
  expect(refused.slice(0, 5)).toEqual([false, false, false, false, false]);
  expect(refused).not.toContain(true);
});

test("a program that was changed after the build runs as it was changed", async () => {
  const [start = ""] = (await readdir(join(copy, "chunks"))).filter((name) => name.startsWith("start-"));
  const file = join(copy, "chunks", start);
  const text = await readFile(file, "utf8");
  const { version } = JSON.parse(await readFile(resolve(DIST, "../package.json"), "utf8"));
  const other = version.replaceAll(/\d/g, "7");
  await writeFile(file, text.replace(version, other));
  const { stdout } = await rolecall(["--version"], { bin: join(copy, "bin.js") });
  expect(stdout).toBe(`${other}\n`);
});

test("without images everything works", async () => {
  await rm(join(copy, "images"), { recursive: true });
  const { code, stdout } = await rolecall(["validate", "examples/retail/access"], {
    bin: join(copy, "bin.js"),
  });
  expect(stdout).toBe("3 files valid.\n");
  expect(code).toBe(0);
});
