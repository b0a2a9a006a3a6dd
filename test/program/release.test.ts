import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { bundleSbom } from "../../scripts/sbom.mjs";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const SCHEMAS = join(ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));

let folder = "";
const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");

const release = (...args: readonly string[]) =>
  run(process.execPath, [join(ROOT, "scripts/release.mjs"), ...args], { cwd: tmpdir() });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rolecall-release-"));
  await release(`v${version}`, folder, "--unreleased");
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

test("a release has a package, the action, a bill of materials of each, their checksums, and notes", async () => {
  const files = [
    `rolecall-${version}.tgz`,
    `rolecall-action-${version}.tgz`,
    "action.yml",
    "action.mjs",
    `rolecall-${version}.cdx.json`,
    `rolecall-action-${version}.cdx.json`,
  ];
  expect((await readdir(folder)).sort()).toEqual([...files, "SHA256SUMS", "release-notes.md"].sort());
  const sums = await Promise.all(
    files.map(
      async (name) =>
        `${createHash("sha256")
          .update(await readFile(join(folder, name)))
          .digest("hex")}  ${name}\n`,
    ),
  );
  expect(await read("SHA256SUMS")).toBe(sums.join(""));
  expect(await read("release-notes.md")).toMatch(/^(- |###)/);
});

test("the action is packed as a repository has it", async () => {
  const { stdout } = await run("tar", ["-tzf", join(folder, `rolecall-action-${version}.tgz`)]);
  expect(stdout.split("\n").filter(Boolean).sort()).toEqual([
    "LICENSE",
    "action.yml",
    "dist/action.licenses.txt",
    "dist/action.mjs",
  ]);
});

test("the bills of materials keep to CycloneDX's own schema", async () => {
  // Formats of international addresses are not checked: nothing in them is one.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const schema = async (name: string) =>
    JSON.parse(await readFile(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), "utf8"));
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    // The copies in the package refer to one another by the names of their files.
    const $id = `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`;
    ajv.addSchema({ ...(await schema(name)), $id });
  }
  const validate = ajv.compile(await schema("bom-1.6"));
  for (const name of ["rolecall", "rolecall-action"]) {
    const bom = JSON.parse(await read(`${name}-${version}.cdx.json`));
    expect([name, validate(bom), validate.errors]).toEqual([name, true, null]);
    expect(validate({ ...bom, components: [{ name: "no type" }] })).toBe(false);
  }
});

test("the bills of materials list everything that the bundles contain, by the hash that was installed", async () => {
  for (const [name, licenses] of [
    ["rolecall", "licenses.txt"],
    ["rolecall-action", "action.licenses.txt"],
  ] as const) {
    const { components } = JSON.parse(await read(`${name}-${version}.cdx.json`));
    const text = await readFile(join(ROOT, "dist", licenses), "utf8");
    const titles = text.match(/^\S+ \d+\.\d+\.\d+\S* \(.+\)$/gm) ?? [];
    expect(components.map((one: { name: string; version: string }) => `${one.name} ${one.version}`)).toEqual(
      titles.map((title) => title.replace(/ \(.*/, "")),
    );
    for (const one of components) expect(one.hashes?.[0]?.content, one.name).toMatch(/^[0-9a-f]{128}$/);
    const undici = components.find((one: { name: string }) => one.name === "undici");
    expect(undici.components).toMatchObject([{ name: "llhttp" }]);
  }
});

test("the same commit makes the same bills of materials", async () => {
  const made = await read(`rolecall-${version}.cdx.json`);
  const again = bundleSbom({
    name: "rolecall",
    manifest: JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")),
    lock: JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")),
    licenses: await readFile(join(ROOT, "dist/licenses.txt"), "utf8"),
    now: new Date(JSON.parse(made).metadata.timestamp),
  });
  expect(again).toBe(made);
});

test("a tag of another version is refused before anything is made", async () => {
  await expect(release("v99.0.0", join(folder, "other"))).rejects.toMatchObject({
    code: 1,
    stderr: `The tag is v99.0.0, but package.json has the version ${version}.\n`,
  });
  expect(await readdir(folder)).not.toContain("other");
});
