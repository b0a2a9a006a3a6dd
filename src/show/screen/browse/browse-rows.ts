import type { Change, MemberImpact, Plan, Selection } from "../../../model/plan.ts";
import { rowOf } from "../../view/change-view.ts";
import { countedRemovals, type IssueGroup, issuesOf, type PlanIssue } from "./browse-issues.ts";
import { type BrowsedChange, type BrowseModel, type BrowseNode, subjectKey } from "./browse-model.ts";
import type { BrowseState } from "./browse-state.ts";

/** A line of the list. */
export type BrowseRow = {
  /** Identifies the row across redraws. */
  readonly key: string;
  /** Key of the row that it is below; `null` at the top. */
  readonly parent: string | null;
  readonly depth: number;
  /** `null` for a row without others below it. */
  readonly open: boolean | null;
  /** The visible changes at and below it, or those that an issue is about. */
  readonly changes: readonly BrowsedChange[];
} & (
  | { readonly type: "node"; readonly node: BrowseNode }
  | { readonly type: "heading"; readonly group: IssueGroup }
  | { readonly type: "issue"; readonly issue: PlanIssue }
);

/** Returns the visible rows of the tree; with `only`, those that match the search. */
export function changeRows(
  { tree }: BrowseModel,
  state: Pick<BrowseState, "open" | "search" | "only">,
  matches: Found,
): readonly BrowseRow[] {
  const rows: BrowseRow[] = [];
  const only = state.only && state.search !== "";
  const add = (node: BrowseNode, isFound: boolean): void => {
    const { key, parent, depth, children } = node;
    const whole = isFound || matches.keys.has(key);
    if (only && !whole && !matches.above.has(key)) return;
    const isOpen = children.length === 0 ? null : only ? !whole || state.open.has(key) : state.open.has(key);
    const changes = only && !whole ? node.changes.filter(({ id }) => matches.changes.has(id)) : node.changes;
    rows.push({ key, parent, depth, open: isOpen, changes, type: "node", node });
    if (isOpen) for (const child of children) add(child, whole);
  };
  for (const node of tree) add(node, false);
  return rows;
}

/** Returns the rows of the refusals, problems, risks and notes. */
export function issueRows(model: BrowseModel, selection: Selection): readonly BrowseRow[] {
  return issuesOf(selection).flatMap((group): readonly BrowseRow[] => [
    { key: group.title, parent: null, depth: 0, open: null, changes: [], type: "heading", group },
    ...group.issues.map(
      (issue): BrowseRow => ({
        key: issue.key,
        parent: group.title,
        depth: 1,
        open: null,
        changes: changesAbout(model, issue, selection),
        type: "issue",
        issue,
      }),
    ),
  ]);
}

/** Returns the changes of the role or member that an issue is about, or the removals that a refusal counts. */
function changesAbout(
  { bySubject }: BrowseModel,
  { subject, places }: PlanIssue,
  { out }: Selection,
): readonly BrowsedChange[] {
  const changesOf = (
    { merchant }: Plan,
    subject: Pick<Change, "resource" | "name">,
  ): readonly BrowsedChange[] => bySubject.get(subjectKey(merchant, subject.resource, subject.name)) ?? [];
  if (subject !== null) return places.flatMap(({ plan }) => changesOf(plan, subject));
  return places.flatMap(({ plan, found }) =>
    found === null || !("rule" in found)
      ? []
      : countedRemovals(plan, found)
          .flatMap((change) => changesOf(plan, change))
          .filter(({ id }) => !out.has(id)),
  );
}

/** The matches of a search in the tree. */
export interface Found {
  /** Keys of the rows, in order; of a group whose changes are all found, the group's alone. */
  readonly keys: ReadonlySet<string>;
  /** Keys of the rows above these. */
  readonly above: ReadonlySet<string>;
  /** Ids of the changes. */
  readonly changes: ReadonlySet<string>;
}

/** Returns the file in which a change is declared; `null` if none is known. */
export type FileOf = (change: BrowsedChange) => string | null;

