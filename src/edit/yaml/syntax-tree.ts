import { CST, Parser } from "yaml";
import type { Path } from "../../kernel/problems/problem.ts";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { DEFAULT_STYLE, type PrintStyle } from "./print-value.ts";
import { columnOf } from "./splices.ts";

/** A value of a YAML text with its range, without the anchor and the tag in front of it. */
export interface SyntaxNode {
  /** `opaque`: a pair in brackets without braces, which is replaced only as a whole. */
  readonly kind: "map" | "seq" | "scalar" | "block-scalar" | "alias" | "empty" | "opaque";
  /** True for a collection in brackets or braces. */
  readonly flow: boolean;
  readonly start: number;
  /** The end of the content: before a comment or a line break that follows it. */
  readonly end: number;
  readonly anchor: string | null;
  /** The name of an alias's anchor. */
  readonly alias: string | null;
  /** The plain value, with aliases resolved. */
  readonly value: unknown;
  readonly entries: readonly SyntaxEntry[];
  /** The end of a block scalar's header. */
  readonly headerEnd: number;
}

/** An item of a list, or a key of a mapping with its value. */
export interface SyntaxEntry {
  /** `null` for an item. */
  readonly key: string | null;
  /** The offset of the dash, or of the key with its anchor. */
  readonly start: number;
  /** The offset at which a value may be written: behind the dash or colon, and the anchor. */
  readonly slot: number;
  /** False for a key without a colon. */
  readonly colon: boolean;
  readonly node: SyntaxNode;
  readonly end: number;
}

/** Reads the structure of a text that is known to be valid, with the plain value that it means; null if it has none. */
export function readSyntax(text: string, value: unknown): SyntaxNode | null {
  for (const token of new Parser().parse(text)) {
    if (token.type === "document") {
      const props = token.start;
      return token.value === undefined ? null : nodeOf(token.value, props, token.offset, value);
    }
  }
  return null;
}

type Props = readonly CST.SourceToken[];

function nodeOf(token: CST.Token, props: Props, slot: number, value: unknown): SyntaxNode {
  const anchor = anchorIn(props);
  switch (token.type) {
    case "alias":
    case "scalar":
    case "single-quoted-scalar":
    case "double-quoted-scalar": {
      const { type, offset: start, source } = token;
      const end = start + source.length;
      if (type === "alias") return makeNode("alias", start, end, { value, alias: source.slice(1) });
      return source === ""
        ? makeNode("empty", slot, slot, { value, anchor })
        : makeNode("scalar", start, end, { value, anchor });
    }
    case "block-scalar": {
      const { start, end, headerEnd } = blockScalarRange(token);
      return makeNode("block-scalar", start, end, { value, anchor, headerEnd });
    }
    case "block-map":
    case "block-seq": {
      const entries = blockEntries(token, value);
      const [start, end] = [entries[0]?.start ?? slot, entries.at(-1)?.end ?? slot];
      return makeNode(token.type === "block-map" ? "map" : "seq", start, end, { value, anchor, entries });
    }
    case "flow-collection": {
      const isMap = token.start.type === "flow-map-start";
      const close = token.end[0];
      const end = close === undefined ? token.offset : close.offset + close.source.length;
      const entries = flowEntries(token, isMap, value);
      return makeNode(isMap ? "map" : "seq", token.offset, end, { value, anchor, entries, flow: true });
    }
    default:
      return makeNode("empty", slot, slot, { value, anchor });
  }
}

/** Makes a node; what is not said is as for a scalar without an anchor. */
function makeNode(
  kind: SyntaxNode["kind"],
  start: number,
  end: number,
  {
    value,
    anchor = null,
    alias = null,
    entries = NO_ENTRIES,
    flow = false,
    headerEnd = start,
  }: Pick<SyntaxNode, "value"> & Partial<SyntaxNode>,
): SyntaxNode {
  return { kind, flow, start, end, anchor, alias, value, entries, headerEnd };
}

const NO_ENTRIES: readonly SyntaxEntry[] = [];

