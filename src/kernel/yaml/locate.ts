import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from "yaml";
import { memoized } from "../../lib/memoized.ts";
import type { Span } from "../../model/diagnostic.ts";
import type { Location, Path } from "../problems/problem.ts";
import type { TextRange } from "../problems/secrets.ts";
import { keyText, readDocument, TooManyTokens } from "./document.ts";
import { partsOf, pathsIn, type TextPart } from "./fast-yaml.ts";

/** Finds the text range of a location; `null` if there is none. */
export type Locator = (location: Location) => TextRange | null;

/**
 * Returns a function that gives the span of the value at a path of a YAML text, following aliases; `null` if there is none.
 * The text is parsed once.
 */
export function spanFinder(text: string): (path: Path) => Span | null {
  const locator = createLocator(text);
  let positions: Positions | undefined;
  return (path) => {
    const range = locator({ at: "value", path });
    if (range === null) return null;
    positions ??= indexPositions(text);
    return positions.span(range.start, range.end);
  };
}

/** Size of a part, in UTF-16 units. */
const PART = 32_000;

/**
 * Creates a locator, which parses the text again for positions when the first one is needed. A long text is parsed in
 * parts where possible: as a whole, 100,000 members take seconds and a gigabyte.
 */
export function createLocator(text: string, size: number = PART): Locator {
  let parts: readonly TextPart[] | null | undefined;
  const readingOf = memoized(tryRead);
  const inParts = (path: Path, at: "value" | "key" | "first-key"): TextRange | null | undefined => {
    if (text.length <= size) return undefined;
    if (parts === undefined) parts = partsOf(text, size);
    const partsOfPath = parts && pathsIn(parts, path);
    if (!partsOfPath) return undefined;
    for (const { part, path: inside } of partsOfPath) {
      const reading = readingOf(part.text);
      const location = reading && locateIn(reading, inside, at);
      if (location) return { start: location.start + part.shift, end: location.end + part.shift };
    }
    return null;
  };
  return (location) => {
    if (location.at === "text") {
      return location;
    }
    if (location.at === "file") {
      return null;
    }
    const { path, at } = location;
    const range = inParts(path, at);
    if (range !== undefined) return range;
    const reading = readingOf(text);
    return reading && locateIn(reading, path, at);
  };
}

interface Reading {
  readonly document: Document.Parsed;
  /** The nodes of each anchor, in text order. */
  readonly anchors: () => ReadonlyMap<string, readonly Node[]>;
  readonly keys: WeakMap<YAMLMap, ReadonlyMap<string, Pair>>;
}

function tryRead(text: string): Reading | null {
  try {
    const document = readDocument(text);
    let anchors: ReadonlyMap<string, readonly Node[]> | undefined;
    return {
      document,
      anchors: () => {
        anchors ??= anchorsOf(document);
        return anchors;
      },
      keys: new WeakMap(),
    };
  } catch (error) {
    // Too deep or too long for the library; such a text has no paths to locate.
    if (error instanceof RangeError || error instanceof TooManyTokens) {
      return null;
    }
    throw error;
  }
}

function locateIn(reading: Reading, path: Path, at: "value" | "key" | "first-key"): TextRange | null {
  let node: unknown = reading.document.contents;
  let key: unknown = null;
  for (const segment of path) {
    const resolved = resolve(node, reading);
    if (isMap(resolved)) {
      const pair = keysOf(resolved, reading).get(String(segment));
      if (pair === undefined) {
        return null;
      }
      key = pair.key;
      node = pair.value;
    } else if (isSeq(resolved) && typeof segment === "number" && segment < resolved.items.length) {
      key = null;
      node = resolved.items[segment];
    } else {
      return null;
    }
  }
  if (at === "key") {
    return stretch(key) ?? stretch(node);
  }
  if (at === "first-key") {
    return head(node, reading) ?? stretch(key);
  }
  return filled(stretch(node)) ?? stretch(key) ?? stretch(node);
}