const NOTHING: Found = { keys: new Set(), above: new Set(), changes: new Set() };

/**
 * Finds a text in merchants, names, people, roles, permissions (`+refunds` for gained ones) and files, ignoring case.
 */
export function searchTree({ tree }: BrowseModel, search: string, fileOf: FileOf): Found {
  const text = search.toLowerCase();
  if (text === "") return NOTHING;
  const [keys, above, changes] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const visit = (node: BrowseNode): boolean => {
    const { key, children } = node;
    if (textOf(node, fileOf).includes(text)) {
      keys.add(key);
      for (const { id } of node.changes) changes.add(id);
      return true;
    }
    const childMatches = children.map(visit);
    if (!childMatches.includes(true)) return false;
    if (node.type === "group" && childMatches.every(Boolean)) {
      for (const child of children) keys.delete(child.key);
      keys.add(key);
    } else {
      above.add(key);
    }
    return true;
  };
  for (const node of tree) visit(node);
  return { keys, above, changes };
}

const texts = new WeakMap<BrowseNode, string>();

function textOf(node: BrowseNode, fileOf: FileOf): string {
  const text = texts.get(node) ?? searchText(node, fileOf).toLowerCase();
  texts.set(node, text);
  return text;
}

function searchText(node: BrowseNode, fileOf: FileOf): string {
  switch (node.type) {
    case "merchant":
      return `${node.plan.merchant} ${node.plan.environment ?? ""}`;
    case "change":
      return `${node.named ? node.change.plan.merchant : ""}\n${changeText(node.change)}\n${fileOf(node.change) ?? ""}`;
    case "waiting":
      return `${node.deferred.change.name}\n${node.deferred.waitsFor.join("\n")}`;
    case "shared":
    case "idle":
    case "group":
      return "";
    default:
      return node satisfies never;
  }
}

function changeText({ plan, change, gained, lost }: BrowsedChange): string {
  const { kind, resource, name, id } = change;
  const held =
    change.resource === "role"
      ? [...(change.before?.permissions ?? []), ...(change.after?.permissions ?? [])]
      : [...(change.before?.roles ?? []), ...(change.after?.roles ?? [])].map((role) => role.name);
  const people = change.resource === "role" ? affectedBy(bystanders(plan), gained, lost) : [];
  const { remark } = rowOf(change);
  return [
    `${kind} ${resource} ${name} ${id ?? ""} ${remark}`,
    ...new Set(held),
    ...gained.map((permission) => `+${permission}`),
    ...lost.map((permission) => `-${permission}`),
    ...people.map((person) => person.name),
  ].join("\n");
}

const bystandersByPlan = new WeakMap<Plan, readonly MemberImpact[]>();

/** Returns the members whose access changes without a change of their own. */
function bystanders(plan: Plan): readonly MemberImpact[] {
  const cached = bystandersByPlan.get(plan);
  if (cached !== undefined) return cached;
  const changedNames = new Set(
    plan.changes.flatMap(({ resource, name }) => (resource === "member" ? [name] : [])),
  );
  const unchanged = plan.impact.members.filter(({ name }) => !changedNames.has(name));
  bystandersByPlan.set(plan, unchanged);
  return unchanged;
}

/** Returns the members who gain or lose, in the whole plan, what a role newly grants or no longer does. */
export function affectedBy(
  members: readonly MemberImpact[],
  gained: readonly string[],
  lost: readonly string[],
): readonly MemberImpact[] {
  if (gained.length + lost.length === 0) return [];
  const [more, less] = [new Set(gained), new Set(lost)];
  return members.filter(
    (member) => member.gained.some((each) => more.has(each)) || member.lost.some((each) => less.has(each)),
  );
}

/** Returns whether an issue has a text. */
export function isIssueFound(row: BrowseRow, search: string): boolean {
  if (row.type !== "issue" || search === "") return false;
  const { what, message, places } = row.issue;
  const text = [what, message, ...places.map(({ plan }) => plan.merchant)].join("\n");
  return text.toLowerCase().includes(search.toLowerCase());
}
