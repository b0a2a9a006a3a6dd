import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { withFolderMap } from "../../scripts/folder-map.mjs";
import { sourceFiles } from "../support/source-files.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the map of the folders in CONTRIBUTING.md", () => {
  test("is up to date; run it with -u to update the page", async () => {
    const page = withFolderMap(
      read("CONTRIBUTING.md"),
      sourceFiles(),
      JSON.parse(read("scripts/folders.json")),
    );
    await expect(page).toMatchFileSnapshot(join(ROOT, "CONTRIBUTING.md"));
  });

  const PAGE =
    "Before.\n<!-- The map: made by scripts/docs.mjs. -->\nold\n<!-- End of the map. -->\nAfter.\n";
  const source = (path: string, ...imports: readonly string[]) => ({
    path,
    imports: imports.map((to) => ({ to })),
  });

  test("lists folders below those that they import, without the arrows that follow from others", () => {
    const sources = [
      source("app/run.ts", "plan/plan.ts", "lib/text.ts", "node:fs"),
      source("plan/plan.ts", "lib/text.ts", "plan/order.ts"),
      source("plan/order.ts"),
      source("lib/text.ts"),
    ];
    const sentences = { app: "Runs.", lib: "Helps.", plan: "Plans." };
    expect(withFolderMap(PAGE, sources, sentences)).toBe(`Before.
<!-- The map: made by scripts/docs.mjs. -->
| Folder | Does | Imports, besides what these import |
|---|---|---|
| \`lib\` | Helps. |  |
| \`plan\` | Plans. | \`lib\` |
| \`app\` | Runs. | \`plan\` |
<!-- End of the map. -->
After.
`);
  });

  test("is refused for a folder without a sentence, and a sentence without its folder", () => {
    const sources = [source("lib/text.ts"), source("plan/plan.ts")];
    expect(() => withFolderMap(PAGE, sources, { lib: "Helps.", app: "Runs." })).toThrow(
      "scripts/folders.json has no sentence for plan, and has one for app, which is no folder",
    );
  });
});

describe("the way of a member in CONTRIBUTING.md", () => {
  const [, section = ""] = read("CONTRIBUTING.md").split("## One member, from its file to the PUT\n");
  const steps = [...(section.split("\n## ")[0] ?? "").matchAll(/^\d+\. (.*)$/gm)].map(([, text = ""]) => ({
    path: /^`src\/([^`]+)`: /.exec(text)?.[1] ?? text,
    shapes: [...text.matchAll(/`([A-Z]\w+)`/g)].map(([, name = ""]) => name),
  }));
  const files = new Map(sourceFiles().map((file) => [file.path, file]));

  test("begins with a command and ends with the request, and each step is imported by one before", () => {
    expect(steps.at(0)?.path).toMatch(/-command\.ts$/);
    expect(steps.at(-1)?.path).toMatch(/^service\/http\//);
    const astray = steps.filter(({ path }, index) => {
      const before = steps.slice(0, index).map((step) => files.get(step.path));
      return index > 0 && !before.some((file) => file?.imports.some(({ to }) => to === path));
    });
    expect(astray.map(({ path }) => path)).toEqual([]);
  });

  test("names the shapes of the member that the files have", () => {
    expect(steps.flatMap(({ shapes }) => shapes).length).toBeGreaterThan(4);
    const strange = steps.flatMap(({ path, shapes }) =>
      shapes.filter((name) => !new RegExp(`\\b${name}\\b`).test(files.get(path)?.code ?? "")),
    );
    expect(strange).toEqual([]);
  });
});