function anchorIn(props: Props): string | null {
  return props.findLast(({ type }) => type === "anchor")?.source.slice(1) ?? null;
}

function blockScalarRange({ offset, props, source }: CST.BlockScalar) {
  const tokens = props as Props;
  const header = tokens.find(({ type }) => type === "block-scalar-header");
  const last = tokens.at(-1);
  const bodyStart = last === undefined ? offset : last.offset + last.source.length;
  const end = bodyStart + source.replace(/\r?\n$/, "").length;
  const headerEnd = header === undefined ? offset : header.offset + header.source.length;
  return { start: header?.offset ?? offset, end: Math.max(end, headerEnd), headerEnd };
}

function blockEntries(block: CST.BlockMap | CST.BlockSequence, value: unknown): readonly SyntaxEntry[] {
  const items = block.items as readonly CST.CollectionItem[];
  const isSeq = block.type === "block-seq";
  // The last item may hold nothing but the comments that end the block.
  const real = items.filter(({ start, key, sep, value: inner }) =>
    isSeq ? inner !== undefined || start.some(({ type }) => type === "seq-item-ind") : key || sep || inner,
  );
  return real.map((item, index) => (isSeq ? itemOf(item, listOf(value)[index]) : pairOf(item, value)));
}

function flowEntries(token: CST.FlowCollection, isMap: boolean, value: unknown): readonly SyntaxEntry[] {
  const real = token.items.filter(({ key, sep, value: inner }) => key || sep || inner);
  return real.map((item, index) => {
    if (isMap) return pairOf(item, value);
    if (!item.sep) return itemOf(item, listOf(value)[index]);
    const { start, end, slot } = pairOf(item, {});
    const inner = makeNode("opaque", start, end, { value: listOf(value)[index], flow: true });
    return { key: null, start, slot, end, colon: true, node: inner };
  });
}

function itemOf({ start, value: token }: CST.CollectionItem, value: unknown): SyntaxEntry {
  const mark = start.find(({ type }) => type === "seq-item-ind");
  const slot = endOfMarks(start) ?? token?.offset ?? 0;
  const node = valueNode(token, start, slot, value);
  const first = mark ?? start.find(isProp);
  return {
    key: null,
    start: first?.offset ?? node.start,
    slot,
    colon: true,
    node,
    end: Math.max(node.end, slot),
  };
}

function pairOf({ start, key, sep, value: token }: CST.CollectionItem, map: unknown): SyntaxEntry {
  const name = keyTextOf(key);
  const first = start.find(({ type }) => type === "explicit-key-ind") ?? start.find(isProp);
  const keyStart = first?.offset ?? key?.offset ?? sep?.[0]?.offset ?? 0;
  const keyEnd = key && "source" in key ? key.offset + key.source.length : keyStart;
  const slot = endOfMarks(sep ?? []) ?? keyEnd;
  const fields = fieldsOf(map);
  const value = name !== null && Object.hasOwn(fields, name) ? fields[name] : undefined;
  const node = valueNode(token, sep ?? [], slot, value);
  const colon = (sep ?? []).some(({ type }) => type === "map-value-ind");
  return { key: name, start: keyStart, slot, colon, node, end: Math.max(node.end, slot) };
}

function valueNode(token: CST.Token | undefined, props: Props, slot: number, value: unknown): SyntaxNode {
  const absent: CST.FlowScalar = { type: "scalar", offset: slot, indent: 0, source: "" };
  return nodeOf(token ?? absent, props, slot, value);
}

/** Returns a key as text; null for one that is no scalar. */
function keyTextOf(key: CST.Token | null | undefined): string | null {
  if (key === null || key === undefined) return null;
  if (!CST.isScalar(key)) return null;
  return CST.resolveAsScalar(key)?.value ?? null;
}

const isProp = ({ type }: CST.SourceToken): boolean => type === "anchor" || type === "tag";

/** Returns the end of the last dash, colon, anchor or tag; null if there is none. */
function endOfMarks(tokens: Props): number | null {
  const last = tokens.findLast(
    (token) => isProp(token) || token.type === "seq-item-ind" || token.type === "map-value-ind",
  );
  return last === undefined ? null : last.offset + last.source.length;
}

