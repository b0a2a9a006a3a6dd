import { mkdtemp, realpath, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cacheFolder, isPrivate } from "../../../src/cli/io/compile-cache.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "rolecall-cache-")));
});
afterEach(() => rm(folder, { recursive: true }));

test("the compiled program is kept in the user's cache folder of the platform", () => {
  expect(cacheFolder({}, "linux")).toBe(join(homedir(), ".cache/rolecall/compiled"));
  expect(cacheFolder({ XDG_CACHE_HOME: "/home/ada/cache" }, "linux")).toBe(
    "/home/ada/cache/rolecall/compiled",
  );
  // The specification has relative paths ignored.
  expect(cacheFolder({ XDG_CACHE_HOME: "cache" }, "linux")).toBe(join(homedir(), ".cache/rolecall/compiled"));
  expect(cacheFolder({}, "darwin")).toBe(join(homedir(), "Library/Caches/rolecall/compiled"));
  expect(cacheFolder({ LOCALAPPDATA: "/ada/local" }, "win32")).toBe("/ada/local/rolecall/compiled");
});

test("nothing is kept below a folder that others may write to", async () => {
  // The system's temporary folder is one.
  expect(isPrivate(folder)).toBe(false);
  expect(isPrivate("/usr")).toBe(true);
});
