import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { releaseNotes } from "./changelog.mjs";
import { bundleSbom } from "./sbom.mjs";

/**
 * Makes what a release publishes, in a folder, from the built dist/: the package, the action, a bill of materials of
 * each, their checksums, and the notes. It fails if the tag, package.json and the changelog do not name one version.
 *
 *     node scripts/release.mjs v1.2.3 FOLDER [--unreleased]
 *
 * --unreleased accepts a section of the changelog without a date, to try it.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { unreleased: { type: "boolean", default: false } },
});
const [tag, folder] = positionals;
if (tag === undefined || folder === undefined)
  fail("usage: node scripts/release.mjs v1.2.3 FOLDER [--unreleased]");

const root = resolve(import.meta.dirname, "..");
const manifest = JSON.parse(read("package.json"));
const lock = JSON.parse(read("package-lock.json"));
const { version } = manifest;
const out = resolve(folder);

try {
  if (lock.version !== version)
    throw new Error(`package-lock.json has the version ${lock.version}: run npm install.`);
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  const base = repository ? `${server}/${repository}/blob/${tag}/` : "";
  const changelog = read("CHANGELOG.md");
  const notes = releaseNotes({ tag, version, changelog, base, unreleased: values.unreleased });
  mkdirSync(out, { recursive: true });
  const files = [...packages(), ...materials()];
  writeFileSync(join(out, "release-notes.md"), notes);
  writeFileSync(join(out, "SHA256SUMS"), files.map((name) => `${sha256(name)}  ${name}\n`).join(""));
} catch (error) {
  fail(error.message);
}

/** Packs what npm and users of the action download. */
function packages() {
  const action = `rolecall-action-${version}.tgz`;
  // What was tested is packed: nothing is built again.
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", out], { cwd: root });
  execFileSync("tar", [
    ...["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rw,go=r"],
    ...["-czf", join(out, action), "-C", root],
    ...["action.yml", "dist/action.mjs", "dist/action.licenses.txt", "LICENSE"],
  ]);
  // On their own, so that a copy of them in a repository can be verified.
  for (const file of ["action.yml", "dist/action.mjs"])
    copyFileSync(join(root, file), join(out, basename(file)));
  return [`rolecall-${version}.tgz`, action, "action.yml", "action.mjs"];
}

/** Writes the bills of materials. */
function materials() {
  const now = new Date(Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root })) * 1000);
  return [
    ["rolecall", "dist/licenses.txt"],
    ["rolecall-action", "dist/action.licenses.txt"],
  ].map(([name, licenses]) => {
    const file = `${name}-${version}.cdx.json`;
    writeFileSync(join(out, file), bundleSbom({ name, manifest, lock, licenses: read(licenses), now }));
    return file;
  });
}

function sha256(name) {
  return createHash("sha256")
    .update(readFileSync(join(out, name)))
    .digest("hex");
}

function read(path) {
  return readFileSync(join(root, path), "utf8");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