/** The document and the comments that decide the style of new values. */
export interface EditStyle {
  readonly root: SyntaxNode;
  /** The comments on items of lists, by the items' text. */
  readonly comments: ReadonlyMap<string, string>;
}

/** Number of preceding entries that decide the style of a new one. */
const MAX_SIBLINGS = 20;

/** Returns the style of new values at a path: that of the entries beside it, and of the section's other entries. */
export function siblingStyle(
  text: string,
  { root, comments }: EditStyle,
  path: Path,
  siblings: readonly SyntaxEntry[],
): PrintStyle {
  const section = root.entries.find(({ key }) => key === path[0])?.node.entries.slice(-MAX_SIBLINGS) ?? [];
  const near = siblings.slice(-MAX_SIBLINGS).map(({ node }) => node);
  return {
    ...stepsOf(text, root),
    quote: commonQuote(text, near),
    keyQuote: commonKeyQuote(text, root),
    inline: inlineKeys(section),
    comments,
  };
}

/** Returns the indentation of the text's blocks, measured at the first of them. */
function stepsOf(text: string, root: SyntaxNode): Pick<PrintStyle, "step" | "listStep"> {
  const list = firstStep(text, root, "seq");
  // A list may stand right below its key, which says nothing about mappings.
  const step = firstStep(text, root, "map") ?? (list || DEFAULT_STYLE.step);
  return { step: Math.max(1, step), listStep: list ?? step };
}

/** Returns by how much a mapping or list is indented further than its key, null if there is none. */
function firstStep(text: string, node: SyntaxNode, kind: "map" | "seq"): number | null {
  if (node.flow) return null;
  for (const { key, start, node: inner } of node.entries.slice(0, MAX_SIBLINGS)) {
    const isBlock = key !== null && inner.kind === kind && !inner.flow && inner.entries.length > 0;
    const step = isBlock ? columnOf(text, inner.start) - columnOf(text, start) : firstStep(text, inner, kind);
    if (step !== null) return step;
  }
  return null;
}

const quoteAt = (text: string, offset: number): '"' | "'" | null => {
  const mark = text[offset];
  return mark === '"' || mark === "'" ? mark : null;
};

/** Returns the quotes that all texts in some nodes have, null if some have none or others, or there are too few. */
function commonQuote(text: string, nodes: readonly SyntaxNode[]): '"' | "'" | null {
  const texts = nodes.flatMap(scalarsIn).filter(({ value }) => typeof value === "string");
  const quotes = texts.map(({ start }) => quoteAt(text, start));
  const [first = null] = quotes;
  const isEnough = quotes.length > 1 || nodes[0]?.kind === "scalar";
  return isEnough && quotes.every((quote) => quote === first) ? first : null;
}

const scalarsIn = (node: SyntaxNode): readonly SyntaxNode[] =>
  node.kind === "scalar" ? [node] : node.entries.flatMap((entry) => scalarsIn(entry.node));

function commonKeyQuote(text: string, { kind, entries }: SyntaxNode): '"' | "'" | null {
  const quotes = kind === "map" ? entries.map(({ start }) => quoteAt(text, start)) : [];
  const [first = null] = quotes;
  return quotes.every((quote) => quote === first) ? first : null;
}

/** Returns which keys of entries have their lists and mappings in brackets; "-" stands for the entries themselves. */
function inlineKeys(entries: readonly SyntaxEntry[]): ReadonlyMap<string, boolean> {
  const inline = new Map<string, boolean>();
  for (const { node, key } of entries) {
    if (key !== null || node.entries.length === 0) continue;
    if (node.kind === "map") inline.set("-", node.flow);
    for (const inner of node.entries) {
      // A list of mappings is a block for its own reasons.
      const isFlat = inner.node.entries.every((item) => item.node.entries.length === 0);
      if (inner.key !== null && inner.node.entries.length > 0 && isFlat)
        inline.set(inner.key, inner.node.flow);
    }
  }
  return inline;
}
