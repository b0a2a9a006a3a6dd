import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const json = (path: string) => JSON.parse(read(path));

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly deprecated?: string;
}

const manifest = json("package.json");
const lock = json("package-lock.json");
const data = json("scripts/dependencies.json");
const renovate = json("renovate.json");
const locked = Object.entries(lock.packages as Readonly<Record<string, Locked>>).filter(
  ([path]) => path !== "",
);

describe("package-lock.json", () => {
  test("has a hash of every package, and says nothing about where they come from", () => {
    expect(locked.length).toBeGreaterThan(100);
    expect(locked.filter(([, one]) => !one.integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual(
      [],
    );
    expect(locked.filter(([, one]) => one.resolved !== undefined)).toEqual([]);
    expect(read("package-lock.json")).not.toMatch(/https?:\/\/[^"]*\.tgz|"resolved"|registry/);
    expect(read(".npmrc")).toContain("omit-lockfile-registry-resolved=true");
  });

  test("belongs to package.json, and nothing in it is deprecated", () => {
    const { name, version, devDependencies } = lock.packages[""];
    expect({ name, version, devDependencies }).toEqual({
      name: manifest.name,
      version: manifest.version,
      devDependencies: manifest.devDependencies,
    });
    expect(locked.filter(([, one]) => one.deprecated !== undefined)).toEqual([]);
  });
});

describe("dependencies", () => {
  test("are bundled: whoever installs rolecall installs nothing else, and nothing runs", () => {
    for (const kind of ["dependencies", "optionalDependencies", "peerDependencies", "bundleDependencies"])
      expect([kind, manifest[kind]]).toEqual([kind, undefined]);
    for (const script of ["preinstall", "install", "postinstall", "prepare"])
      expect([script, manifest.scripts[script]]).toEqual([script, undefined]);
    expect(locked.filter(([, one]) => !one.dev && !one.devOptional).map(([path]) => path)).toEqual([]);
  });

  test("have exact versions, and nothing is patched", () => {
    const versions = { ...manifest.devDependencies, ...manifest.overrides };
    for (const [name, version] of Object.entries(versions))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)]);
    expect(existsSync(join(ROOT, "patches"))).toBe(false);
    expect(Object.values(manifest.scripts).join("\n")).not.toContain("patch");
  });

  test("each have a reason, and those that are bundled a license that asks for no more than its text", () => {
    expect(Object.keys({ ...data.bundled, ...data.development }).sort()).toEqual(
      Object.keys(manifest.devDependencies).sort(),
    );
    for (const name of Object.keys(data.bundled))
      expect([name, lock.packages[`node_modules/${name}`].license]).toEqual([
        name,
        expect.stringMatching(/^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause)$/),
      ]);
    const action = read("dist/action.licenses.txt");
    for (const [, license] of action.matchAll(/^\S+ \d+\.\d+\.\d+\S* \((.+)\)$/gm))
      expect(license).toMatch(/^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause)$/);
  });
});

describe("updates", () => {
  const [bundled] = renovate.packageRules;

  test("are old enough to be known, locked, and grouped by what they can change", () => {
    expect(renovate.extends).toContain("config:best-practices"); // digests of actions and images, exact versions
    expect(renovate.minimumReleaseAge).toBe("7 days");
    expect(renovate.internalChecksFilter).toBe("strict");
    expect(renovate.lockFileMaintenance.enabled).toBe(true);
    expect(bundled.matchPackageNames).toEqual(Object.keys(data.bundled).sort());
    for (const name of renovate.packageRules.flatMap(
      ({ matchManagers = [], matchPackageNames = [] }: Readonly<Record<string, readonly string[]>>) =>
        matchManagers.includes("npm") ? matchPackageNames : [],
    ))
      if (!name.includes("*")) expect(manifest.devDependencies).toHaveProperty([name]);
  });

  test("keep to the oldest Node.js that is supported", () => {
    expect(renovate.constraintsFiltering).toBe("strict");
    expect(manifest.engines.node).toBe(">=20.19.0");
    expect(manifest.devDependencies["@types/node"]).toMatch(/^20\./);
  });

  test("reach the workflows that users copy", () => {
    const [pattern = ""] = renovate["github-actions"].managerFilePatterns;
    expect(new RegExp(pattern.slice(1, -1)).test("examples/github/rolecall-plan.yml")).toBe(true);
  });

  test("are asked for by an audit of each change and every week", () => {
    const ci = parse(read(".github/workflows/ci.yml"));
    expect(ci.on.schedule).toHaveLength(1);
    const steps: readonly { readonly run?: string }[] = ci.jobs.audit.steps;
    expect(steps.flatMap(({ run = [] }) => run)).toEqual(["npm audit --package-lock-only"]);
  });
});
