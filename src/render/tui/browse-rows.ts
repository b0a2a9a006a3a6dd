import { counted, grouped } from "../../lib/text.ts";
import type { Change, MemberImpact } from "../../model/plan.ts";
import { type DetailView, rowOf } from "../view/change-view.ts";
import {
  type BrowsedChange,
  type BrowsedGroup,
  type BrowsedPlan,
  type BrowseModel,
  type BrowseState,
  foldKey,
  isFiltered,
} from "./browse-model.ts";
import { shown, widthOf } from "./terminal-text.ts";

/** A line of the tree. */
export type BrowseRow = {
  /** Identifies the row across redraws. */
  readonly key: string;
  /** Key of the parent row; `null` at the top. */
  readonly parent: string | null;
  readonly depth: number;
  /** `null` for a row without children. */
  readonly open: boolean | null;
  /** The visible changes at and below it. */
  readonly changes: readonly BrowsedChange[];
} & (
  | { readonly type: "merchant"; readonly plan: BrowsedPlan }
  | { readonly type: "section"; readonly title: string; readonly tone: "plain" | "trouble" }
  | { readonly type: "change"; readonly change: BrowsedChange; readonly merchant: string | null }
  | { readonly type: "group"; readonly group: BrowsedGroup }
  | { readonly type: "person"; readonly impact: MemberImpact }
  | { readonly type: "detail"; readonly label: string; readonly sign: Sign; readonly text: string }
);

/** The sign of a line: added, removed or neither. */
export type Sign = "+" | "-" | " ";

/** Maximum number of people that start unfolded, so that the changes are on the first screen. */
const MAX_UNFOLDED = 12;
/** Width of a detail's indent and label, in columns. */
const MARGIN = 26;

/** Returns the rows of the tree as folded and filtered, with details wrapped to the columns. */
export function browseRows(
  { shared, refusals, plans }: BrowseModel,
  state: BrowseState,
  columns: number,
): readonly BrowseRow[] {
  const filtered = isFiltered(state);
  const rows: BrowseRow[] = [];
  const isOpen = (key: string, usual: boolean): boolean => {
    const base = state.folding === "usual" ? usual : state.folding === "open";
    return base !== state.turned.has(foldKey(state, key));
  };
  const width = Math.max(columns - MARGIN, 20);
  if (!filtered) {
    const texts = textRows("An apply would be refused", refusals, "", isOpen, width, "trouble");
    for (const row of texts) rows.push(row.type === "section" ? { ...row, depth: 0, parent: null } : row);
    for (const row of sharedRows(shared, isOpen, width)) rows.push(row);
  }
  let idle = 0;
  for (const plan of plans) {
    if (!filtered && shared.length > 0 && !plan.hasOwn) idle += 1;
    else
      for (const row of merchantRows(plan, state, isOpen, filtered || plans.length === 1, width))
        rows.push(row);
  }
  if (idle > 0) rows.push(idleRow(idle));
  return rows;
}

/** Returns the rows of a merchant, without the changes that several merchants share; none if it is filtered out. */
function merchantRows(
  plan: BrowsedPlan,
  state: BrowseState,
  isOpen: IsOpen,
  opens: boolean,
  width: number,
): readonly BrowseRow[] {
  const filtered = isFiltered(state);
  const isListed = (one: BrowsedChange): boolean =>
    filtered ? isShown(one, state) : !plan.grouped.has(one.id);
  const roles = plan.roles.filter(isListed);
  const members = plan.members.filter(isListed);
  if (filtered && roles.length + members.length === 0) return [];
  const groups = filtered ? [] : plan.groups;
  const key = plan.plan.merchant;
  const open = isOpen(key, opens);
  const changes = [...groups.flatMap((group) => group.changes), ...roles, ...members];
  const row: BrowseRow = { key, parent: null, depth: 0, open, changes, type: "merchant", plan };
  if (!open) return [row];
  const of = (resource: Change["resource"]): readonly BrowsedGroup[] => groupsOf(groups, resource);
  return [
    row,
    ...(filtered ? [] : [...troubleRows(plan, key, isOpen, width), ...accessRows(plan, key, isOpen, width)]),
    ...changeRows("Roles", { changes: roles, groups: of("role") }, plan.roles, key, isOpen, width),
    ...changeRows("Members", { changes: members, groups: of("member") }, plan.members, key, isOpen, width),
    ...(filtered ? [] : waitingRows(plan, key, isOpen, width)),
  ];
}

