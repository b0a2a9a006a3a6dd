import { describe, expect, test } from "vitest";
import type { Tree, TreeEntry } from "../../src/action/context/github-api.ts";
import { commitFiles } from "../../src/action/github/commit-files.ts";

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
  "access/notes.txt": "N",
  "access/vendor": "@",
  "shared/b.txt": "B",
  linked: "-> access/../shared/",
};

const typeOf = (text: string): TreeEntry["type"] =>
  text === "@" ? "submodule" : text.startsWith("-> ") ? "link" : "file";

/** GitHub as it lists a commit: whole, or only folder by folder. */
const github = (truncated: boolean) => ({
  tree: async (sha: string, recursive: boolean): Promise<Tree> => {
    const folder = sha === "commit" ? "" : `${sha}/`;
    const inside = Object.entries(PATHS).filter(([path]) => path.startsWith(folder));
    const all = new Map<string, TreeEntry>();
    for (const [whole, text] of inside) {
      const path = whole.slice(folder.length);
      const [first = ""] = path.split("/");
      if (recursive || first === path) all.set(path, { path, type: typeOf(text), sha: `${whole}!` });
      else all.set(first, { path: first, type: "folder", sha: `${folder}${first}` });
    }
    const entries = [...all.values()];
    return recursive && truncated
      ? { entries: entries.slice(0, 1), truncated }
      : { entries, truncated: false };
  },
  blob: async (sha: string) => Buffer.from((PATHS[sha.slice(0, -1)] ?? "").replace("-> ", "")),
});

describe.each([
  ["whole", false],
  ["folder by folder", true],
])("the files of a commit, listed %s", (_, truncated) => {
  test("are found behind links within the repository, as in a checkout", async () => {
    const files = await commitFiles("commit", github(truncated));
    expect(await files.below("access")).toEqual(["access/a.yaml", "shared/b.txt", "shared/b.txt"]);
    expect(await files.fileAt("access/c.yaml")).toBe("shared/b.txt");
    expect(await files.fileAt("linked/b.txt")).toBe("shared/b.txt");
    expect(await files.blobAt("linked/b.txt")).toBe("shared/b.txt!");
    expect(await files.below("linked/b.txt")).toEqual(["shared/b.txt"]);
    for (const name of ["out", "root", "loop", "gone", "folder"]) {
      expect(await files.fileAt(`access/${name}.yaml`)).toBeNull();
    }
  });

  test("are not known in submodules, which are named", async () => {
    const files = await commitFiles("commit", github(truncated));
    expect(await files.fileAt("access/vendor/mc1.yaml")).toBeNull();
    expect([...files.submodules]).toEqual(["access/vendor"]);
    const others = await commitFiles("commit", github(truncated));
    await others.below("");
    expect([...others.submodules]).toEqual(["access/vendor"]);
  });
});
