import { execFile, execFileSync } from "node:child_process";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeAtomically } from "../../../src/app/io/atomic-write.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-write-"));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const read = (name: string): Promise<string> => readFile(at(name), "utf8");

test("a new file is for its owner alone, and nothing else is left beside it", async () => {
  await writeAtomically(at("plan.json"), "new");
  expect(await read("plan.json")).toBe("new");
  expect((await stat(at("plan.json"))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["plan.json"]);
});

test("an existing file keeps its permissions", async () => {
  await writeFile(at("plan.json"), "old, and longer than the new");
  await chmod(at("plan.json"), 0o664);
  await writeAtomically(at("plan.json"), "new");
  expect(await read("plan.json")).toBe("new");
  expect((await stat(at("plan.json"))).mode & 0o777).toBe(0o664);
});

test("a planted link cannot redirect the write or the removal", async () => {
  await writeFile(at("victim"), "precious");
  await writeFile(at("plan.json"), "old");
  await symlink(at("victim"), at(".planted"));
  const write = writeAtomically(at("plan.json"), "new", { temporaryName: () => ".planted" });
  await expect(write).rejects.toMatchObject({ code: "file-unwritable" });
  expect([await read("victim"), await read("plan.json")]).toEqual(["precious", "old"]);
  expect((await lstat(at(".planted"))).isSymbolicLink()).toBe(true);
});

test("two writes of one file have temporary files of their own", async () => {
  await Promise.all(["a", "b", "c"].map((text) => writeAtomically(at("plan.json"), text)));
  expect(await read("plan.json")).toMatch(/^[abc]$/);
  expect(await readdir(folder)).toEqual(["plan.json"]);
});

test("links are followed, also to a file that is not there yet", async () => {
  await mkdir(at("real"));
  await symlink("real/plan.json", at("link"));
  await symlink(at("link"), at("link-to-link"));
  await writeAtomically(at("link-to-link"), "first");
  await writeAtomically(at("link-to-link"), "second");
  expect(await read("real/plan.json")).toBe("second");
  expect(await readdir(folder)).toEqual(["link", "link-to-link", "real"]);
  expect((await lstat(at("link"))).isSymbolicLink()).toBe(true);
});

test("a hard link stays one, and its other name has the new text, longer or shorter", async () => {
  await writeFile(at("a"), "old");
  await link(at("a"), at("b"));
  await writeAtomically(at("a"), "much longer than before");
  expect(await read("b")).toBe("much longer than before");
  await writeAtomically(at("a"), "");
  expect(await read("b")).toBe("");
  expect((await stat(at("a"))).nlink).toBe(2);
});

test("a FIFO is written to, and stays one", async () => {
  execFileSync("mkfifo", [at("fifo")]);
  const reading = promisify(execFile)("cat", [at("fifo")]);
  await writeAtomically(at("fifo"), "through");
  expect((await reading).stdout).toBe("through");
  expect((await lstat(at("fifo"))).isFIFO()).toBe(true);
});

test.runIf(process.platform === "linux")("a device is written to, and its error is told", async () => {
  await writeAtomically("/dev/null", "gone");
  await expect(writeAtomically("/dev/full", "much")).rejects.toMatchObject({
    message: "/dev/full cannot be written: no space left on the device.",
  });
});

test("creates no folder, reports what is in the way, and leaves nothing behind", async () => {
  const failing = (path: string) => expect(writeAtomically(at(path), "x", { shown: path })).rejects;
  await failing("none/plan.json").toMatchObject({
    message: "none/plan.json cannot be written: its folder does not exist.",
    hint: "Create the folder, or check the path.",
  });
  await failing(".").toMatchObject({ message: ". cannot be written: it is a folder." });
  await symlink("loop", at("loop"));
  await failing("loop").toMatchObject({ code: "file-unwritable" });
  expect(await readdir(folder)).toEqual(["loop"]);
});
