import { type Document, isCollection, isScalar, visit } from "yaml";
import type { Location, Problem } from "../diagnostics/problem.ts";
import { MAX_DEPTH } from "../schema/limits.ts";

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** Returns the syntax errors of a text, and its unsupported YAML features. */
export function syntaxProblems(text: string, document: Document.Parsed): readonly Problem[] {
  return [...errorProblems(text, document), ...tagProblems(text, document.warnings)];
}

/** Returns one problem per line: further ones on a line are nearly always consequences of the first. */
function errorProblems(text: string, document: Document.Parsed): readonly Problem[] {
  const problems: Problem[] = [];
  let lastEnd = -1;
  const openings = { left: MAX_OPENINGS };
  for (const error of document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const [start] = error.pos;
    if (start > lastEnd) {
      const lineEnd = text.indexOf("\n", start);
      lastEnd = lineEnd === -1 ? text.length : lineEnd;
      problems.push(errorProblem(error, text, document, openings));
    }
  }
  return problems;
}

// Each search looks through the whole document.
const MAX_OPENINGS = 20;

function errorProblem(
  error: Finding,
  text: string,
  document: Document.Parsed,
  openings: { left: number },
): Problem {
  const [start, end] = error.pos;
  switch (error.code) {
    case "MULTIPLE_DOCS":
      return { code: "yaml-documents", location: { at: "text", start, end: start + "---".length } };
    case "RESOURCE_EXHAUSTION":
      return { code: "yaml-too-deep", limit: MAX_DEPTH, location: { at: "text", start, end: start } };
    default: {
      const kind = kindOf(error);
      const unclosed = kind === "UNCLOSED_QUOTE" || kind === "UNCLOSED_BRACKET";
      const opening = unclosed && openings.left > 0 ? openingBefore(start, text, document) : null;
      openings.left -= unclosed ? 1 : 0;
      return { code: "yaml-syntax", kind, location: opening ?? { at: "text", start, end } };
    }
  }
}

/** Returns the library's error code, refined if it covers several mistakes. */
function kindOf({ code, message }: Finding): string {
  if (/^Missing closing/.test(message)) {
    return "UNCLOSED_QUOTE";
  }
  if (/^Flow .* end with a/.test(message)) {
    return "UNCLOSED_BRACKET";
  }
  if (/^Missing ,/.test(message)) {
    return "MISSING_COMMA";
  }
  if (/^Sequence item without/.test(message)) {
    return "MISSING_DASH";
  }
  return /map keys need to be followed/.test(message) ? "MISSING_COLON" : code;
}

const CLOSERS: Readonly<Record<string, string>> = { "[": "]", "{": "}", '"': '"', "'": "'" };

/** Returns the location of the unclosed bracket or quote: the library reports only where it gave up. */
function openingBefore(offset: number, text: string, document: Document.Parsed): Location | null {
  let opening: Location | null = null;
  visit(document, {
    Node: (_, node) => {
      if (!node.range || !(isCollection(node) ? node.flow === true : isScalar(node))) {
        return;
      }
      const [start, end] = node.range;
      const closer = CLOSERS[text[start] ?? ""];
      const closed = end - start > 1 && text[end - 1] === closer;
      if (closer !== undefined && !closed && start < offset) {
        opening = { at: "text", start, end: start + 1 };
      }
    },
  });
  return opening;
}

/** Tags that the core types do not know; `!!str` and its like are no problem. */
function tagProblems(text: string, warnings: readonly Finding[]): readonly Problem[] {
  return warnings
    .filter(({ code }) => code === "TAG_RESOLVE_FAILED")
    .map(({ pos: [start, end] }) => ({
      code: "yaml-tag",
      tag: text.slice(start, end),
      location: { at: "text", start, end },
    }));
}