function groupsOf(groups: readonly BrowsedGroup[], resource: Change["resource"]): readonly BrowsedGroup[] {
  return groups.filter(({ row }) => row.resource === resource);
}

/** Returns the section of what several merchants share. */
function sharedRows(shared: readonly BrowsedGroup[], isOpen: IsOpen, width: number): readonly BrowseRow[] {
  if (shared.length === 0) return [];
  const key = "\nEqual changes";
  const changes = shared.flatMap((group) => group.changes);
  const open = isOpen(key, true);
  const title = `Equal changes of several merchants (${grouped(changes.length)})`;
  const head: BrowseRow = {
    key,
    parent: null,
    depth: 0,
    open,
    changes,
    type: "section",
    title,
    tone: "plain",
  };
  return open ? [head, ...shared.flatMap((group) => groupRow(group, key, 1, isOpen, width))] : [head];
}

/** Returns the row of equal changes, and the change of each merchant or name below it if it is open. */
function groupRow(
  group: BrowsedGroup,
  parent: string,
  depth: number,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const { changes, equal } = group;
  const key = `${parent}\n${changes[0]?.id.replace("\n", " ")}`;
  const open = isOpen(key, false);
  const row: BrowseRow = { key, parent, depth, open, changes, type: "group", group };
  if (!open) return [row];
  const named = new Set(equal.merchants).size > 1;
  return [
    row,
    ...changes.flatMap((one) => changeRow(one, key, isOpen, width, depth + 1, named ? one.merchant : null)),
  ];
}

function idleRow(count: number): BrowseRow {
  const text = `and ${counted(count, "merchant")} with nothing besides`;
  const key = "\nOthers";
  return {
    key,
    parent: null,
    depth: 0,
    open: null,
    changes: [],
    type: "section",
    title: text,
    tone: "plain",
  };
}

type IsOpen = (key: string, usual: boolean) => boolean;

/** Returns whether a change passes the search and filters. */
function isShown({ change, text, gained, lost }: BrowsedChange, state: BrowseState): boolean {
  if (state.kind !== null && change.kind !== state.kind) return false;
  if (state.search !== "" && !text.includes(state.search.toLowerCase())) return false;
  const has = (permissions: readonly string[], wanted: string): boolean =>
    wanted === "" || permissions.some((permission) => permission.includes(wanted));
  return has(gained, state.gained) && has(lost, state.lost);
}

function changeRows(
  title: string,
  {
    changes,
    groups,
  }: { readonly changes: readonly BrowsedChange[]; readonly groups: readonly BrowsedGroup[] },
  every: readonly BrowsedChange[],
  merchant: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const shown = [...groups.flatMap((group) => group.changes), ...changes];
  if (shown.length === 0) return [];
  const key = `${merchant}\n${title}`;
  const open = isOpen(key, true);
  const all = every.length;
  const count = shown.length === all ? grouped(all) : `${grouped(shown.length)} of ${grouped(all)}`;
  const section = {
    key,
    parent: merchant,
    open,
    changes: shown,
    title: `${title} (${count})`,
    tone: "plain",
  } as const;
  return sectionRows(section, () => [
    ...groups.flatMap((group) => groupRow(group, key, 2, isOpen, width)),
    ...changes.flatMap((change) => changeRow(change, key, isOpen, width)),
  ]);
}

/** Returns the row of a section, and the rows below it if it is open. */
function sectionRows(
  section: Omit<BrowseRow & { readonly type: "section" }, "depth" | "type">,
  below: () => readonly BrowseRow[],
): readonly BrowseRow[] {
  const row: BrowseRow = { ...section, depth: 1, type: "section" };
  return section.open ? [row, ...below()] : [row];
}

function changeRow(
  browsed: BrowsedChange,
  parent: string,
  isOpen: IsOpen,
  width: number,
  depth = 2,
  merchant: string | null = null,
): readonly BrowseRow[] {
  const { change, gained, lost } = browsed;
  const key = `${parent}\n${merchant === null ? "" : `${merchant} `}${change.fingerprint}`;
  const open = isOpen(key, false);
  const changes = [browsed];
  const row: BrowseRow = { key, parent, depth, open, changes, type: "change", change: browsed, merchant };
  if (!open) return [row];
  const details = [
    ...(change.resource === "member"
      ? [permissionDetail("gains", gained, []), permissionDetail("loses", [], lost)]
      : []),
    ...rowOf(change).details,
  ];
  return [row, ...detailRows(details, key, depth + 1, width)];
}

