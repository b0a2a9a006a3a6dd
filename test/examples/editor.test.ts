import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const SCHEMA = "schemas/merchant.schema.json";

test("the larger schema is kept fresh by the hooks, and going back is final", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/editor.md"), "utf8");
  const [start = "", back = "", hook = ""] = Array.from(
    page.matchAll(/^```sh\n(.*?)^```/gms),
    ([, text = ""]) => text,
  );
  const cwd = await mkdtemp(join(tmpdir(), "rolecall-editor-"));
  const env = {
    PATH: `${cwd}/bin:${process.env["PATH"]}`,
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Ada"],
        [`GIT_${who}_EMAIL`, "ada@example.com"],
      ]),
    ),
  };
  const sh = (script: string): string => String(execFileSync("sh", ["-ec", script], { cwd, env }));
  const schema = () => readFile(join(cwd, SCHEMA), "utf8");
  try {
    for (const folder of ["bin", "schemas"]) await mkdir(join(cwd, folder));
    await writeFile(join(cwd, "bin/rolecall"), `#!/bin/sh\ngit branch --show-current > ${SCHEMA}\n`);
    await chmod(join(cwd, "bin/rolecall"), 0o755);
    await writeFile(join(cwd, SCHEMA), "small\n");
    sh("git init -q -b main; git add schemas; git commit -q -m one");
    for (const name of ["post-merge", "post-checkout"]) {
      await writeFile(join(cwd, ".git/hooks", name), hook);
      await chmod(join(cwd, ".git/hooks", name), 0o755);
    }
    sh(start);
    sh("git checkout -q -b other");
    expect(await schema()).toBe("other\n");
    expect(sh("git status --porcelain schemas")).toBe("");
    sh(back);
    expect(await schema()).toBe("small\n");
    sh("git checkout -q main");
    expect(await schema()).toBe("small\n");
    expect(sh("git status --porcelain schemas")).toBe("");
  } finally {
    await rm(cwd, { recursive: true });
  }
});
