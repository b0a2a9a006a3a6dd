import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** Every page for users, by its path below the root; `docs/src` has the hand-written heads of generated ones. */
export const PAGES: ReadonlyMap<string, string> = new Map(
  [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    ...["docs", "docs/src", "docs/tasks"].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `${folder}/${name}`),
    ),
    ...["franchise", "github", "kubernetes", "retail"].map((name) => `examples/${name}/README.md`),
  ].map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
);

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

/** Returns every fenced block of one language, in the order of the pages. */
export function blocksOf(language: string): readonly Block[] {
  return [...PAGES].flatMap(([page, content]) =>
    [...content.matchAll(/^```(\S*)\n(.*?)^```$/gms)]
      .filter(([, found]) => found === language)
      .map(([, , text = ""]) => ({ page, language, text })),
  );
}