/** Indexes the pairs of a mapping by key; the first of duplicates wins. */
function keysOf(map: YAMLMap, { keys }: Reading): ReadonlyMap<string, Pair> {
  const pairsByKey = keys.get(map);
  if (pairsByKey !== undefined) {
    return pairsByKey;
  }
  const pairs = new Map<string, Pair>();
  for (const pair of map.items) {
    const key = keyText(pair.key);
    if (key !== null && !pairs.has(key)) {
      pairs.set(key, pair);
    }
  }
  keys.set(map, pairs);
  return pairs;
}

/** Resolves an alias to the last node before it with that anchor. */
function resolve(node: unknown, { anchors }: Reading): unknown {
  if (!isAlias(node)) {
    return node;
  }
  const start = node.range?.[0] ?? 0;
  return anchors()
    .get(node.source)
    ?.findLast(({ range }) => (range?.[0] ?? 0) < start);
}

/** Indexes all anchors at once: the library searches the whole document for every alias. */
function anchorsOf(document: Document.Parsed): ReadonlyMap<string, readonly Node[]> {
  const anchors = new Map<string, Node[]>();
  visit(document, {
    Value: (_, node) => {
      if (node.anchor !== undefined) {
        const nodes = anchors.get(node.anchor);
        if (nodes === undefined) {
          anchors.set(node.anchor, [node]);
        } else {
          nodes.push(node);
        }
      }
    },
  });
  return anchors;
}

/** Returns the range of a mapping's first key, or of the whole mapping if it is empty or in flow style. */
function head(node: unknown, reading: Reading): TextRange | null {
  const resolved = resolve(node, reading);
  if (isMap(resolved) && resolved.flow !== true) {
    return stretch(resolved.items[0]?.key) ?? stretch(resolved);
  }
  return stretch(resolved);
}

/** Returns the range of a node, without the line break that ends a block. */
function stretch(node: unknown): TextRange | null {
  if (!isNode(node) || !node.range) {
    return null;
  }
  const [start, end] = node.range;
  return { start, end: isCollection(node) && node.flow !== true ? Math.max(start, lastEnd(node, end)) : end };
}

/** Returns the end of a block's last value: the block's own range includes blank lines and comments after it. */
function lastEnd(node: { readonly items: readonly unknown[] }, fallback: number): number {
  let last: unknown = node;
  while (isCollection(last) && (last === node || last.flow !== true)) {
    const item: unknown = last.items.at(-1);
    if (item === undefined) {
      return fallback;
    }
    const pair = item as Partial<Pair>;
    last = isNode(item) ? item : (pair.value ?? pair.key);
  }
  return isNode(last) && last.range ? last.range[1] : fallback;
}

function filled(range: TextRange | null): TextRange | null {
  return range === null || range.start === range.end ? null : range;
}

/** An index that converts offsets of a text to lines and columns. */
export interface Positions {
  readonly lineCount: number;
  /** A line's text without its break, counted from 1. */
  line(number: number): string;
  span(start: number, end: number): Span;
}

/** Indexes the lines of a text once, for any number of look-ups. */
export function indexPositions(text: string): Positions {
  // An editor does not count a byte order mark as a column.
  const starts = [text.startsWith("\uFEFF") ? 1 : 0];
  for (let lineEnd = text.indexOf("\n"); lineEnd !== -1; lineEnd = text.indexOf("\n", lineEnd + 1)) {
    starts.push(lineEnd + 1);
  }
  const start = (index: number) => starts[index] ?? text.length;
  const position = (offset: number) => {
    const index = lastNotAfter(starts, offset);
    return { line: index + 1, column: Math.max(0, offset - start(index)) + 1 };
  };
  return {
    lineCount: starts.length,
    line: (number) => {
      const end = number < starts.length ? start(number) - 1 : text.length;
      return text.slice(start(number - 1), text[end - 1] === "\r" ? end - 1 : end);
    },
    span: (from, to) => {
      const begin = position(Math.min(from, text.length));
      const end = position(Math.min(Math.max(from, to), text.length));
      return { line: begin.line, column: begin.column, endLine: end.line, endColumn: end.column };
    },
  };
}

/** Returns the index of the last line start at or before an offset. */
function lastNotAfter(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
