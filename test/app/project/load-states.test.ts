import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadStates } from "../../../src/app/project/load-states.ts";

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
    hint: 'The files declare ALPHA, BRAVO, CHARLIE, DELTA, ECHO, and 2 more: "rolecall list" lists them. To create a file from the live state: rolecall pull MC4F7K2P',
  });
});

test("a selection is judged alone: files of others do not fail it, but one that could be its own does", async () => {
  const project = await mkdtemp(join(tmpdir(), "rolecall-select-"));
  await mkdir(join(project, "access"));
  await mkdir(join(project, "shared"));
  const files = {
    "access/a.yaml": "version: 1\nmerchant: A1\ninclude: [../shared/all.yaml]\nroles: []\n",
    "access/b.yaml": "version: 1\nmerchant: B1\ninclude: [../shared/all.yaml]\nrole: []\nroles: []\n",
    "access/c.yaml": "version: 1\nmerchant: [\n",
    "shared/all.yaml": "version: 1\nsync: { roles: sometimes }\n",
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(project, file), text);
  const told = async (...merchants: readonly string[]) => {
    const { diagnostics, states } = await loadStates([], { merchants, cwd: project, now: 0 });
    return [...new Set(diagnostics.map(({ file }) => file)), ...states.map(({ merchant }) => merchant)];
  };
  expect(await told()).toEqual(["access/b.yaml", "access/c.yaml", "shared/all.yaml"]);
  expect(await told("A1")).toEqual(["shared/all.yaml"]);
  expect(await told("B1")).toEqual(["access/b.yaml", "shared/all.yaml"]);
  expect(await told("C1")).toEqual(["access/c.yaml"]);
  await writeFile(join(project, "shared/all.yaml"), "version: 1\n");
  expect(await told("A1")).toEqual(["A1"]);
  await rm(join(project, "access/c.yaml"));
  await expect(told("C1")).rejects.toMatchObject({ code: "usage" });
  await writeFile(join(project, "access/d.yaml"), "version: 1\nmerchant: A1\n");
  expect(await told("A1")).toContain("access/d.yaml");
  await rm(project, { recursive: true });
});

test("a link to a folder is a warning if merchants' files are there, which nobody manages", async () => {
  const project = await mkdtemp(join(tmpdir(), "rolecall-links-"));
  for (const [file, text] of Object.entries({
    "access/a.yaml": "version: 1\nmerchant: A1\n",
    "north/n.yaml": "version: 1\nmerchant: N1\n",
    "shared/s.yaml": "version: 1\nroles: []\n",
  })) {
    await mkdir(join(project, file, ".."), { recursive: true });
    await writeFile(join(project, file), text);
  }
  for (const folder of ["north", "shared"]) await symlink(`../${folder}`, join(project, "access", folder));
  const { diagnostics } = await loadStates([], { merchants: [], cwd: project, now: 0 });
  expect(diagnostics.map(({ file, code }) => [file, code])).toEqual([["access/north", "link-not-read"]]);
  await rm(project, { recursive: true });
});

test("only the files of selected merchants are parsed, unless a result could replace one that others include", async () => {
  const parsed = async (more: Partial<Parameters<typeof loadStates>[1]>) => {
    const { states, all } = await loadStates([], { merchants: ["BRAVO"], cwd, now: 0, ...more });
    expect(states.map(({ merchant }) => merchant)).toEqual(["BRAVO"]);
    return all.length;
  };
  expect(await parsed({})).toBe(1);
  expect(await parsed({ outputs: ["plan.json"] })).toBe(1);
  expect(await parsed({ outputs: ["plan.yaml"] })).toBe(7);
  expect(await parsed({ everyFile: true })).toBe(7);
});

test("files are read in natural order, and the merchants are sorted by code as ever", async () => {
  const project = await mkdtemp(join(tmpdir(), "rolecall-order-"));
  await mkdir(join(project, "access"));
  for (const code of ["MC156", "MC15", "MC2"])
    await writeFile(join(project, "access", `${code}.yaml`), `version: 1\nmerchant: ${code}\n`);
  const { states, sources } = await loadStates([], { merchants: [], cwd: project, now: 0 });
  expect(sources.map(({ file }) => file)).toEqual([
    "access/MC2.yaml",
    "access/MC15.yaml",
    "access/MC156.yaml",
  ]);
  expect(states.map(({ merchant }) => merchant)).toEqual(["MC15", "MC156", "MC2"]);
  await rm(project, { recursive: true });
});

test("a named file without a merchant selects none where only merchants' files are taken", async () => {
  const project = await mkdtemp(join(tmpdir(), "rolecall-named-"));
  await mkdir(join(project, "access"));
  await writeFile(join(project, "access/a.yaml"), "version: 1\nmerchant: A1\ninclude: [../all.yaml]\n");
  await writeFile(join(project, "all.yaml"), "version: 1\n");
  const named = async (merchantsOnly: boolean) => {
    const options = { merchants: [], cwd: project, now: 0, merchantsOnly };
    const { states, diagnostics, reach } = await loadStates(["all.yaml"], options);
    return [states.map(({ merchant }) => merchant), diagnostics.map(({ code }) => code), reach];
  };
  expect(await named(false)).toEqual([
    ["A1"],
    [],
    [{ path: "all.yaml", merchants: ["A1"], beside: false, unused: [] }],
  ]);
  expect(await named(true)).toEqual([[], ["missing-key"], undefined]);
  await rm(project, { recursive: true });
});
