import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import type { NodeChange } from "./changes.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/**
 * Adds what aliases need to a change: one whose anchor is gone, or means something else, is written out; one whose
 * anchor means just what the alias has to mean stays.
 */
export function settleAliases(root: SyntaxNode, change: NodeChange | null): NodeChange | null {
  return hasAliases(root) ? settle(root, change, new Map()) : change;
}

function hasAliases(node: SyntaxNode): boolean {
  return node.kind === "alias" || node.entries.some((entry) => hasAliases(entry.node));
}

/** Settles a node that stays, in the order of the text; `anchors` are the values that the names have so far. */
function settle(
  node: SyntaxNode,
  change: NodeChange | null,
  anchors: Map<string, unknown>,
): NodeChange | null {
  const value = change === null ? node.value : change.value;
  if (node.alias !== null) {
    const kept = anchors.has(node.alias) && isSameJson(anchors.get(node.alias), value);
    return kept ? null : { kind: "replace", value: value as JsonValue };
  }
  const settled = change?.kind === "replace" ? change : settleEntries(node, change, anchors);
  if (node.anchor !== null) anchors.set(node.anchor, value);
  return settled;
}

function settleEntries(
  node: SyntaxNode,
  change: (NodeChange & { readonly kind: "entries" }) | null,
  anchors: Map<string, unknown>,
): NodeChange | null {
  const changed = new Map<number, NodeChange>();
  for (const [index, entry] of node.entries.entries()) {
    if (change?.removed.has(index)) continue;
    const inner = settle(entry.node, change?.changed.get(index) ?? null, anchors);
    if (inner !== null) changed.set(index, inner);
  }
  if (change === null && changed.size === 0) return null;
  return {
    kind: "entries",
    value: change === null ? (node.value as JsonValue) : change.value,
    changed,
    removed: change?.removed ?? new Set(),
    added: change?.added ?? new Map(),
  };
}
