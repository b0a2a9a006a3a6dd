import type { Path, Problem } from "../../kernel/problems/problem.ts";
import { toRawFile } from "../../kernel/schema/raw-file.ts";
import { checkSource } from "../../kernel/validate/source-rules.ts";
import { parseUntil } from "../../kernel/values/dates.ts";
import { fieldsOf, listOf, textOf, valueAt } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import type { YamlEdit } from "./edit-yaml.ts";

/**
 * Returns the removals of entries without effect: those that have ended at a time in ms since the epoch, and repeated
 * ones. No two are about one value.
 */
export function tidyEdits(text: string, now: number): readonly YamlEdit[] {
  const { value, readable } = parseFast(text) ?? parse(text);
  if (!readable) return [];
  const paths = new Map<string, Path>();
  for (const problem of checkSource(toRawFile("", value), now)) {
    const path = removedBy(problem, value, now);
    if (path !== null) paths.set(JSON.stringify(path), path);
  }
  const isInside = (path: Path): boolean =>
    path.some((_, length) => length > 0 && paths.has(JSON.stringify(path.slice(0, length))));
  return [...paths.values()].flatMap((path): readonly YamlEdit[] =>
    isInside(path) ? [] : [{ kind: "remove", path }],
  );
}

/** Returns the path of what a problem leaves without effect; `null` for a problem of another kind. */
function removedBy(problem: Problem, value: unknown, now: number): Path | null {
  const { location } = problem;
  if (location.at !== "value") return null;
  const { path } = location;
  switch (problem.code) {
    case "until-past":
      return endedAt(path, problem.what, value, now);
    case "duplicate-entry":
      return path[0] === "leavers" ? path.slice(0, 2) : path;
    case "duplicate-member-role":
      return path.slice(0, GRANT_DEPTH);
    case "duplicate-include":
    case "duplicate-permission":
      return path;
    default:
      return null;
  }
}

/** Length of the path of a grant: `members`, an index, `roles`, an index. */
const GRANT_DEPTH = 4;

function endedAt(path: Path, what: "grant" | "membership" | "suspension", value: unknown, now: number): Path {
  const entry = path.slice(0, 2);
  if (what === "membership") return entry;
  if (what === "suspension") return [...entry, "suspended"];
  const grants = listOf(valueAt(value, [...entry, "roles"]));
  // With its last grant, the membership has ended.
  return grants.every((grant) => isEnded(grant, now)) ? entry : path.slice(0, GRANT_DEPTH);
}

function isEnded(grant: unknown, now: number): boolean {
  const until = parseUntil(textOf(fieldsOf(grant)["until"]) ?? "");
  return until !== null && until.ends <= now;
}
