import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const manifest = JSON.parse(read("package.json"));

/** The instructions of the Dockerfile, without comments, a line each. */
const instructions = read("Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter(Boolean);

const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));
const bases = instructions.filter((line) => line.startsWith("ARG "));

describe("Dockerfile", () => {
  test("has its bases pinned by digest, with their versions", () => {
    expect(bases.length).toBe(2);
    for (const line of bases) expect(line).toMatch(/^ARG \w+=\w+:[\w.-]*\d[\w.-]*@sha256:[0-9a-f]{64}$/);
    for (const line of instructions.filter((one) => one.startsWith("FROM ")))
      expect(line).toMatch(/^FROM (--platform=\$\{BUILDPLATFORM\} )?\$\{(NODE|DEBIAN)\}( AS \w+)?$/);
  });

  test("has a Node.js that the package supports, and that the action runs on", () => {
    const [, major, minor] = /^ARG NODE=node:(\d+)\.(\d+)\.\d+-/m.exec(bases.join("\n")) ?? [];
    const [, least] = /^>=(\d+)/.exec(manifest.engines.node) ?? [];
    expect([Number(major) >= Number(least), minor !== undefined]).toEqual([true, true]);
    expect(read("action.yml")).toContain(`using: node${major}`);
  });

  test("runs the program itself, not as root, and nothing while the last stage is built", () => {
    expect(last).toContain("USER 65532:65532");
    expect(last.slice(-2)).toEqual(['ENTRYPOINT ["rolecall"]', 'CMD ["--help"]']);
    expect(last.filter((line) => line.startsWith("RUN "))).toEqual([]);
    expect(last.indexOf("USER 65532:65532")).toBeGreaterThan(
      last.findLastIndex((line) => line.startsWith("COPY ")),
    );
  });

  test("has the labels that registries show", () => {
    const labels = last.find((line) => line.startsWith("LABEL ")) ?? "";
    expect(labels).toContain(`org.opencontainers.image.title="${manifest.name}"`);
    expect(labels).toContain(`org.opencontainers.image.licenses="${manifest.license}"`);
    expect(labels).toContain("org.opencontainers.image.description=");
  });

  test("copies what exists, and leaves out what a build does not read", () => {
    const copied = instructions
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(" ").slice(1, -1));
    expect(copied).toEqual(["package.json", "package-lock.json", ".npmrc", "."]);
    const [everything, ...kept] = read(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(everything).toBe("*");
    for (const line of kept) expect(line).toMatch(/^![\w.*-]+$/);
    const paths = kept.map((line) => line.slice(1));
    for (const path of paths.filter((one) => !one.includes("*")))
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    for (const path of [
      ...copied.slice(0, -1),
      ...manifest.files.filter((one: string) => !one.startsWith("!")),
    ])
      if (path !== "dist") expect(paths).toContain(path);
    for (const path of ["node_modules", "dist", ".git", "test", ".rolecall"])
      expect(paths).not.toContain(path);
  });

  test("is tried by a script that a shell understands", () => {
    execFileSync("bash", ["-n", join(ROOT, ".ci/image")]);
    expect(read(".github/workflows/ci.yml")).toContain(".ci/image rolecall:ci");
  });
});
