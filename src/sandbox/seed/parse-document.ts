import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { ProblemError } from "../http/response.ts";

/** Keys and indexes that lead to a value in a document. */
export type DocumentPath = readonly (string | number)[];

/** A problem that a check beyond the schema found. */
export interface DocumentIssue {
  readonly path: DocumentPath;
  readonly message: string;
}

/** A problem in a document; line and column count from 1. */
export interface DocumentProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A document that cannot be used, with all of its problems. */
export class DocumentInvalid extends Error {
  readonly problems: readonly DocumentProblem[];

  constructor(problems: readonly DocumentProblem[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`).join("\n"));
    this.name = "DocumentInvalid";
    this.problems = problems;
  }
}

/** Returns the offset of the node at a path, or of its nearest ancestor. */
function offsetOf(document: Document, path: DocumentPath): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function offsetOfKey(document: Document, path: DocumentPath, key: string): number {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(map)
    ? map.items.find(({ key: node }) => isScalar(node) && node.value === key)
    : undefined;
  return isScalar(pair?.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
}

interface LocatedMessage {
  readonly offset: number;
  readonly message: string;
}

function schemaProblems(document: Document, issues: readonly z.core.$ZodIssue[]): LocatedMessage[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        offset: offsetOfKey(document, path, key),
        message: `unknown field ${JSON.stringify(key)}`,
      }));
    }
    const name = path.findLast((part) => typeof part === "string");
    const message = name === undefined ? issue.message : `${name}: ${issue.message}`;
    return [{ offset: offsetOf(document, path), message }];
  });
}

function checkProblems(document: Document, issues: readonly DocumentIssue[]): LocatedMessage[] {
  return issues.map(({ path, message }) => ({ offset: offsetOf(document, path), message }));
}

function plainValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Only excessive alias expansion is detected this late.
    throw new DocumentInvalid([
      { line: 1, column: 1, message: error instanceof Error ? error.message : "unreadable" },
    ]);
  }
}

/** The schema and the checks of a kind of document. */
export interface DocumentForm<T> {
  readonly schema: z.ZodType<T>;
  /** Message for an empty document. */
  readonly empty: string;
  /** Recognises a document of another kind by one of its keys; `null` if it is not one. */
  readonly mistaken?: (value: unknown) => { readonly key: string; readonly message: string } | null;
  /** Returns the problems that the schema cannot find. */
  readonly check?: (value: T) => readonly DocumentIssue[];
}

/** Parses YAML or JSON against a schema; throws `DocumentInvalid` with every problem and its position. */
export function parseDocumentAs<T>(text: string, form: DocumentForm<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (messages: readonly LocatedMessage[]): never => {
    const sorted = [...messages].sort((a, b) => a.offset - b.offset);
    throw new DocumentInvalid(
      sorted.map(({ offset, message }) => {
        const { line, col } = lines.linePos(offset);
        return { line, column: col, message };
      }),
    );
  };
  if (document.errors.length > 0) {
    return fail(document.errors.map(({ pos, message }) => ({ offset: pos[0], message })));
  }
  const value = plainValue(document);
  if (value === null) return fail([{ offset: 0, message: form.empty }]);
  const mistaken = form.mistaken?.(value) ?? null;
  if (mistaken !== null) {
    return fail([{ offset: offsetOfKey(document, [], mistaken.key), message: mistaken.message }]);
  }
  const result = form.schema.safeParse(value, { error: issueMessage });
  if (!result.success) return fail(schemaProblems(document, result.error.issues));
  const issues = form.check?.(result.data) ?? [];
  return issues.length > 0 ? fail(checkProblems(document, issues)) : result.data;
}

/** Checks a value that needs no parsing; throws a 400 that names every problem by its path. */
export function checkDocument<T>(
  value: unknown,
  { schema, check }: Pick<DocumentForm<T>, "schema" | "check">,
): T {
  const result = schema.safeParse(value, { error: issueMessage });
  const issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] =
    result.success ? (check?.(result.data) ?? []) : result.error.issues;
  if (result.success && issues.length === 0) return result.data;
  const messages = issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
  throw new ProblemError(400, `The document is not valid. ${messages.join("; ")}`);
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list ("- …")',
  object: 'a mapping ("key: …")',
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

/** Returns the message for an issue that the schema has none for; undefined for the library's own. */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    case "invalid_union":
      return Array.isArray(issue["options"]) ? `must be one of ${issue["options"].join(", ")}` : undefined;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at least ${issue.minimum}`
        : undefined;
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at most ${issue.maximum}`
        : undefined;
    default:
      return undefined;
  }
}
