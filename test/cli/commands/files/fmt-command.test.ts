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
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "../../../../src/app/io/io.ts";
import { fmtCommand } from "../../../../src/cli/commands/files/fmt-command.ts";

const UNTIDY = "merchant: M # the shop\nversion:   1\n";
const TIDY = "version: 1\nmerchant: M # the shop\n";

let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-fmt-"));
  await mkdir(join(cwd, "access"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

const put = (name: string, text: string) => writeFile(join(cwd, "access", name), text);
const get = (name: string) => readFile(join(cwd, "access", name), "utf8");

/** Runs the command as the program does. */
async function fmt(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  let [stdout, code] = ["", -1];
  const sink = {
    write: (text: string) => {
      stdout += text;
    },
    isTTY: false,
    columns: undefined,
  };
  const io = { cwd, env: {}, now: () => 0, stdout: sink, stderr: sink } as unknown as Io;
  const command = fmtCommand(io, (ended) => {
    code = ended;
  });
  await command.parseAsync([...args], { from: "user" });
  return { code, stdout };
}

describe("fmt", () => {
  test("writes the files that change, names them, and is silent about the rest", async () => {
    await put("shop.yaml", UNTIDY);
    await put("tidy.yaml", TIDY.replace("M", "N"));
    expect(await fmt()).toEqual({
      code: 0,
      stdout: "formatted access/shop.yaml\n1 formatted, 1 unchanged\n",
    });
    expect(await get("shop.yaml")).toBe(TIDY);
    expect(await fmt()).toEqual({ code: 0, stdout: "2 unchanged\n" });
    expect(await readdir(join(cwd, "access"))).toEqual(["shop.yaml", "tidy.yaml"]);
  });

  test("--check writes nothing, names what would change, and exits 1", async () => {
    await put("shop.yaml", UNTIDY);
    expect(await fmt("--check")).toEqual({ code: 1, stdout: "would format access/shop.yaml\n1 to format\n" });
    expect(await get("shop.yaml")).toBe(UNTIDY);
    await fmt();
    expect(await fmt("--check")).toEqual({ code: 0, stdout: "1 already formatted\n" });
  });

  test("--sort also sorts entries, and --check knows that", async () => {
    const text = `${TIDY}members:\n  - email: b@x.example\n  - email: a@x.example\n`;
    await put("shop.yaml", text);
    expect((await fmt("--check")).code).toBe(0);
    expect((await fmt("--check", "--sort")).stdout).toBe("would format access/shop.yaml\n1 to format\n");
    await fmt("--sort");
    expect(await get("shop.yaml")).toBe(`${TIDY}members:\n  - email: a@x.example\n  - email: b@x.example\n`);
  });

  test("leaves a file alone that is no YAML, reports it, and formats the others", async () => {
    await put("bad.yaml", `${UNTIDY}merchant: N\n`);
    await put("shop.yaml", UNTIDY);
    const { code, stdout } = await fmt();
    expect(code).toBe(1);
    expect(stdout).toContain("access/bad.yaml:3:1: error:");
    expect(stdout).toMatch(/1 formatted, 1 with errors\n$/);
    expect(await get("bad.yaml")).toBe(`${UNTIDY}merchant: N\n`);
    expect(await get("shop.yaml")).toBe(TIDY);
  });

  test("formats a file that breaks other rules, which validate reports", async () => {
    await put("shop.yaml", `rolls:   []\n${UNTIDY}sync: { members: all }\n`);
    expect(await fmt()).toEqual({ code: 0, stdout: "formatted access/shop.yaml\n1 formatted\n" });
    expect(await get("shop.yaml")).toBe(`${TIDY}sync: { members: all }\nrolls: []\n`);
  });

  test("keeps a file's permissions, and a link a link", async () => {
    await put("real.yml", UNTIDY);
    await chmod(join(cwd, "access/real.yml"), 0o640);
    await symlink("access/real.yml", join(cwd, "link.yaml"));
    expect((await fmt("link.yaml")).code).toBe(0);
    expect(await get("real.yml")).toBe(TIDY);
    expect((await stat(join(cwd, "access/real.yml"))).mode & 0o777).toBe(0o640);
    expect((await lstat(join(cwd, "link.yaml"))).isSymbolicLink()).toBe(true);
  });

  test("keeps a hard link's other name the same file", async () => {
    await put("shop.yaml", UNTIDY);
    await link(join(cwd, "access/shop.yaml"), join(cwd, "other"));
    expect((await fmt()).code).toBe(0);
    expect(await readFile(join(cwd, "other"), "utf8")).toBe(TIDY);
  });

  test("never writes through a link that stands beside the file", async () => {
    await put("shop.yaml", UNTIDY);
    await writeFile(join(cwd, "victim"), "precious");
    await symlink(join(cwd, "victim"), join(cwd, "access/.shop.yaml.draft"));
    expect((await fmt()).code).toBe(0);
    expect(await readFile(join(cwd, "victim"), "utf8")).toBe("precious");
    expect(await readdir(join(cwd, "access"))).toEqual([".shop.yaml.draft", "shop.yaml"]);
  });

  test("leaves a file alone that is too large to format, says so, and formats the others", async () => {
    const many = Array.from(
      { length: 20_000 },
      (_, index) => `  - {email: "p${index}@example.com", roles: []}\n`,
    );
    const large = `version: 1\nmerchant: LARGE\nmembers:\n${many.join("")}`;
    await put("large.yaml", large);
    await put("shop.yaml", UNTIDY);
    expect(await fmt()).toEqual({
      code: 0,
      stdout: [
        "formatted access/shop.yaml",
        "access/large.yaml is left alone: it is longer than 700,000 characters. To format it, split it with include.",
        "1 formatted, 1 too large\n",
      ].join("\n"),
    });
    expect(await get("large.yaml")).toBe(large);
  });

  test("a file's name cannot inject workflow commands", async () => {
    await put("a\n::error::.yaml", UNTIDY);
    expect((await fmt()).stdout).toBe("formatted access/a\\n::error::.yaml\n1 formatted\n");
  });
});
