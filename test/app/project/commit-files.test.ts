import { expect, test } from "vitest";
import { openCommitFiles } from "../../../src/app/project/commit-files.ts";
import type { CommitEntry } from "../../../src/store/git-refs.ts";

/** Every path of a commit; a link is written as `-> target`, a submodule as `@`. */
const PATHS: Readonly<Record<string, string>> = {
  "access/a.yaml": "A",
  "access/b.yaml": "-> ../shared/b.txt",
  "access/c.yaml": "-> b.yaml",
  "access/out.yaml": "-> ../../etc/passwd",
  "access/root.yaml": "-> /access/a.yaml",
  "access/loop.yaml": "-> loop.yaml",
  "access/gone.yaml": "-> nowhere",
  "access/folder.yaml": "-> ../shared",
  "access/.hidden.yaml": "H",
  "access/bytes.yaml": "\u0000",
  "access/notes.txt": "N",
  "access/vendor": "@",
  "shared/b.txt": "B",
  linked: "-> access/../shared/",
};

const typeOf = (text: string): CommitEntry["type"] =>
  text === "@" ? "submodule" : text.startsWith("-> ") ? "link" : "file";

const files = () =>
  openCommitFiles("commit", {
    entries: async () =>
      Object.entries(PATHS).map(([path, text]) => ({ path, type: typeOf(text), id: path })),
    contents: async (ids) =>
      ids.map((id) =>
        id === "access/bytes.yaml" ? Buffer.from([255]) : Buffer.from((PATHS[id] ?? "").replace("-> ", "")),
      ),
    parents: async () => [],
  });

test("files of a commit are found behind links within the repository, as in a checkout", async () => {
  const { below, content, read } = await files();
  expect(below("access")).toEqual(["access/a.yaml", "shared/b.txt", "shared/b.txt", "access/bytes.yaml"]);
  expect(below("linked/b.txt")).toEqual(["shared/b.txt"]);
  expect(below("linked")).toEqual([]);
  expect(below("")).toEqual(below("access"));
  for (const path of ["access/c.yaml", "linked/b.txt"]) expect(String(await content(path))).toBe("B");
  for (const name of ["out", "root", "loop", "gone", "folder"]) {
    expect(await content(`access/${name}.yaml`)).toBeNull();
  }
  expect(await read("../linked/b.txt", "access/a.yaml")).toEqual({
    ok: true,
    file: "shared/b.txt",
    text: "B",
  });
  expect(await read("../../b.txt", "access/a.yaml")).toEqual({ ok: false, reason: "outside-root" });
  expect(await read("a.txt", "access/a.yaml")).toEqual({ ok: false, reason: "missing" });
  expect(await read("access/bytes.yaml", null)).toEqual({ ok: false, reason: "not-utf8" });
});

test("files of submodules are not known, and the submodules are named", async () => {
  const { content, submodules } = await files();
  expect(await content("access/vendor/mc1.yaml")).toBeNull();
  expect(submodules).toEqual(["access/vendor"]);
});
