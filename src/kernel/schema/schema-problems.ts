import type * as z from "zod/mini";
import type { FormatCode, Kind, Location, Path, Problem, ShapeProblem } from "../problems/problem.ts";
import { CHECK_KEYS } from "../rules/settings/every-check-setting.ts";
import { kindOf, valueAt } from "../values/values.ts";
import { keysAt } from "./schema-keys.ts";
import { nearKey, nearValue } from "./synonyms.ts";

/** An issue of a schema. */
export type SchemaIssue = z.core.$ZodIssue;

/** Describes the issues that a schema has with a plain value. */
export function schemaProblems(
  issues: readonly SchemaIssue[],
  root: unknown,
  schema: unknown,
): readonly Problem<ShapeProblem>[] {
  const context: Context = { root, schema, suggestions: MAX_SUGGESTIONS };
  return withoutEchoes(issues.flatMap((issue) => describe(issue, [], context)));
}

// More than are shown; each one costs a comparison with every key.
const MAX_SUGGESTIONS = 2000;

interface Context {
  readonly root: unknown;
  readonly schema: unknown;
  /** The number of suggestions that may still be computed. */
  suggestions: number;
}

function describe(issue: z.core.$ZodIssue, base: Path, context: Context): readonly Problem<ShapeProblem>[] {
  const { root } = context;
  // Keys of the file only: no symbol can be among them.
  const path = [...base, ...(issue.path as (string | number)[])];
  const location = { at: "value", path } as const;
  const value = valueAt(root, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, path, value, context));
    case "invalid_type":
      return [wrongType(path, [kindOfType(issue.expected)], value, root)];
    case "invalid_value": {
      const allowed = issue.values.filter((each) => typeof each === "string" || typeof each === "number");
      if (value === undefined || typeof value === "object") {
        return [wrongType(path, [kindOf(allowed[0])], value, root)];
      }
      const near = typeof value === "string" ? nearValue(value, allowed) : null;
      return [{ code: "wrong-value", path, allowed, value, near, location }];
    }
    case "invalid_format":
    case "too_big":
    case "too_small":
    case "custom": {
      const code = issue.message as FormatCode;
      return [{ code, path, value, location, ...hiddenAt(path, value) }];
    }
    case "invalid_key":
      return issue.issues.flatMap((inner) =>
        describe(inner, path, context).map(
          (problem) => ({ ...problem, location: { at: "key", path } }) as Problem<ShapeProblem>,
        ),
      );
    case "invalid_union":
      return describeUnion(issue, path, context);
    // The schema uses nothing that causes any of these.
    case "not_multiple_of":
    case "invalid_element":
      throw new Error(`The merchant schema gave an issue that has no problem: ${issue.code}`);
    default:
      return issue satisfies never;
  }
}

/** Describes a union's issues by the form that the value was probably meant to have. */
function describeUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  context: Context,
): readonly Problem<ShapeProblem>[] {
  const { root } = context;
  const value = valueAt(root, path);
  if (path.length === 2 && path[0] === "checks" && kindOf(value) === "mapping") {
    return checkProblems(value, path, issue.errors).flatMap((each) =>
      "location" in each ? [each] : describe(each, path, context),
    );
  }
  const mistyped = (branch: readonly z.core.$ZodIssue[]) =>
    branch.some(({ code, path: inner }) => code === "invalid_type" && inner.length === 0);
  const meant = issue.errors.find((branch) => !mistyped(branch));
  if (meant !== undefined) {
    return meant.flatMap((inner) => describe(inner, path, context));
  }
  const kinds = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) => (inner.code === "invalid_type" ? [kindOfType(inner.expected)] : [])),
  );
  return [wrongType(path, [...new Set(kinds)], value, root)];
}

function wrongType(path: Path, kinds: readonly Kind[], value: unknown, root: unknown): Problem<ShapeProblem> {
  const key = path.at(-1);
  const parent = path.slice(0, -1);
  if (value === undefined && typeof key === "string" && !Object.hasOwn(Object(valueAt(root, parent)), key)) {
    return { code: "missing-key", key, path: parent, location: { at: "first-key", path: parent } };
  }
  const location = { at: "value", path } as const;
  if (value === null) {
    return { code: "null-value", path, wanted: kinds, location };
  }
  const got = kindOf(value);
  // Numbers that do not exist in JSON: .inf and .nan.
  return kinds.includes(got)
    ? { code: "bad-count", path, value, location }
    : { code: "wrong-type", path, wanted: kinds, got, value, location, ...hiddenAt(path) };
}

