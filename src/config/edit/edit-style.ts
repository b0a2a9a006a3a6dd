import type { Path } from "../diagnostics/problem.ts";
import { DEFAULT_STYLE, type PrintStyle } from "./print-value.ts";
import { columnOf } from "./splices.ts";
import type { SyntaxEntry, SyntaxNode } from "./syntax-tree.ts";

/** The document and the comments that decide the style of new values. */
export interface EditStyle {
  readonly root: SyntaxNode;
  /** The comments on items of lists, by the items' text. */
  readonly comments: ReadonlyMap<string, string>;
}

/** So many entries in front of a new one tell its style. */
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

/** Returns by how much the text indents its blocks, as the first ones of them tell. */
function stepsOf(text: string, root: SyntaxNode): Pick<PrintStyle, "step" | "listStep"> {
  const list = firstStep(text, root, "seq");
  // A list may stand right below its key, which tells nothing about mappings.
  const step = firstStep(text, root, "map") ?? (list || DEFAULT_STYLE.step);
  return { step: Math.max(1, step), listStep: list ?? step };
}

/** Returns by how much a mapping or list is indented further than its key, null if there is none. */
function firstStep(text: string, node: SyntaxNode, kind: "map" | "seq"): number | null {
  if (node.flow) return null;
  for (const { key, start, node: inner } of node.entries.slice(0, MAX_SIBLINGS)) {
    const isBlock = key !== null && inner.kind === kind && !inner.flow && inner.entries.length > 0;
    const found = isBlock
      ? columnOf(text, inner.start) - columnOf(text, start)
      : firstStep(text, inner, kind);
    if (found !== null) return found;
  }
  return null;
}

const quoteAt = (text: string, at: number): '"' | "'" | null => {
  const mark = text[at];
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
