import { type CST, isPair, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { keyText } from "../../kernel/yaml/document.ts";
import type { Entry } from "../format/print-document.ts";

/** An entry of a list or mapping with its range in the text, without comments and commas. */
export interface EntryRange {
  readonly entry: Entry;
  /** `null` for an item. */
  readonly key: string | null;
  /** Its value; `null` for a key without one. */
  readonly node: Node | null;
  /** The offset of the dash or of the key, with its anchor. */
  readonly start: number;
  /** The offset behind the dash or the colon. */
  readonly slot: number;
  readonly end: number;
}

/** Returns the entries of a list or mapping with their ranges. */
export function entryRanges(collection: YAMLMap | YAMLSeq): readonly EntryRange[] {
  const source = collection.srcToken as CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
  const items = (source.items as readonly CST.CollectionItem[]).filter(isEntryToken);
  return collection.items.map((item, index) => {
    const entry = item as Entry;
    const token = items[index] as CST.CollectionItem;
    return {
      entry,
      key: isPair(entry) ? keyText(entry.key as never) : null,
      node: (isPair(entry) ? entry.value : entry) as Node | null,
      start: startOf(token),
      slot: slotOf(token),
      end: endOfItem(token),
    };
  });
}

/** Returns whether an item is more than comments, or the comma, at the end of a collection. */
function isEntryToken({ start, key, sep, value }: CST.CollectionItem): boolean {
  return Boolean(key || sep || value) || start.some(({ type }) => PROPS.has(type));
}

const SPACE: ReadonlySet<string> = new Set(["space", "newline", "comment", "comma"]);

function startOf({ start, key, sep, value }: CST.CollectionItem): number {
  const first = start.find(({ type }) => !SPACE.has(type)) ?? key ?? sep?.[0] ?? value;
  return first?.offset ?? 0;
}

function endOfTokens(tokens: readonly CST.SourceToken[], marks: ReadonlySet<string>): number {
  const last = tokens.findLast(({ type }) => marks.has(type));
  return last === undefined ? 0 : last.offset + last.source.length;
}

const MARKS: ReadonlySet<string> = new Set(["seq-item-ind", "map-value-ind"]);
const PROPS: ReadonlySet<string> = new Set([...MARKS, "explicit-key-ind", "anchor", "tag"]);

function slotOf({ start, key, sep }: CST.CollectionItem): number {
  return Math.max(endOfTokens(sep ?? [], MARKS), endOfTokens(start, MARKS), key ? endOf(key) : 0);
}

function endOfItem({ start, key, sep, value }: CST.CollectionItem): number {
  const ends = [endOfTokens(start, PROPS), endOfTokens(sep ?? [], PROPS)];
  return Math.max(...ends, key ? endOf(key) : 0, value ? endOf(value) : 0);
}

/** Returns the end of a value's content: before a comment or a line break that follows it. */
function endOf(token: CST.Token): number {
  switch (token.type) {
    case "block-map":
    case "block-seq": {
      const last = token.items.findLast(isEntryToken);
      return last === undefined ? token.offset : endOfItem(last);
    }
    case "flow-collection": {
      const [close] = token.end;
      return close === undefined ? token.offset : close.offset + close.source.length;
    }
    case "block-scalar": {
      const header = token.props.reduce(
        (end, prop) => ("source" in prop ? Math.max(end, prop.offset + prop.source.length) : end),
        token.offset,
      );
      const mark = token.props.find(({ type }) => type === "block-scalar-header");
      const headerEnd = mark && "source" in mark ? mark.offset + mark.source.length : token.offset;
      return Math.max(headerEnd, header + token.source.replace(/\n$/, "").length);
    }
    default:
      return "source" in token ? token.offset + token.source.length : 0;
  }
}

/** Returns the range of a value that is not a block, without its anchor; `null` for an empty one. */
export function inlineRange(node: Node | null): readonly [start: number, end: number] | null {
  const token = node?.srcToken;
  if (token === undefined || token.type.startsWith("block-")) return null;
  const end = endOf(token);
  return end > token.offset ? [token.offset, end] : null;
}
