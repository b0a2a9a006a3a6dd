import {
  Composer,
  type CST,
  Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Parser,
  Scalar,
  type ScalarTag,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { YAML_DIALECT } from "../../kernel/yaml/document.ts";

/** Maximum width of a line with a flow collection, in columns. */
export const MAX_COLUMNS = 100;

/** A value that is printed as written; a block of text is only reindented. */
export class Written {
  readonly text: string;
  readonly body: readonly string[] | null;

  constructor(text: string, body: readonly string[] | null = null) {
    this.text = text;
    this.body = body;
  }
}

/** A tag that makes the library print values as written, with their quotes. */
const WRITTEN_TAG: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => value instanceof Written,
  resolve: (text) => text,
  stringify(item, { indent }, onComment) {
    if (!(item.value instanceof Written)) {
      return String(item.value);
    }
    const { text, body } = item.value;
    if (body === null) {
      return text;
    }
    const { comment } = item as Scalar;
    onComment?.();
    const header = comment ? `${text} #${comment.replace(/\s*\n\s*/g, " ")}` : text;
    return [header, ...body.map((line) => (line === "" ? "" : indent + line))].join("\n");
  },
};

const OPTIONS = {
  ...YAML_DIALECT,
  keepSourceTokens: true,
  customTags: (tags: readonly (string | object)[]) => [...tags, WRITTEN_TAG] as never,
};

/** Parses a text, whose lines end with `\n`, with its comments at the entries that they are about; null if it is not valid. */
export function parseLayout(text: string): Document | null {
  // Its size and depth have been checked before.
  const tokens = [...new Parser().parse(text)];
  for (const token of tokens) {
    if (token.type === "document") liftComments(token);
  }
  const [document] = new Composer(OPTIONS).compose(tokens, true, text.length);
  if (document === undefined || document.errors.length > 0) return null;
  settle(document.contents);
  return document as Document;
}

/** Prints a document in the canonical style; modifies the document. */
export function printDocument(document: Document, text: string): string {
  return printAt(document, { text, indent: 0, column: 0 });
}

/** Prints an item of a list, or a key with its value, as the lines of a block at a column; modifies the entry. */
export function printEntry(entry: Entry, { text, indent }: Pick<Position, "text" | "indent">): string[] {
  const block = isPair(entry) ? new YAMLMap() : new YAMLSeq();
  block.items = [entry] as never;
  return printNode(block, { text, indent, column: indent }).split("\n");
}

/** Prints a value; modifies it. */
export function printNode(node: Node, position: Position): string {
  const document = new Document(undefined, OPTIONS);
  document.contents = node;
  return printAt(document, position).replace(/\n$/, "");
}

function printAt(document: Document, position: Position): string {
  place(document.contents, position);
  return document.toString({ indent: 2, indentSeq: true, lineWidth: 0, verifyAliasOrder: false });
}

/** The position of a value: its indentation as a block, and its column on a line. */
interface Position {
  readonly text: string;
  readonly indent: number;
  readonly column: number;
}

function place(node: unknown, position: Position): void {
  if (isScalar(node)) {
    keepScalar(node, position.text);
  } else if (isMap(node) || isSeq(node)) {
    if (node.flow === true) {
      node.flow = !tooMuchForALine(node, position);
    }
    pad(node);
    for (const item of node.items) {
      placeItem(item, node.flow === true, position);
    }
  }
}

function placeItem(item: unknown, flow: boolean, { text, indent }: Position): void {
  const wasFlow = (value: unknown) => (isMap(value) || isSeq(value)) && value.flow === true;
  const value = isPair(item) ? item.value : item;
  const key = isPair(item) ? item.key : null;
  const width = isPair(item) ? inlineWidth(key, text) + 2 : 2;
  const before = wasFlow(value);
  place(key, { text, indent, column: indent });
  place(value, { text, indent: indent + 2, column: indent + width });
  if (!flow && before && !wasFlow(value) && isNode(value) && value.comment) {
    // A comment behind the bracket moves to the beginning of the block.
    if (isScalar(key) && !key.comment && !value.comment.includes("\n")) {
      key.comment = value.comment;
    } else {
      const head = isPair(item) ? headOf(item) : value;
      if (head !== null) {
        setHead(head, joinComments(head.commentBefore ?? "", value.comment));
      }
    }
    value.comment = null;
  }
}

