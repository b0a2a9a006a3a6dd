import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Scalar,
  type ScalarTag,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { headOf, joinComments, setHead } from "./settle-comments.ts";

/** Maximum width of a line with a flow collection, in columns. */
const MAX_COLUMNS = 100;

/** A value that is printed as written; a block of text is only re-indented. */
class Written {
  readonly text: string;
  readonly body: readonly string[] | null;

  constructor(text: string, body: readonly string[] | null = null) {
    this.text = text;
    this.body = body;
  }
}

/** A tag that makes the library print values as written, with their quotes. */
export const WRITTEN_TAG: ScalarTag = {
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

/** Prints a document in the canonical style; modifies the document. */
export function printDocument(document: Document, text: string): string {
  place(document.contents, { text, indent: 0, column: 0 });
  return document.toString({ indent: 2, indentSeq: true, lineWidth: 0, verifyAliasOrder: false });
}

/** The position of a value: its indentation as a block, and its column on a line. */
interface Position {
  readonly text: string;
  readonly indent: number;
  readonly column: number;
}

function place(node: unknown, at: Position): void {
  if (isScalar(node)) {
    keepScalar(node, at.text);
  } else if (isMap(node) || isSeq(node)) {
    if (node.flow === true) {
      node.flow = !tooMuchForALine(node, at);
    }
    pad(node);
    for (const item of node.items) {
      placeItem(item, node.flow === true, at);
    }
  }
}

function placeItem(item: unknown, flow: boolean, { text, indent }: Position): void {
  const wasFlow = (value: unknown) => (isMap(value) || isSeq(value)) && value.flow === true;
  const value = isPair(item) ? item.value : item;
  const key = isPair(item) ? item.key : null;
  const width = isScalar(key) && key.range ? key.range[1] - key.range[0] + 2 : 2;
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
function tooMuchForALine(node: YAMLMap | YAMLSeq, { text, column }: Position): boolean {
  const [start, end] = node.range ?? [0, 0];
  const written = text.slice(start, end);
  return node.items.some(hasComment) || column + written.replace(/\s+/g, " ").length > MAX_COLUMNS;
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
