import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findYamlFiles,
  namesProject,
  pathFromRoot,
  sourceReader,
} from "../../../src/app/project/find-files.ts";

let cwd = "";

beforeEach(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), "rolecall-files-")));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

async function put(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(cwd, path, ".."), { recursive: true });
    await writeFile(join(cwd, path), `# ${path}\n`);
  }
}

async function names(paths: readonly string[]): Promise<readonly string[]> {
  return (await findYamlFiles(paths, cwd)).map((file) => relative(cwd, file));
}

test("a folder stands for all YAML files below it, in one order, without hidden ones", async () => {
  await put(
    "access/b.yaml",
    "access/a.yml",
    "access/deep/c.YAML",
    "access/.hidden.yaml",
    "access/.git/d.yaml",
    "access/e.json",
  );
  expect(await names(["access"])).toEqual(["access/a.yml", "access/b.yaml", "access/deep/c.YAML"]);
});

test("without a path the folder access/ is read", async () => {
  await put("access/a.yaml", "elsewhere/b.yaml");
  expect(await names([])).toEqual(["access/a.yaml"]);
});

test("from a subfolder of the project its access/ is read, and files are named from there", async () => {
  await put(".git/HEAD", "access/a.yaml", "scripts/deep/run.sh", "shared/b.yaml");
  for (const [folder, file] of [
    ["scripts/deep", "../../access/a.yaml"],
    ["access", "a.yaml"],
  ] as const) {
    const from = join(cwd, folder);
    const [found = ""] = await findYamlFiles([], from);
    expect(found).toBe(join(cwd, "access/a.yaml"));
    expect(await sourceReader(from)(found, null)).toMatchObject({ ok: true, file });
    expect(await sourceReader(from)("../shared/b.yaml", file)).toMatchObject({ ok: true });
  }
});

test("outside of a repository no folder above is read", async () => {
  await put("access/a.yaml", "scripts/run.sh");
  await expect(findYamlFiles([], join(cwd, "scripts"))).rejects.toMatchObject({ code: "no-files" });
});

test("a file that is named twice is read once", async () => {
  await put("access/a.yaml");
  expect(await names(["access", "access/a.yaml"])).toEqual(["access/a.yaml"]);
});

test("a link below a folder is followed to a file of the project, once, and to no folder", async () => {
  await put("project/.git/config.yaml", "project/access/a.yaml", "project/shared/b.yaml", "outside.yaml");
  const link = (to: string, name: string) => symlink(join(cwd, to), join(cwd, "project/access", name));
  await link("project/shared/b.yaml", "b.yaml");
  await link("project/access/a.yaml", "same.yaml");
  await link("project/shared", "more");
  await link("project/shared", "folder.yaml");
  await link("project/access/loop.yaml", "loop.yaml");
  await link("project/.git/config.yaml", "git.yaml");
  await link("outside.yaml", "outside.yaml");
  expect(await names(["project/access"])).toEqual(["project/access/a.yaml", "project/shared/b.yaml"]);
});

test("links that are broken, or lead outside or to an unread folder, are reported", async () => {
  await put(
    "project/.git/HEAD",
    "project/access/a.yaml",
    "project/shared/b.yaml",
    "outside.yaml",
    "away/c.yaml",
  );
  await put("project/README.md", "project/access/deep/d.yaml");
  const link = (to: string, name: string) => symlink(join(cwd, to), join(cwd, "project/access", name));
  await link("project/shared", "north");
  await link("project", "all");
  await link("away", "south");
  await link("nowhere", "east");
  await link("nowhere.yaml", "broken.yaml");
  await link("outside.yaml", "outside.yaml");
  await link("project/access/deep", "same");
  await link("project/README.md", "README.md");
  await link("nowhere", ".hidden");
  await link("away", "node_modules");
  const unread: string[] = [];
  await findYamlFiles(["project/access"], cwd, ({ link, why }) =>
    unread.push(`${relative(cwd, link)} ${why}`),
  );
  expect(unread.sort()).toEqual([
    "project/access/all folder",
    "project/access/broken.yaml broken",
    "project/access/east broken",
    "project/access/north folder",
    "project/access/outside.yaml outside",
    "project/access/south outside",
  ]);
});

