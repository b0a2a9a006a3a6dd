import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { checkSeed, type Path, type SeedIssue } from "./seed-check.ts";
import { type Seed, seedSchema } from "./seed-schema.ts";
import { seedWords } from "./seed-words.ts";

/** Something wrong in a seed's text; line and column count from 1. */
export interface SeedProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A seed that cannot be used, with everything that is wrong with it. */
export class SeedInvalid extends Error {
  readonly problems: readonly SeedProblem[];

  constructor(problems: readonly SeedProblem[]) {
    super(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`).join("\n"));
    this.name = "SeedInvalid";
    this.problems = problems;
  }
}

/** The offset of what a path leads to, or of the nearest thing around it. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function offsetOfKey(document: Document, path: Path, key: string): number {
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

function checkProblems(document: Document, issues: readonly SeedIssue[]): Found[] {
  return issues.map(({ path, message }) => ({ offset: offsetOf(document, path), message }));
}

function plainValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that multiply without end are the one thing that is only found here.
    throw new SeedInvalid([
      { line: 1, column: 1, message: error instanceof Error ? error.message : "unreadable" },
    ]);
  }
}

const EMPTY = 'the file is empty; a seed begins with "merchants:"';

const MERCHANT_FILE =
  'this looks like a merchant\'s file, for validate, plan and apply; a seed begins with "merchants:"';

/** A merchant's file has one merchant where a seed has many. */
function isMerchantFile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "merchant" in value && !("merchants" in value);
}

/** Reads a seed; throws `SeedInvalid` with every problem and its place. */
export function parseSeed(text: string): Seed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (found: readonly Found[]): never => {
    const sorted = [...found].sort((a, b) => a.offset - b.offset);
    throw new SeedInvalid(
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
  if (value === null) return fail([{ offset: 0, message: EMPTY }]);
  if (isMerchantFile(value)) {
    return fail([{ offset: offsetOfKey(document, [], "merchant"), message: MERCHANT_FILE }]);
  }
  const result = seedSchema.safeParse(value, { error: seedWords });
  if (!result.success) return fail(schemaProblems(document, result.error.issues));
  const issues = checkSeed(result.data);
  return issues.length > 0 ? fail(checkProblems(document, issues)) : result.data;
}
