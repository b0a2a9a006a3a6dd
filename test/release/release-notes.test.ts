import { describe, expect, test } from "vitest";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { releaseNotes } from "../../scripts/changelog.mjs";

const CHANGELOG = `# Changelog

## 1.3.0 (unreleased)

- Something new.

## 1.2.0 (2026-05-01)

### Commands

- \`plan\` is faster: see [Performance](docs/performance.md) and [this](https://example.com).

## 1.1.0 (2026-04-01)

## 1.0.0 (2026-03-01)

- The first.
`;

const notes = (version: string, more: object = {}): string =>
  releaseNotes({ tag: `v${version}`, version, changelog: CHANGELOG, ...more });

describe("the notes of a release", () => {
  test("are the section of its version, with links that lead somewhere", () => {
    expect(notes("1.2.0", { base: "https://forge.example/r/blob/v1.2.0/" })).toBe(
      "### Commands\n\n- `plan` is faster: see [Performance](https://forge.example/r/blob/v1.2.0/docs/performance.md) and [this](https://example.com).\n",
    );
    expect(notes("1.0.0")).toBe("- The first.\n");
  });

  test("are refused if tag, package and changelog do not name one version", () => {
    expect(() => notes("1.2.0", { tag: "v1.3.0" })).toThrow(
      "The tag is v1.3.0, but package.json has the version 1.2.0",
    );
    expect(() => notes("1.2.0", { tag: "latest" })).toThrow('"latest" is not a tag such as v1.2.3');
    expect(() => notes("1.2.0", { tag: "v1.2.0; rm -rf /" })).toThrow("is not a tag");
    expect(() => notes("1.2")).toThrow("is not a tag");
    expect(() => notes("2.0.0")).toThrow('CHANGELOG.md has no section "## 2.0.0 (date)"');
  });

  test("are refused if the section has no date or no text", () => {
    expect(() => notes("1.3.0")).toThrow('says "(unreleased)" instead of a date');
    expect(notes("1.3.0", { unreleased: true })).toBe("- Something new.\n");
    expect(() => notes("1.1.0")).toThrow("The section of 1.1.0 in CHANGELOG.md is empty");
  });
});