test("what a folder has under a file's name is read, so that a named pipe is an error and not left out", async () => {
  await put("project/.git/HEAD", "project/access/a.yaml", "project/access/folder.yaml/b.yaml");
  const pipe = join(cwd, "project/access/pipe.yaml");
  execFileSync("mkfifo", [pipe]);
  await symlink(pipe, join(cwd, "project/access/z.yaml"));
  expect(await names(["project/access"])).toEqual([
    "project/access/a.yaml",
    "project/access/folder.yaml/b.yaml",
    "project/access/pipe.yaml",
  ]);
  expect(await sourceReader(cwd)("project/access/pipe.yaml", null)).toMatchObject({ reason: "not-a-file" });
});

test("a folder with nothing but links that are not read is an error that says so", async () => {
  await put("access/deep/a.txt", "outside/b.yaml");
  await symlink(join(cwd, "nowhere"), join(cwd, "access/b.yaml"));
  await expect(findYamlFiles([], cwd)).rejects.toMatchObject({
    message:
      "There is no YAML file in access. Links that are broken, or lead outside the project or to a folder, are skipped.",
  });
});

describe("a path that is named", () => {
  const NOT_READ = { code: "file-unreadable", message: expect.stringContaining("leads outside the project") };

  test.each([
    ["in the project", "project", "access/link.yaml"],
    ["from a folder of the project", "project/scripts", "../access/link.yaml"],
    ["from outside", ".", "project/access/link.yaml"],
    ["behind a link to a folder", "project", "away/secret.yaml"],
    ["behind a link to another repository", "project", "other/secret.yaml"],
    ["that is a folder", "project", "away"],
    ["to a file of .git", "project", "access/config.yaml"],
    ["outside of a repository", "project", "../loose/link.yaml"],
    [
      "of a project that is reached through a link, from the root of the file system",
      "/",
      "link/access/link.yaml",
    ],
    ["outside of a repository, from the root of the file system", "/", "loose/link.yaml"],
  ])("and that a link leads outside is not read: %s", async (_, from, path) => {
    await put("project/.git/config.yaml", "project/access/a.yaml", "project/scripts/a.sh", "loose/a.yaml");
    await put("elsewhere/secret.yaml", "repository/.git/HEAD", "repository/secret.yaml");
    const target = join(cwd, "elsewhere/secret.yaml");
    await symlink(target, join(cwd, "project/access/link.yaml"));
    await symlink(target, join(cwd, "loose/link.yaml"));
    await symlink(join(cwd, "elsewhere"), join(cwd, "project/away"));
    await symlink(join(cwd, "repository"), join(cwd, "project/other"));
    await symlink(join(cwd, "project/.git/config.yaml"), join(cwd, "project/access/config.yaml"));
    await symlink(join(cwd, "project"), join(cwd, "link"));
    const start = from === "/" ? from : join(cwd, from);
    const named = from === "/" ? join(cwd, path) : path;
    await expect(findYamlFiles([named], start)).rejects.toMatchObject(NOT_READ);
    expect(await sourceReader(start)(resolve(start, named), null)).toMatchObject({ ok: false });
  });

  test("is read where a link leads inside the project, or to the project itself, and anywhere without links", async () => {
    await put("project/.git/HEAD", "project/shared/b.yaml", "project/access/a.yaml", "elsewhere/c.yaml");
    await symlink("../shared/b.yaml", join(cwd, "project/access/b.yaml"));
    await symlink(join(cwd, "project"), join(cwd, "link"));
    const named = async (from: string, path: string) => (await findYamlFiles([path], join(cwd, from))).length;
    expect(await named("project", "access/b.yaml")).toBe(1);
    expect(await named("link", "access/a.yaml")).toBe(1);
    expect(await named("project", "../elsewhere/c.yaml")).toBe(1);
    expect(await named(".", "project/access/b.yaml")).toBe(1);
    expect(await named(".", "link/access/b.yaml")).toBe(1);
    expect((await findYamlFiles([join(cwd, "link/access/b.yaml")], "/")).length).toBe(1);
  });
});

