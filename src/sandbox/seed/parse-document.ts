import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

/** Keys and indexes that lead to a value in a document. */
export type DocumentPath = readonly (string | number)[];

/** A problem of a value that has the right form. */
export interface DocumentIssue {
  readonly path: DocumentPath;
  readonly message: string;
}

/** Something wrong in a text; line and column count from 1. */
export interface DocumentProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A text that cannot be used, with everything that is wrong with it. */
export class DocumentInvalid extends Error {
  readonly problems: readonly DocumentProblem[];

  constructor(problems: readonly DocumentProblem[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`).join("\n"));
    this.name = "DocumentInvalid";
    this.problems = problems;
  }
}

/** The offset of what a path leads to, or of the nearest thing around it. */
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

interface Found {
  readonly offset: number;
  readonly message: string;
}

function schemaProblems(document: Document, issues: readonly z.core.$ZodIssue[]): Found[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        offset: offsetOfKey(document, path, key),
        message: `there is no field ${JSON.stringify(key)} here`,
      }));
    }
    const name = path.findLast((part) => typeof part === "string");
    const message = name === undefined ? issue.message : `${name}: ${issue.message}`;
    return [{ offset: offsetOf(document, path), message }];
  });
}

function checkProblems(document: Document, issues: readonly DocumentIssue[]): Found[] {
  return issues.map(({ path, message }) => ({ offset: offsetOf(document, path), message }));
}

function plainValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that multiply without end are the one thing that is only found here.
    throw new DocumentInvalid([
      { line: 1, column: 1, message: error instanceof Error ? error.message : "unreadable" },
    ]);
  }
}

/** What a text has to be. */
export interface DocumentForm<T> {
  readonly schema: z.ZodType<T>;
  /** What to say of a text with nothing in it. */
  readonly empty: string;
  /** Says what a text is that was meant for something else, and which key gives it away. */
  readonly mistaken?: (value: unknown) => { readonly key: string; readonly message: string } | null;
  /** Everything that has the right form and makes no sense all the same. */
  readonly check?: (value: T) => readonly DocumentIssue[];
}

/** Reads YAML or JSON; throws `DocumentInvalid` with every problem and its place. */
export function parseDocumentAs<T>(text: string, form: DocumentForm<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (found: readonly Found[]): never => {
    const sorted = [...found].sort((a, b) => a.offset - b.offset);
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

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list ("- …")',
  object: 'a mapping ("key: …")',
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

/** Words what a schema has no words for of its own; undefined leaves them to the library. */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is needed";
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