function unknownKey(key: string, path: Path, owner: unknown, context: Context): Problem<ShapeProblem> {
  const knownKeys = keysAt(path, context.schema);
  const { near, used } = nearOf(key, knownKeys, owner, context);
  const keyPath = [...path, key];
  return {
    code: "unknown-key",
    key,
    path,
    known: knownKeys,
    near,
    used,
    location: { at: "key", path: keyPath },
    ...hiddenAt(keyPath),
  };
}

/** Returns the known key that was probably meant; an unused one is preferred. */
function nearOf(
  key: string,
  knownKeys: readonly string[],
  owner: unknown,
  context: Context,
): { readonly near: string | null; readonly used: boolean } {
  context.suggestions -= 1;
  if (context.suggestions < 0) {
    return { near: null, used: false };
  }
  const unused = nearKey(
    key,
    knownKeys.filter((each) => !Object.hasOwn(Object(owner), each)),
  );
  const near = unused ?? nearKey(key, knownKeys);
  return { near, used: unused === null && near !== null };
}

/** Hides a value from code frames if it may be a password or a key. */
function hiddenAt(path: Path, value?: unknown): { readonly hidden?: Location } {
  const secret = /passw|passphrase|pwd|secret|token|key/i.test(String(path.at(-1)));
  // An address with an @ in it has a user name, and perhaps a password.
  const credentials = path.at(-1) === "base_url" && typeof value === "string" && value.includes("@");
  return secret || credentials ? { hidden: { at: "value", path } } : {};
}

/** Drops the report of a missing key if an unknown key is a misspelling of it. */
function withoutEchoes(problems: readonly Problem<ShapeProblem>[]): readonly Problem<ShapeProblem>[] {
  const meant = new Set(
    problems.flatMap((problem) =>
      problem.code === "unknown-key" && problem.near !== null
        ? [JSON.stringify([...problem.path, problem.near])]
        : [],
    ),
  );
  return problems.filter(
    (problem) => problem.code !== "missing-key" || !meant.has(JSON.stringify([...problem.path, problem.key])),
  );
}

function kindOfType(expected: string): Kind {
  switch (expected) {
    case "array":
      return "list";
    case "object":
    case "record":
      return "mapping";
    case "number":
    case "boolean":
      return expected;
    default:
      return "text";
  }
}

const KEYS: ReadonlySet<string> = new Set(CHECK_KEYS.flat());

/** Returns the problems of a check that has none of the three forms: of its keys, or of the form it resembles. */
function checkProblems(
  value: unknown,
  path: Path,
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly (Problem<ShapeProblem> | z.core.$ZodIssue)[] {
  const keys = Object.keys(Object(value)).filter((key) => KEYS.has(key));
  const fitting = CHECK_KEYS.map((form, index) => ({
    index,
    fits: keys.every((key) => includes(form, key)),
  }));
  const candidates = fitting.filter(({ fits }) => fits);
  const strange = unknownKeys(branches);
  if (candidates.length === 1 || (candidates.length > 0 && strange.length > 0)) {
    // A misspelt key is unknown in every form.
    const issues = branches[candidates[0]?.index ?? 0] ?? [];
    return strange.length === 0 ? issues : issues.filter((issue) => !isMissing(issue, value));
  }
  const form: Problem<ShapeProblem> = { code: "check-form", keys, location: { at: "first-key", path } };
  return [...strange, form];
}

function includes(form: readonly string[], key: string): boolean {
  return form.includes(key);
}

/** Returns the issue of keys that no form has. */
function unknownKeys(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const issue = branches[0]?.find(({ code }) => code === "unrecognized_keys");
  if (issue?.code !== "unrecognized_keys") {
    return [];
  }
  const keys = issue.keys.filter((key) => !KEYS.has(key));
  return keys.length === 0 ? [] : [{ ...issue, keys }];
}

function isMissing({ code, path }: z.core.$ZodIssue, value: unknown): boolean {
  return code === "invalid_type" && path.length === 1 && !Object.hasOwn(Object(value), String(path[0]));
}