test("a file that is named is read whatever its ending", async () => {
  await put("shop.conf");
  expect(await names(["shop.conf"])).toEqual(["shop.conf"]);
});

test("a path that does not exist is an error that names it", async () => {
  await expect(findYamlFiles(["acess"], cwd)).rejects.toMatchObject({
    code: "file-unreadable",
    message: "acess cannot be read: there is no such file or folder.",
  });
});

test("a folder without YAML files is an error", async () => {
  await put("access/readme.md");
  await expect(findYamlFiles([], cwd)).rejects.toMatchObject({ code: "no-files" });
});

describe("what a file includes", () => {
  const read = (path: string, from: string | null = "access/a.yaml") => sourceReader(cwd)(path, from);

  test("is read from beside the file that includes it, under one name", async () => {
    await put("access/a.yaml", "shared/b.yaml");
    expect(await read("../shared/b.yaml")).toEqual({
      ok: true,
      file: "shared/b.yaml",
      text: "# shared/b.yaml\n",
    });
    expect(await read("../access/../shared/b.yaml")).toMatchObject({ file: "shared/b.yaml" });
  });

  test("lies inside the project, also behind links", async () => {
    await put("project/.git/HEAD", "project/access/a.yaml", "outside.yaml");
    await symlink(join(cwd, "outside.yaml"), join(cwd, "project/access/link.yaml"));
    const from = "project/access/a.yaml";
    expect(await read("../../outside.yaml", from)).toEqual({ ok: false, reason: "outside-root" });
    expect(await read("link.yaml", from)).toEqual({ ok: false, reason: "outside-root" });
  });

  test("is a file, and there", async () => {
    await put("access/a.yaml", "access/folder.yaml/x");
    expect(await read("folder.yaml")).toMatchObject({ ok: false, reason: "not-a-file" });
    expect(await read("/dev/zero", null)).toMatchObject({ ok: false, reason: "not-a-file" });
    expect(await read("gone.yaml")).toEqual({ ok: false, reason: "missing" });
  });

  test("is UTF-8: other bytes are an error, not a question mark", async () => {
    await put("access/a.yaml");
    await writeFile(join(cwd, "access/b.yaml"), Buffer.from([0x61, 0xff, 0x62]));
    expect(await read("b.yaml")).toEqual({ ok: false, reason: "not-utf8", file: "access/b.yaml" });
  });

  test("is not huge", async () => {
    await put("access/a.yaml", "access/b.yaml");
    await truncate(join(cwd, "access/b.yaml"), 65 * 1024 * 1024);
    expect(await read("b.yaml")).toMatchObject({ ok: false, reason: "too-large" });
  });
});

test("no include leads into what git keeps for itself, also not through a link", async () => {
  await put("access/a.yaml", ".git/config.yaml");
  await symlink(join(cwd, ".git/config.yaml"), join(cwd, "access/link.yaml"));
  const read = sourceReader(cwd);
  for (const path of ["../.git/config.yaml", "link.yaml"])
    expect(await read(path, "access/a.yaml")).toEqual({ ok: false, reason: "outside-root" });
});

test("the default folder, and a folder that holds it, are the whole project; a file or a part of it is not", async () => {
  await put("access/a.yaml", "access/north/b.yaml");
  const isWhole = (...paths: readonly string[]) => namesProject(paths, cwd);
  expect([isWhole(), isWhole("access"), isWhole("."), isWhole("access/a.yaml", "access")]).toEqual(
    Array(4).fill(true),
  );
  expect([isWhole("access/a.yaml"), isWhole("access/north"), isWhole("nowhere")]).toEqual(
    Array(3).fill(false),
  );
});

test("annotations have paths from the project root, wherever a command runs", async () => {
  await put(".git/HEAD", "access/north/b.yaml", "shared/c.yaml");
  const folder = join(cwd, "access", "north");
  expect(pathFromRoot("b.yaml", folder)).toBe("access/north/b.yaml");
  expect(pathFromRoot("../../shared/c.yaml", folder)).toBe("shared/c.yaml");
  expect(pathFromRoot("/elsewhere/d.yaml", folder)).toBe("/elsewhere/d.yaml");
});
