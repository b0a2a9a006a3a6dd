import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { main } from "../../../src/cli/main.ts";
import { copySources, importCopy } from "../../support/copied-program.ts";
import { type Ended, realIo } from "../../support/rolecall.ts";

const FORMAT = `
export const shout = {
  name: "shout",
  use: "people far away",
  prints: {
    plans: ({ plans }) => plans.map(({ merchant }) => merchant + "!").join(" ") + "\\n",
    answer: ({ table }) => table().rows.map((row) => row.join("! ") + "!\\n").join(""),
  },
};
`;

const home = mkdtempSync(join(tmpdir(), "rolecall-new-format-"));
const work = join(home, "work");
let program: typeof main;

beforeAll(async () => {
  copySources(home);
  const folder = join(home, "src/show/formats");
  writeFileSync(join(folder, "shout-format.ts"), FORMAT);
  const table = readFileSync(join(folder, "every-format.ts"), "utf8");
  const edited = table.replace(/\[\s*textFormat,/, "[shout, textFormat,");
  expect(edited).not.toBe(table);
  writeFileSync(join(folder, "every-format.ts"), `import { shout } from "./shout-format.ts";\n${edited}`);
  program = await importCopy(home);
  mkdirSync(join(work, "access"), { recursive: true });
  writeFileSync(join(work, "access/shop.yaml"), "version: 1\nmerchant: MC1\nmembers: []\n");
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs the program with the new format. */
async function run(...args: readonly string[]): Promise<Ended> {
  const { io, written } = realIo({ cwd: work, waitFactor: 0 });
  const code = await program(args, io);
  return { code, ...written };
}

test("a format that is added to the table is in help and docs of the commands whose documents it prints", async () => {
  const commands = await Promise.all(
    ["plan", "list", "validate"].map(async (name) => ({ name, help: (await run(name, "--help")).stdout })),
  );
  const { withFormatTable } = await import(
    new URL("../../../scripts/format-table.mjs", import.meta.url).href
  );
  const page = "<!-- The formats: made by scripts/docs.mjs. -->\n<!-- End of the formats. -->\n";
  expect(withFormatTable(page, [{ name: "shout", use: "people far away" }], commands)).toContain(
    "| `shout` | `plan`, `list` | people far away |",
  );
});

test("it is completed and accepted, and prints; other commands name their own formats", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue();
  await run("complete", "--", "plan", "--format", "sh");
  expect(log.mock.calls.flat().join("\n")).toContain("shout");
  log.mockRestore();
  expect(await run("list", "--format", "shout")).toMatchObject({
    stdout: "MC1! ! access/shop.yaml!\n",
    code: 0,
  });
  const { stderr, code } = await run("validate", "--format", "shout");
  expect(stderr).toMatch(/Allowed choices are text, json, github, gitlab, sarif, junit/);
  expect(code).toBe(1);
});
