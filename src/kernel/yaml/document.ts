import {
  Composer,
  Document,
  isAlias,
  isCollection,
  isScalar,
  Lexer,
  Parser,
  visit,
  YAMLParseError,
} from "yaml";
import type { Location, Problem, YamlProblem } from "../problems/problem.ts";
import { MAX_DEPTH, MAX_NESTING, MAX_SYNTAX_ERRORS, MAX_TOKENS } from "../values/limits.ts";

/** Thrown for a text with too many tokens, whose document would exhaust the memory. */
export class TooManyTokens extends Error {}

/** Thrown for too many syntax errors, which would exhaust the memory. */
class TooManyErrors extends Error {}

/** The options of the language: YAML 1.2 with core types, without merge keys and custom tags. */
export const YAML_DIALECT = {
  schema: "core",
  version: "1.2",
  merge: false,
  resolveKnownTags: false,
  // The library compares every key with every other; the converter uses a set instead.
  uniqueKeys: false,
} as const;

/**
 * Parses a text. Bounded in memory and depth: throws `TooManyTokens`, or a `RangeError` if nested too deep.
 */
export function readDocument(text: string, maxTokens = MAX_TOKENS): Document.Parsed {
  const composer = new Composer({
    ...YAML_DIALECT,
    prettyErrors: false,
    // "silent" would also hide a second document.
    logLevel: "error",
  });
  const { errors, warnings } = composer.streamInfo();
  limitLength(errors);
  limitLength(warnings);
  const stream: Stream = { second: null };
  try {
    for (const document of composer.compose(tokensOf(text, maxTokens, stream), true, text.length)) {
      const first = document as Document.Parsed;
      if (stream.second !== null) {
        first.errors.push(new YAMLParseError([stream.second, stream.second + 1], "MULTIPLE_DOCS", ""));
      }
      return first;
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) {
      throw error;
    }
  }
  const broken = new Document(null);
  broken.errors.push(...errors.slice(0, MAX_SYNTAX_ERRORS));
  return broken as Document.Parsed;
}

interface Stream {
  /** The offset of a second document, null if there is none. */
  second: number | null;
}

/** Yields the tokens of the first document, up to a limit that protects the memory from hostile texts. */
function* tokensOf(text: string, maxTokens: number, stream: Stream): ReturnType<Parser["parse"]> {
  const parser = new Parser();
  let [count, errors, documents] = [0, 0, 0];
  const isWithinLimits = (token: { readonly type: string; readonly offset?: number }) => {
    errors += token.type === "error" ? 1 : 0;
    documents += token.type === "document" ? 1 : 0;
    if (documents > 1) {
      stream.second = token.offset ?? 0;
    }
    return documents <= 1 && errors <= MAX_SYNTAX_ERRORS;
  };
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > maxTokens) {
      throw new TooManyTokens();
    }
    for (const token of parser.next(lexeme)) {
      if (!isWithinLimits(token)) {
        return;
      }
      yield token;
    }
    if (parser.stack.length > MAX_NESTING) {
      throw new RangeError("Nested too deep");
    }
  }
  for (const token of parser.end()) {
    if (!isWithinLimits(token)) {
      return;
    }
    yield token;
  }
}

/** Limits the length of a list by throwing; the library has no other way to be stopped. */
function limitLength<T>(list: T[]): void {
  list.push = (...items: T[]) => {
    if (list.length >= MAX_SYNTAX_ERRORS) {
      throw new TooManyErrors();
    }
    return Array.prototype.push.apply(list, items);
  };
}

/** Returns a mapping's key as written; null if it is not a scalar. */
export function keyText(key: unknown): string | null {
  if (!isScalar(key) || isAlias(key) || key.value === null) {
    return null;
  }
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** Returns the syntax errors of a text, and its unsupported YAML features. */
export function syntaxProblems(text: string, document: Document.Parsed): readonly Problem<YamlProblem>[] {
  return [...errorProblems(text, document), ...tagProblems(text, document.warnings)];
}

/** Returns the one problem of a text in which git left conflicts; `null` if there are none. */
export function conflictProblem(text: string): readonly Problem<YamlProblem>[] | null {
  const conflicts: { readonly start: number; readonly end: number }[] = [];
  let [begun, divided] = [-1, false];
  // Both sides, in order; git may put the text of the common ancestor between them.
  for (const { 0: marker, index } of text.matchAll(/^(?:<{7} |={7}\r?$|>{7} )/gm)) {
    if (marker.startsWith("<")) {
      [begun, divided] = [index, false];
    } else if (marker.startsWith("=")) {
      divided = begun !== -1;
    } else if (divided) {
      conflicts.push({ start: begun, end: begun + "<<<<<<<".length });
      [begun, divided] = [-1, false];
    }
  }
  const rest = /^(?:<{7}|>{7}) /m.exec(text);
  if (conflicts.length === 0 && rest !== null) {
    // The rest of a conflict that somebody resolved in part.
    conflicts.push({ start: rest.index, end: rest.index + "<<<<<<<".length });
  }
  const [first, ...otherConflicts] = conflicts;
  return first === undefined
    ? null
    : [{ code: "merge-conflict", more: otherConflicts.length, location: { at: "text", ...first } }];
}

/** Returns one problem per line: further ones on a line are nearly always consequences of the first. */
function errorProblems(text: string, document: Document.Parsed): readonly Problem<YamlProblem>[] {
  const problems: Problem<YamlProblem>[] = [];
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
): Problem<YamlProblem> {
  const [start, end] = error.pos;
  switch (error.code) {
    case "MULTIPLE_DOCS":
      return { code: "yaml-documents", location: { at: "text", start, end: start + "---".length } };
    case "RESOURCE_EXHAUSTION":
      return { code: "yaml-too-deep", limit: MAX_DEPTH, location: { at: "text", start, end: start } };
    default: {
      const kind = kindOf(error, text);
      const unclosed = kind === "UNCLOSED_QUOTE" || kind === "UNCLOSED_BRACKET";
      const opening = unclosed && openings.left > 0 ? openingBefore(start, text, document) : null;
      openings.left -= unclosed ? 1 : 0;
      return { code: "yaml-syntax", kind, location: opening ?? { at: "text", start, end } };
    }
  }
}

/** Returns the library's error code, refined if it covers several mistakes. */
function kindOf({ code, message, pos: [start] }: Finding, text: string): string {
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
  if (code === "MULTILINE_IMPLICIT_KEY" && KEY_WITHOUT_SPACE.test(text.slice(start, start + MAX_KEY))) {
    return "MISSING_SPACE";
  }
  return /map keys need to be followed/.test(message) ? "MISSING_COLON" : code;
}

/** Matches a key whose colon is followed by text; not a URL. */
const KEY_WITHOUT_SPACE = /^[\w-]+:[^\s/]/;
const MAX_KEY = 100;

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

/** Tags that the core types do not know; `!!str` and similar tags are not a problem. */
function tagProblems(text: string, warnings: readonly Finding[]): readonly Problem<YamlProblem>[] {
  return warnings
    .filter(({ code }) => code === "TAG_RESOLVE_FAILED")
    .map(({ pos: [start, end] }) => ({
      code: "yaml-tag",
      tag: text.slice(start, end),
      location: { at: "text", start, end },
    }));
}
