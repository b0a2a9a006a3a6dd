import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadStates } from "../../../src/cli/files/load-states.ts";

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-load-"));
  await mkdir(join(cwd, "access"));
  for (const code of ["ALPHA", "BRAVO", "CHARLIE", "DELTA", "ECHO", "FOXTROT", "GOLF"])
    await writeFile(join(cwd, "access", `${code}.yaml`), `version: 1\nmerchant: ${code}\n`);
});

afterAll(() => rm(cwd, { recursive: true }));

const load = (merchant: string) => loadStates([], { merchants: [merchant], cwd, now: 0 });

test("a merchant's code with a slip of the keyboard gets a suggestion", async () => {
  await expect(load("CHARLEI")).rejects.toMatchObject({ hint: "Did you mean CHARLIE?" });
});

test("a merchant of no file gets some of those that there are, not all", async () => {
  await expect(load("MC4F7K2P")).rejects.toMatchObject({
    message: "No file declares merchant MC4F7K2P.",
    hint: 'The files declare ALPHA, BRAVO, CHARLIE, DELTA, ECHO, and 2 more: "rolecall list" lists them.',
  });
});