function permissionDetail(label: string, added: readonly string[], removed: readonly string[]): DetailView {
  return { label, added, removed, plain: [] };
}

function accessRows(
  { plan }: BrowsedPlan,
  merchant: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const { members } = plan.impact;
  if (members.length === 0) return [];
  const key = `${merchant}\nAccess`;
  const open = isOpen(key, members.length <= MAX_UNFOLDED);
  const what =
    members.length === 1 ? "1 member gains or loses" : `${grouped(members.length)} members gain or lose`;
  const title = `Access: ${what} permissions`;
  return sectionRows({ key, parent: merchant, open, changes: [], title, tone: "plain" }, () =>
    members.flatMap((impact) => personRow(impact, key, isOpen, width)),
  );
}

function personRow(
  impact: MemberImpact,
  parent: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const key = `${parent}\n${impact.name}`;
  const open = isOpen(key, false);
  const row: BrowseRow = { key, parent, depth: 2, open, changes: [], type: "person", impact };
  if (!open) return [row];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `permissions of ${role} (not reported by the service)`);
  const details = [
    permissionDetail("gains", [...impact.gained, ...unknown(impact.unknownGained)], []),
    permissionDetail("loses", [], [...impact.lost, ...unknown(impact.unknownLost)]),
  ];
  return [row, ...detailRows(details, key, 3, width)];
}

/** Returns the rows of refusals and findings. */
function troubleRows(
  { plan }: BrowsedPlan,
  merchant: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const refusals = plan.refusals.map(({ rule, code, message }) => [`${rule} ${code}`, message] as const);
  const overridden = (plan.overridden ?? []).map(
    ({ rule, code, message }) => [`${rule} ${code}`, message] as const,
  );
  const findings = plan.findings.map(({ severity, message }) => [severity, message] as const);
  return [
    ...textRows("An apply would be refused", refusals, merchant, isOpen, width, "trouble"),
    ...textRows("Overridden in the file", overridden, merchant, isOpen, width, "plain"),
    ...textRows("Notes", findings, merchant, isOpen, width, "plain"),
  ];
}

function waitingRows(
  { plan }: BrowsedPlan,
  merchant: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  const texts = plan.deferred.map(
    ({ change, waitsFor }) =>
      [
        `${change.kind} ${change.resource}`,
        `${change.name}, when one of these has accepted: ${waitsFor.join(", ")}`,
      ] as const,
  );
  return textRows("Deferred", texts, merchant, isOpen, width, "plain");
}

function textRows(
  title: string,
  texts: readonly (readonly [label: string, text: string])[],
  merchant: string,
  isOpen: IsOpen,
  width: number,
  tone: "plain" | "trouble",
): readonly BrowseRow[] {
  if (texts.length === 0) return [];
  const key = `${merchant}\n${title}`;
  const open = isOpen(key, texts.length <= MAX_UNFOLDED);
  const heading = `${title} (${grouped(texts.length)})`;
  const details = texts.map(([label, text]) => ({ label, added: [], removed: [], plain: text.split(" ") }));
  return sectionRows({ key, parent: merchant, open, changes: [], title: heading, tone }, () =>
    detailRows(details, key, 2, width, " "),
  );
}

function detailRows(
  details: readonly DetailView[],
  parent: string,
  depth: number,
  width: number,
  separator = ", ",
): readonly BrowseRow[] {
  const lines = details.flatMap(({ label, removed, added, plain }) => {
    const lay = (items: readonly string[], sign: Sign): readonly (readonly [Sign, string])[] =>
      wrapped(items.map(shown), width, label === "metadata" || label === "description" ? " " : separator).map(
        (text) => [sign, text] as const,
      );
    return [...lay(removed, "-"), ...lay(added, "+"), ...lay(plain, " ")].map(
      ([sign, text], index) => [index === 0 ? label : "", sign, text] as const,
    );
  });
  return lines.map(([label, sign, text], index) => ({
    key: `${parent}\n${index}`,
    parent,
    depth,
    open: null,
    changes: [],
    type: "detail",
    label,
    sign,
    text,
  }));
}

/** Breaks a list into lines of limited width, in cells, never inside an item. */
function wrapped(items: readonly string[], width: number, separator: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    const longer = line === "" ? item : `${line}${separator}${item}`;
    if (line !== "" && widthOf(longer) > width) {
      lines.push(`${line}${separator.trimEnd()}`);
      line = item;
    } else {
      line = longer;
    }
  }
  return line === "" ? lines : [...lines, line];
}
