import { isAlias, isMap, isSeq, type Node, visit } from "yaml";
import { fieldsOf, listOf } from "../../kernel/values/values.ts";
import { keyText } from "../../kernel/yaml/document.ts";
import { isSameJson } from "../../lib/json-text.ts";
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

/**
 * Names the anchors of a node if each alias in it still stands for its part of the node's value; else returns false.
 */
export function nameIfHeld(anchors: Anchors, node: Node | null, value: JsonValue): boolean {
  const inside: Anchors = new Map();
  const isHeld = (inner: unknown, now: unknown): boolean => {
    if (isAlias(inner)) return isSameJson(inside.get(inner.source) ?? anchors.get(inner.source), now);
    const isEach = isMap(inner)
      ? inner.items.every(({ key, value: item }) => isHeld(item, fieldsOf(now)[keyText(key) ?? ""] ?? null))
      : !isSeq(inner) || inner.items.every((item, index) => isHeld(item, listOf(now)[index] ?? null));
    nameAnchor(inside, inner as Node | null, now as JsonValue);
    return isEach;
  };
  if (!isHeld(node, value)) return false;
  for (const [name, now] of inside) anchors.set(name, now);
  return true;
}

/** Names the anchor of a node, if it has one. */
export function nameAnchor(anchors: Anchors, node: Node | null, value: JsonValue): void {
  const anchor = node !== null && "anchor" in node ? node.anchor : undefined;
  if (anchor !== undefined) anchors.set(anchor, value);
}
