/** The paths of files of code owners, in GitHub's order of precedence. */
export const OWNERS_FILES = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] as const;

/**
 * Returns the owners of a path according to a CODEOWNERS file, as GitHub reads it: the last matching pattern decides.
 */
export function codeOwners(text: string, path: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/(^|\s)#.*$/, "").trim());
  const last = lines.findLast((line) => {
    const [pattern = ""] = line.split(/(?<!\\)\s+/);
    return pattern !== "" && matcherOf(pattern.replaceAll("\\ ", " ")).test(path);
  });
  return last?.split(/(?<!\\)\s+/).slice(1) ?? [];
}

/** Compiles a pattern, which is anchored if it has a slash before its end, and covers all below a folder. */
function matcherOf(pattern: string): RegExp {
  const isAnchored = pattern.slice(0, -1).includes("/");
  const body = pattern
    .replace(/^\//, "")
    .replace(/\/$/, "")
    .split("/")
    .map((part) =>
      part === "**"
        ? "**"
        : part
            .replace(/[.+^${}()|[\]\\]/g, "\\$&")
            .replace(/\*+/g, "[^/]*")
            .replaceAll("?", "[^/]"),
    )
    .join("/")
    .replace(/^\*\*$/, ".*")
    .replace(/^\*\*\//, "(?:.*/)?")
    .replace(/\/\*\*$/, "/.*")
    .replaceAll("/**/", "/(?:.*/)?");
  // As in docs/*, a last * matches files, and nothing below folders.
  const end = pattern.endsWith("/") ? "/.*" : /(?:^|\/)\*$/.test(pattern) && isAnchored ? "" : "(?:/.*)?";
  return new RegExp(`^${isAnchored ? "" : "(?:.*/)?"}${body}${end}$`);
}