/** Returns whether a list in brackets has comments, or would make the line too long. */
function tooMuchForALine(
  node: YAMLMap | YAMLSeq,
  { text, column }: Pick<Position, "text" | "column">,
): boolean {
  return node.items.some(hasComment) || column + inlineWidth(node, text) > MAX_COLUMNS;
}

/** Returns the width of a value on one line. */
export function inlineWidth(node: unknown, text: string): number {
  if (isPair(node)) {
    return inlineWidth(node.key, text) + (node.value === null ? 0 : 2 + inlineWidth(node.value, text));
  }
  if (!isNode(node)) return 0;
  const anchor = "anchor" in node && node.anchor !== undefined ? node.anchor.length + 2 : 0;
  if (isMap(node) || isSeq(node)) {
    const inner = node.items.reduce<number>((sum, item) => sum + inlineWidth(item, text), 0);
    const commas = Math.max(0, node.items.length - 1) * 2;
    return anchor + inner + commas + (isMap(node) && node.items.length > 0 ? 4 : 2);
  }
  if (isAlias(node)) return node.source.length + 1;
  if (isScalar(node) && node.value instanceof Written) return anchor + node.value.text.length;
  return anchor + (node.range ? text.slice(node.range[0], node.range[1]).length : 0);
}

function hasComment(item: unknown): boolean {
  if (isPair(item)) {
    return hasComment(item.key) || hasComment(item.value);
  }
  if (!isNode(item)) {
    return false;
  }
  const inside = isMap(item) || isSeq(item) ? item.items.some(hasComment) : false;
  return Boolean(item.comment) || Boolean(item.commentBefore) || inside;
}

/** Puts spaces inside braces, and none inside brackets. */
function pad(node: YAMLMap | YAMLSeq): void {
  const print = node.toString;
  const flowCollectionPadding = isMap(node) ? " " : "";
  node.toString = (ctx, ...rest) =>
    print.call(node, ctx === undefined ? ctx : { ...ctx, flowCollectionPadding }, ...rest);
}

function keepScalar(node: Scalar, text: string): void {
  if (node.tag !== undefined || !node.range) {
    return;
  }
  if (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED) {
    keepBlock(node);
    return;
  }
  const written = text.slice(node.range[0], node.range[1]);
  if (written !== "" && !written.includes("\n")) {
    node.value = new Written(written);
  }
}

/** Prints a block scalar as written if its header has nothing but a chomping indicator. */
function keepBlock(node: Scalar): void {
  const source = node.srcToken;
  if (source?.type !== "block-scalar") {
    return;
  }
  const header = source.props.find(({ type }) => type === "block-scalar-header");
  const mark = header !== undefined && "source" in header ? header.source : "";
  const lines = source.source.split("\n");
  const indent = /^ */.exec(lines.find((line) => line.trim() !== "") ?? "")?.[0].length ?? 0;
  const body = lines.map((line) => line.slice(indent));
  while (body.at(-1) === "") {
    body.pop();
  }
  if (/^[|>]-?$/.test(mark) && body.at(-1)?.trim()) {
    node.value = new Written(mark, body);
  }
}

/** A list's item or a mapping's pair. */
export type Entry = Node | Pair;

type Block = CST.BlockMap | CST.BlockSequence;

/** Moves comments at the end of a block that are indented less than the block to what follows it. */
function liftComments(document: CST.Document): void {
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

/** Attaches comments to the entries that they move with: those above a list's first entry, and those beside a key. */
function settle(node: unknown): void {
  if (!isMap(node) && !isSeq(node)) {
    return;
  }
  if (node.flow === true) {
    settleLast(node);
  } else {
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
  if (above !== "" && isBeside(srcToken?.sep)) {
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

/** Returns true if a comment comes before the first line break. */
function isBeside(tokens: readonly CST.SourceToken[] = []): boolean {
  const first = tokens.find(({ type }) => type === "comment" || type === "newline");
  return first?.type === "comment";
}

/** Attaches the comment behind the last comma in brackets to the entry in front of it. */
function settleLast(node: YAMLMap | YAMLSeq): void {
  const source = node.srcToken;
  const rest = source?.type === "flow-collection" ? source.items.at(-1) : undefined;
  const last = node.items.at(-1);
  const owner = isPair(last) ? (last.value ?? last.key) : last;
  if (rest === undefined || rest.key || rest.sep || rest.value) return;
  if (!node.comment || !isNode(owner) || owner.comment || !isBeside(rest.start)) return;
  const [beside = "", ...below] = node.comment.split("\n");
  owner.comment = beside;
  node.comment = below.length === 0 ? null : below.join("\n");
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
