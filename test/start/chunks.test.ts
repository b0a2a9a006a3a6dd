import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CompiledChunk, chunkLoader, imageFolder } from "../../src/start/chunks.ts";
import { imageOf } from "../../src/start/image.ts";

let folder = "";

// Within one process the engine knows again what it has compiled once, and would look at no image.
beforeAll(() => setFlagsFromString("--no-compilation-cache"));
afterAll(() => setFlagsFromString("--compilation-cache"));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-chunks-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, "chunks"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Loads a chunk, and tells of every one that was compiled for it whether its image was refused; null without one. */
function load(name: string, images: string | null = null) {
  const compiled: CompiledChunk[] = [];
  const loader = chunkLoader({ folder, images, onCompiled: (chunk) => compiled.push(chunk) });
  const exports = loader(name);
  return {
    exports,
    compiled,
    refused: Object.fromEntries(
      compiled.map(({ file, script }) => [basename(file), script.cachedDataRejected ?? null]),
    ),
  };
}

/** Keeps images of what a chunk loads; gives their folder. */
function keep(name: string): string {
  const images = join(folder, "images");
  mkdirSync(images);
  for (const { file, text, script } of load(name).compiled) {
    writeFileSync(join(images, `${basename(file)}.image`), imageOf(text, script.createCachedData()));
  }
  return images;
}

describe("chunks", () => {
  test("load each other once, in circles too, and modules of Node", () => {
    write({
      "main.js": `const other = require("./chunks/other.js"); const { sep } = require("node:path");
        exports.all = () => [other.name(), require("./chunks/other.js") === other, sep];`,
      "chunks/other.js": `const main = require("../main.js"); exports.name = () => typeof main.all;`,
    });
    const { exports, compiled } = load("./main.js");
    expect((exports as { all(): unknown }).all()).toEqual(["function", true, join("/")]);
    expect(compiled.map(({ file }) => basename(file))).toEqual(["main.js", "other.js"]);
  });

  test("know where they are, as CommonJS does", () => {
    write({ "chunks/a.js": "module.exports = [__filename, __dirname, this === exports];" });
    expect(load("./chunks/a.js").exports).toEqual([
      join(folder, "chunks", "a.js"),
      join(folder, "chunks"),
      true,
    ]);
  });

  test("are promised the ES modules that they ask for, as seen from their own folder", async () => {
    write({
      "beside.mjs": "export const name = 'beside';",
      "chunks/a.js": 'exports.go = () => require("../beside.mjs");',
    });
    const { exports } = load("./chunks/a.js");
    expect(await (exports as { go(): Promise<unknown> }).go()).toMatchObject({ name: "beside" });
  });

  test("name the line where they fail, and are tried again", () => {
    write({ "a.js": "\n\nthrow new Error('no');" });
    const loader = chunkLoader({ folder, images: null });
    const failed = (): string => {
      try {
        loader("./a.js");
        return "";
      } catch (error) {
        return (error as Error).stack ?? "";
      }
    };
    expect(failed()).toContain(`${join("rolecall", "a.js")}:3:7`);
    expect(failed()).toContain("Error: no");
  });

  test("get no module that Node has not", () => {
    write({ "a.js": 'require("left-pad");' });
    expect(() => load("./a.js")).toThrow("Node.js has no module left-pad");
  });
});

describe("images", () => {
  const program = { "a.js": 'exports.b = require("./b.js");', "b.js": "module.exports = () => 1;" };

  test("are taken for the text that they were made of", () => {
    write(program);
    expect(load("./a.js", keep("./a.js"))).toMatchObject({ refused: { "a.js": false, "b.js": false } });
  });

  test("are not taken for a text that was changed since, even one of the same length", () => {
    write(program);
    const images = keep("./a.js");
    write({ "b.js": "module.exports = () => 2;" });
    const { exports, refused } = load("./a.js", images);
    expect((exports as { b(): number }).b()).toBe(2);
    expect(refused).toEqual({ "a.js": false, "b.js": null });
  });

  test("that the engine refuses, and such that are missing or empty, cost nothing but time", () => {
    write({ ...program, "c.js": 'exports.all = [require("./a.js").b(), require("./b.js")()];' });
    const images = keep("./c.js");
    writeFileSync(join(images, "a.js.image"), imageOf(Buffer.from(program["a.js"]), Buffer.alloc(64)));
    writeFileSync(join(images, "b.js.image"), "");
    rmSync(join(images, "c.js.image"));
    const { exports, refused } = load("./c.js", images);
    expect(exports).toEqual({ all: [1, 1] });
    expect(refused).toEqual({ "c.js": null, "a.js": true, "b.js": null });
  });

  test("are for the very build of Node that runs", () => {
    const { version, platform, arch, execPath } = process;
    const build = `${version}-${platform}-${arch}-${statSync(execPath).size}`;
    expect(imageFolder(folder)).toBe(join(folder, "images", build));
  });

  test("do not say where the program lay", () => {
    write(program);
    const images = keep("./a.js");
    expect(readdirSync(images)).toHaveLength(2);
    for (const name of readdirSync(images)) {
      expect(readFileSync(join(images, name)).includes(folder)).toBe(false);
    }
  });
});
