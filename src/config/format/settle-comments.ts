import { type CST, type Document, isMap, isNode, isPair, isScalar, isSeq, type Node, type Pair } from "yaml";

/** A list's item or a mapping's pair. */
export type Entry = Node | Pair;

type Block = CST.BlockMap | CST.BlockSequence;

/** Moves comments at the end of a block that are indented less than the block to what follows it. */
export function liftComments(document: CST.Document): void {
  const rest = document.value === undefined ? [] : lift(document.value, -1);
  if (rest.length > 0) {
    document.end = [...rest, ...(document.end ?? [])];
  }
}

/** Removes the tokens that do not belong to a block, and returns them. */
function lift(token: CST.Token, parentIndent: number): CST.SourceToken[] {
  if (token.type !== "block-map" && token.type !== "block-seq") {
    return [];
  }
  const block: Block = token;
  let above: CST.SourceToken[] = [];
  for (const { start, value } of block.items) {
    start.unshift(...above);
    above = value ? lift(value, block.indent) : [];
  }
  if (above.length > 0) {
    block.items.push({ start: above });
  }
  const last = block.items.at(-1);
  if (last === undefined || last.key || last.sep || last.value) {
    return [];
  }
  // A list may have the indentation of its key; a comment there belongs to the mapping.
  const moved = last.start.splice(ownEnd(last.start, Math.max(block.indent, parentIndent + 1)));
  if (last.start.length === 0) {
    block.items.pop();
  }
  return moved;
}

/** Returns the end of a block's own comments: before the first one that is indented less. */
function ownEnd(tokens: readonly CST.SourceToken[], indent: number): number {
  let end = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "comment") {
      if (token.indent < indent) {
        break;
      }
      end = tokens[index + 1]?.type === "newline" ? index + 2 : index + 1;
    }
  }
  return end;
}

/**
 * Attaches comments to the entries that they move with: those above a list's first entry, and those beside a key.
 */
export function settleComments(document: Document): void {
  settle(document.contents);
}

function settle(node: unknown): void {
  if (!isMap(node) && !isSeq(node)) {
    return;
  }
  if (node.flow !== true) {
    keepBlankLine(node);
  }
  for (const [index, item] of node.items.entries()) {
    const head = isEntry(item) ? headOf(item) : null;
    if (head !== null) {
      head.spaceBefore = index > 0 && head.spaceBefore === true;
      setHead(head, head.commentBefore ?? "");
    }
    if (isPair(item)) {
      settlePair(item);
    }
    settle(isPair(item) ? item.value : item);
  }
}

function settlePair({ key, value, srcToken }: Pair): void {
  if (!isScalar(key) || !isNode(value)) {
    return;
  }
  value.spaceBefore = false;
  let above = value.commentBefore ?? "";
  if (above !== "" && besideKey(srcToken)) {
    const [beside, ...below] = above.split("\n");
    key.comment = beside ?? "";
    above = below.join("\n").replace(/^\n+/, "");
  }
  const first = (isMap(value) || isSeq(value)) && value.flow !== true ? value.items[0] : undefined;
  const head = isEntry(first) ? headOf(first) : null;
  if (head === null) {
    setHead(value, above);
  } else {
    setHead(value, "");
    setHead(head, joinComments(above, head.commentBefore ?? ""));
  }
}

/** Returns true if the first comment after a key is on its line. */
function besideKey(source: Pair["srcToken"]): boolean {
  const first = source?.sep?.find(({ type }) => type === "comment" || type === "newline");
  return first?.type === "comment";
}

/** Keeps the blank line before a comment that ends a block. */
function keepBlankLine(node: Node): void {
  const source = node.srcToken;
  if (node.comment && (source?.type === "block-map" || source?.type === "block-seq")) {
    const first = source.items.at(-1)?.start.find(({ type }) => type === "comment" || type === "newline");
    node.comment = (first?.type === "newline" ? "\n" : "") + tidy(node.comment).replace(/\n+$/, "");
  }
}

/** Returns the node that carries the comment and the blank line above an entry. */
export function headOf(entry: Entry): Node | null {
  const node = isPair(entry) ? entry.key : entry;
  return isNode(node) ? node : null;
}

/** Sets the comment above a node; an empty one removes it. */
export function setHead(node: Node, comment: string): void {
  if (comment === "") {
    delete node.commentBefore;
  } else {
    node.commentBefore = tidy(comment);
  }
}

/** Joins two comments, one above the other. */
export function joinComments(above: string, below: string): string {
  return above === "" || below === "" ? above + below : `${above}\n${below}`;
}

function isEntry(item: unknown): item is Entry {
  return isNode(item) || isPair(item);
}

/** Reduces blank lines between and below comments to one. */
function tidy(comment: string): string {
  return comment.replace(/\n{3,}/g, "\n\n").replace(/\n{2,}$/, "\n");
}
