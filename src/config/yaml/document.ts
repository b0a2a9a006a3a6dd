import { Composer, Document, isAlias, isScalar, Lexer, Parser, YAMLParseError } from "yaml";
import { MAX_NESTING, MAX_SYNTAX_ERRORS, MAX_TOKENS } from "../schema/limits.ts";

/** Thrown for a text with too many tokens, whose document would exhaust the memory. */
export class TooManyTokens extends Error {}

/** Thrown for too many syntax errors, which would exhaust the memory. */
class TooManyErrors extends Error {}

/**
 * Parses YAML 1.2 with core types, without merge keys and custom tags. Bounded in memory and depth: throws
 * `TooManyTokens`, or a `RangeError` if nested too deep.
 */
export function readDocument(text: string, maxTokens = MAX_TOKENS): Document.Parsed {
  const composer = new Composer({
    schema: "core",
    version: "1.2",
    merge: false,
    resolveKnownTags: false,
    // The library compares every key with every other; the converter does it with a set.
    uniqueKeys: false,
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
  const wanted = (token: { readonly type: string; readonly offset?: number }) => {
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
      if (!wanted(token)) {
        return;
      }
      yield token;
    }
    if (parser.stack.length > MAX_NESTING) {
      throw new RangeError("Nested too deep");
    }
  }
  for (const token of parser.end()) {
    if (!wanted(token)) {
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
