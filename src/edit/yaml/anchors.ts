import { isMap, isSeq, type Node, visit } from "yaml";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { keyText } from "../../kernel/yaml/document.ts";
import type { JsonValue } from "../../model/json.ts";

/** The values that the names of anchors have, up to a place. */
export type Anchors = Map<string, JsonValue>;

/** Returns whether there is an alias in a node. */
export function hasAliases(node: unknown): boolean {
  let found = false;
  visit(node as Node, {
    Alias: () => {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** Names the anchors in a node that means a value. */
export function nameAnchors(anchors: Anchors, node: Node | null, value: JsonValue): void {
  if (isMap(node)) {
    for (const { key, value: inner } of node.items) {
      nameAnchors(anchors, inner as Node | null, (fieldsOf(value)[keyText(key) ?? ""] ?? null) as JsonValue);
    }
  } else if (isSeq(node)) {
    for (const [index, inner] of node.items.entries())
      nameAnchors(anchors, inner as Node, (listOf(value)[index] ?? null) as JsonValue);
  }
  nameAnchor(anchors, node, value);
}

/** Names the anchor of a node, if it has one. */
export function nameAnchor(anchors: Anchors, node: Node | null, value: JsonValue): void {
  const anchor = node !== null && "anchor" in node ? node.anchor : undefined;
  if (anchor !== undefined) anchors.set(anchor, value);
}
