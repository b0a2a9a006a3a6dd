import { counted, sortNaturally } from "../../../lib/text.ts";
import { type Change, changeId, type Deferred, type MemberImpact, type Plan } from "../../../model/plan.ts";
import type { EqualRows, RowView } from "../../view/change-view.ts";
import { inOrder, shareRows } from "../../view/equal-changes.ts";
import { MIN_FLEET } from "../../view/fleet-view.ts";
import { type PlanView, planView } from "../../view/plan-view.ts";

/** A change of one merchant. */
export interface BrowsedChange {
  /** Identifies it among those of all merchants. */
  readonly id: string;
  /** The whole plan that it is in. */
  readonly plan: Plan;
  readonly change: Change;
  /** Permissions that the member gains in the whole plan, or that the role newly grants. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** A line of the tree of changes, folded or not. */
export type BrowseNode = {
  /** Identifies it on the screen; begins with its parent's key. */
  readonly key: string;
  readonly parent: string | null;
  readonly depth: number;
  /** The changes at and below it; of a merchant, all. */
  readonly changes: readonly BrowsedChange[];
  readonly children: readonly BrowseNode[];
} & (
  | { readonly type: "merchant"; readonly plan: Plan }
  /** Changes that are equal at several merchants, or the number of merchants with no others. */
  | { readonly type: "shared" | "idle"; readonly title: string; readonly merchants: number }
  | { readonly type: "group"; readonly row: RowView; readonly equal: EqualRows }
  | { readonly type: "change"; readonly change: BrowsedChange; readonly named: boolean }
  | { readonly type: "waiting"; readonly deferred: Deferred; readonly plan: Plan }
);

/** Plans prepared for browsing. */
export interface BrowseModel {
  /** The whole plans, in natural order. */
  readonly plans: readonly Plan[];
  readonly tree: readonly BrowseNode[];
  /** By key, in the order of the tree. */
  readonly nodes: ReadonlyMap<string, BrowseNode>;
  /** The changes of a role or member, by `subjectKey`. */
  readonly bySubject: ReadonlyMap<string, readonly BrowsedChange[]>;
  readonly changes: number;
}

/** Identifies a role or member of a merchant. */
export function subjectKey(merchant: string, resource: Change["resource"], name: string): string {
  return `${merchant}\n${resource} ${name}`;
}

/** From this number of rows on, equal changes of different names are one row. */
const MOST_EQUAL = 12;

/** Indexes plans for browsing once, so that a key press only looks things up. */
export function browseModel(unordered: readonly Plan[]): BrowseModel {
  const views = inOrder(unordered.map((plan) => planView(plan)));
  const byMerchant = new Map(unordered.map((plan) => [plan.merchant, plan]));
  const plans = views.flatMap(({ merchant }) => byMerchant.get(merchant) ?? []);
  const byRow = new Map<RowView, BrowsedChange>();
  const changesOf: BrowsedChange[][] = plans.map(() => []);
  for (const [planIndex, { groups }] of views.entries()) {
    const plan = plans[planIndex];
    if (plan === undefined) continue;
    const impacts = new Map(plan.impact.members.map((impact) => [impact.name, impact]));
    const ordered = ["role", "member"].flatMap((resource) =>
      plan.changes.filter((change) => change.resource === resource),
    );
    const rows = groups.flatMap((group) => group.rows);
    for (const [index, row] of rows.entries()) {
      const change = ordered[index];
      if (change === undefined) continue;
      const browsedChange = browsed(change, plan, impacts);
      byRow.set(row, browsedChange);
      changesOf[planIndex]?.push(browsedChange);
    }
  }
  const shares = views.length >= MIN_FLEET;
  const { shared, own } = shareRows(views.map(inNaturalOrder), shares, MOST_EQUAL);
  const nodesOf = (rows: readonly RowView[], parent: string, depth: number): readonly BrowseNode[] =>
    rows.flatMap((row) => rowNode(row, parent, depth, byRow));
  const sharedRows = shared.flatMap(({ rows }) => rows);
  const sharedNodes = nodesOf(sharedRows, SHARED, 1);
  const merchants = plans.map((plan, index) => {
    const rows = (own[index] ?? []).flatMap((group) => group.rows);
    return merchantNode(plan, nodesOf(rows, plan.merchant, 1), changesOf[index] ?? []);
  });
  const busy = merchants.filter(({ children }) => children.length > 0 || !shares);
  const tree = [
    ...(sharedNodes.length > 0 ? [sharedNode(sharedNodes)] : []),
    ...busy,
    ...(busy.length < merchants.length && sharedNodes.length > 0
      ? [idleNode(merchants.filter(({ children }) => children.length === 0))]
      : []),
  ];
  const changes = plans.reduce((sum, plan) => sum + plan.changes.length, 0);
  const bySubject = new Map<string, BrowsedChange[]>();
  for (const browsedChange of byRow.values()) {
    const key = subjectKey(
      browsedChange.plan.merchant,
      browsedChange.change.resource,
      browsedChange.change.name,
    );
    bySubject.set(key, [...(bySubject.get(key) ?? []), browsedChange]);
  }
  return { plans, tree, nodes: indexed(tree), bySubject, changes };
}

function inNaturalOrder(view: PlanView): PlanView {
  const groups = view.groups.map(({ title, rows }) => ({
    title,
    rows: sortNaturally(rows, ({ name }) => name),
  }));
  return { ...view, groups };
}

/** The key of the row above the changes that are equal at several merchants. */
export const SHARED = "\nshared";

/** The key of the row above the merchants without other changes. */
const IDLE = "\nothers";

function sharedNode(children: readonly BrowseNode[]): BrowseNode {
  const changes = children.flatMap((node) => node.changes);
  const merchants = new Set(changes.map(({ plan }) => plan.merchant)).size;
  const title = "Equal at several merchants";
  return { key: SHARED, parent: null, depth: 0, changes, children, type: "shared", title, merchants };
}

function idleNode(merchants: readonly BrowseNode[]): BrowseNode {
  const title = `${counted(merchants.length, "merchant")} with no other changes`;
  const children = merchants.map((node) => ({
    ...node,
    key: `${IDLE}\n${node.key}`,
    parent: IDLE,
    depth: 1,
  }));
  const changes = children.flatMap((node) => node.changes);
  return {
    key: IDLE,
    parent: null,
    depth: 0,
    changes,
    children,
    type: "idle",
    title,
    merchants: merchants.length,
  };
}

/** Returns the node of a merchant, with all its changes: those that are equal at others are not below it. */
function merchantNode(
  plan: Plan,
  rows: readonly BrowseNode[],
  changes: readonly BrowsedChange[],
): BrowseNode {
  const key = plan.merchant;
  const waiting = plan.deferred.map(
    (deferred): BrowseNode => ({
      key: `${key}\nwaiting ${deferred.change.fingerprint}`,
      parent: key,
      depth: 1,
      changes: [],
      children: [],
      type: "waiting",
      deferred,
      plan,
    }),
  );
  const children = [...rows, ...waiting];
  return { key, parent: null, depth: 0, changes, children, type: "merchant", plan };
}

/** Returns the node of a row: of one change, or of equal ones with a node for each below it. */
function rowNode(
  row: RowView,
  parent: string,
  depth: number,
  byRow: ReadonlyMap<RowView, BrowsedChange>,
): readonly BrowseNode[] {
  const { equal } = row;
  if (equal === undefined) {
    const change = byRow.get(row);
    return change === undefined ? [] : [changeNode(change, parent, depth, false)];
  }
  const changes = equal.rows.flatMap((equalRow) => byRow.get(equalRow) ?? []);
  const key = `${parent}\n=${changes[0]?.id.replace("\n", " ")}`;
  const isNamed = new Set(equal.merchants).size > 1;
  const children = changes.map((change) => changeNode(change, key, depth + 1, isNamed));
  return [{ key, parent, depth, changes, children, type: "group", row, equal }];
}

function changeNode(change: BrowsedChange, parent: string, depth: number, isNamed: boolean): BrowseNode {
  const key = `${parent}\n${change.id.replace("\n", " ")}`;
  return { key, parent, depth, changes: [change], children: [], type: "change", change, named: isNamed };
}

function indexed(tree: readonly BrowseNode[]): ReadonlyMap<string, BrowseNode> {
  const nodes = new Map<string, BrowseNode>();
  const add = (node: BrowseNode): void => {
    nodes.set(node.key, node);
    for (const child of node.children) add(child);
  };
  for (const node of tree) add(node);
  return nodes;
}

function browsed(change: Change, plan: Plan, impacts: ReadonlyMap<string, MemberImpact>): BrowsedChange {
  const id = changeId(plan.merchant, change);
  if (change.resource === "member") {
    const { gained = [], lost = [] } = impacts.get(change.name) ?? {};
    return { id, plan, change, gained, lost };
  }
  const before = new Set(change.before?.permissions);
  const after = new Set(change.after?.permissions);
  return {
    id,
    plan,
    change,
    gained: [...after].filter((permission) => !before.has(permission)),
    lost: [...before].filter((permission) => !after.has(permission)),
  };
}
