import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Location, Problem, YamlProblem } from "../problems/problem.ts";
import { MAX_ALIASED, MAX_DEPTH, MAX_LENGTH, MAX_TOKENS } from "../values/limits.ts";
import { conflictProblem, keyText, readDocument, syntaxProblems, TooManyTokens } from "./document.ts";
import { controlProblems, type ParsedYaml, parseFast } from "./fast-yaml.ts";

/** Parses YAML, with the full parser only where a text needs it. */
export function parseText(text: string): ParsedYaml {
  return parseFast(text) ?? parse(text);
}

/** Parses YAML into plain values with the full parser; returns errors as problems, and never throws. */
export function parse(text: string, maxTokens = MAX_TOKENS): ParsedYaml {
  if (text.length > MAX_LENGTH) {
    return unreadable([{ code: "file-too-large", limit: MAX_LENGTH, location: textPlace(0, 0) }]);
  }
  try {
    return parseChecked(text, maxTokens);
  } catch (error) {
    if (error instanceof TooManyTokens) {
      return unreadable([{ code: "file-too-long", limit: maxTokens, location: textPlace(0, 0) }]);
    }
    // The library is recursive and may exhaust the stack.
    if (error instanceof RangeError) {
      return unreadable([{ code: "yaml-too-deep", limit: MAX_DEPTH, location: textPlace(0, 0) }]);
    }
    throw error;
  }
}

function parseChecked(text: string, maxTokens: number): ParsedYaml {
  const controls = controlProblems(text);
  // A file with NUL characters is not text.
  if (text.includes("\0")) {
    return unreadable(controls);
  }
  // The library does not end a line at a lone CR: everything after a comment would be part of it.
  const carriageReturn = text.search(/\r(?!\n)/);
  if (carriageReturn !== -1) {
    const location = textPlace(carriageReturn, carriageReturn + 1);
    return unreadable([...controls, { code: "yaml-line-end", location }]);
  }
  const document = readDocument(text, maxTokens);
  const syntax = syntaxProblems(text, document);
  if (syntax.length > 0) {
    return unreadable([...controls, ...(conflictProblem(text) ?? syntax)]);
  }
  const contents = document.contents;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return unreadable([{ code: "file-empty", location: textPlace(0, 0) }]);
  }
  const converter: Converter = { anchors: new Map(), problems: [...controls], aliased: 0, readable: true };
  const { value } = convert(contents, { depth: 0, metadata: false }, converter);
  return { value, readable: converter.readable, problems: converter.problems };
}

function unreadable(problems: readonly Problem<YamlProblem>[]): ParsedYaml {
  return { value: undefined, readable: false, problems };
}

function textPlace(start: number, end: number): Location {
  return { at: "text", start, end };
}

/** A value and its number of nested values, including itself. */
interface Converted {
  readonly value: unknown;
  readonly size: number;
}

interface Converter {
  /** `null` while the anchored value is being read. */
  readonly anchors: Map<string, Converted | null>;
  readonly problems: Problem<YamlProblem>[];
  aliased: number;
  readable: boolean;
}

/** The depth of a value, and true if it is metadata, which is sent unchanged. */
interface Position {
  readonly depth: number;
  readonly metadata: boolean;
}

const NOTHING: Converted = { value: null, size: 1 };

function convert(node: unknown, position: Position, converter: Converter): Converted {
  if (isAlias(node)) {
    return convertAlias(node.source, node, converter);
  }
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) {
    return NOTHING;
  }
  const { anchor } = node;
  if (anchor !== undefined) {
    converter.anchors.set(anchor, null);
  }
  const converted = isScalar(node)
    ? convertScalar(node, position, converter)
    : convertCollection(node, position, converter);
  if (anchor !== undefined) {
    converter.anchors.set(anchor, converted);
  }
  return converted;
}

// Matches forms that a number does not keep: leading and trailing zeros, other bases, exponents.
const LOSSY_NUMBER = /^[-+]?(?:0[0-9ox]|[0-9]*\.[0-9]*0$|[0-9.]+e)/i;

// Booleans of YAML 1.1.
const OLD_BOOLEAN = /^(?:yes|no|on|off)$/i;

function convertScalar(node: Scalar, { metadata }: Position, converter: Converter): Converted {
  const { value, source } = node;
  if (metadata && typeof value === "number" && source !== undefined && LOSSY_NUMBER.test(source)) {
    converter.problems.push({ code: "number-form", source, value, location: nodePlace(node) });
  }
  if (metadata && typeof value === "string" && node.type === "PLAIN" && OLD_BOOLEAN.test(value)) {
    converter.problems.push({ code: "yaml-word", word: value, location: nodePlace(node) });
  }
  return { value, size: 1 };
}

function convertCollection(node: YAMLMap | YAMLSeq, position: Position, converter: Converter): Converted {
  if (position.depth >= MAX_DEPTH) {
    refuse(node, { code: "yaml-too-deep", limit: MAX_DEPTH }, converter);
    return NOTHING;
  }
  return isMap(node) ? convertMap(node, position, converter) : convertSeq(node, position, converter);
}

function convertSeq(node: YAMLSeq, position: Position, converter: Converter): Converted {
  const value: unknown[] = [];
  let size = 1;
  for (const item of node.items) {
    const converted = convert(item, { ...position, depth: position.depth + 1 }, converter);
    value.push(converted.value);
    size += converted.size;
  }
  return { value, size };
}

function convertMap(node: YAMLMap, position: Position, converter: Converter): Converted {
  const value: Record<string, unknown> = {};
  const firsts = new Map<string, unknown>();
  let size = 1;
  for (const pair of node.items) {
    const key = isPair(pair) ? keyText(pair.key) : null;
    if (key === null) {
      refuse(pair.key ?? pair.value ?? node, { code: "yaml-key" }, converter);
      continue;
    }
    if (firsts.has(key)) {
      converter.problems.push({
        code: "duplicate-key",
        key,
        location: nodePlace(pair.key),
        first: nodePlace(firsts.get(key)),
      });
      continue;
    }
    firsts.set(key, pair.key);
    const converted = convert(
      pair.value,
      { depth: position.depth + 1, metadata: position.metadata || key === "metadata" },
      converter,
    );
    setOwn(value, key, converted.value);
    size += converted.size;
  }
  return { value, size };
}

function convertAlias(name: string, node: Node, converter: Converter): Converted {
  const target = converter.anchors.get(name);
  if (target === undefined || target === null) {
    refuse(node, { code: "yaml-alias", name, circular: target === null }, converter);
    return NOTHING;
  }
  converter.aliased += target.size;
  if (converter.aliased > MAX_ALIASED) {
    // Report the limit only once, where it is first exceeded.
    if (converter.aliased - target.size <= MAX_ALIASED) {
      refuse(node, { code: "yaml-alias-limit", limit: MAX_ALIASED }, converter);
    }
    return NOTHING;
  }
  return target;
}

type Refusal = Extract<
  Problem,
  { readonly code: "yaml-alias" | "yaml-alias-limit" | "yaml-key" | "yaml-too-deep" }
>;

type WithoutPlace<T> = T extends unknown ? Omit<T, "location"> : never;

/** Reports a problem that makes the whole value unreadable. */
function refuse(node: unknown, problem: WithoutPlace<Refusal>, converter: Converter): void {
  converter.readable = false;
  converter.problems.push({ ...problem, location: nodePlace(node) });
}

function nodePlace(node: unknown): Location {
  const range = (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) && node.range;
  return range ? textPlace(range[0], range[1]) : textPlace(0, 0);
}

/** Sets an own property, also one named `__proto__`, where an assignment would set the prototype. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
