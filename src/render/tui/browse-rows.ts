import { grouped } from "../../lib/text.ts";
import type { MemberImpact } from "../../model/plan.ts";
import { type DetailView, rowOf } from "../view/change-view.ts";
import {
  type BrowsedChange,
  type BrowsedPlan,
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
  | { readonly type: "change"; readonly change: BrowsedChange }
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
  plans: readonly BrowsedPlan[],
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
  for (const plan of plans) {
    const roles = plan.roles.filter((one) => isShown(one, state));
    const members = plan.members.filter((one) => isShown(one, state));
    if (filtered && roles.length + members.length === 0) continue;
    const key = plan.plan.merchant;
    const open = isOpen(key, filtered || plans.length === 1);
    rows.push({
      key,
      parent: null,
      depth: 0,
      open,
      changes: [...roles, ...members],
      type: "merchant",
      plan,
    });
    if (!open) continue;
    const inside = [
      ...(filtered
        ? []
        : [...troubleRows(plan, key, isOpen, width), ...accessRows(plan, key, isOpen, width)]),
      ...changeRows("Roles", roles, plan.roles.length, key, isOpen, width),
      ...changeRows("Members", members, plan.members.length, key, isOpen, width),
      ...(filtered ? [] : waitingRows(plan, key, isOpen, width)),
    ];
    for (const row of inside) rows.push(row);
  }
  return rows;
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
  changes: readonly BrowsedChange[],
  all: number,
  merchant: string,
  isOpen: IsOpen,
  width: number,
): readonly BrowseRow[] {
  if (changes.length === 0) return [];
  const key = `${merchant}\n${title}`;
  const open = isOpen(key, true);
  const count = changes.length === all ? grouped(all) : `${grouped(changes.length)} of ${grouped(all)}`;
  const section = {
    key,
    parent: merchant,
    open,
    changes,
    title: `${title} (${count})`,
    tone: "plain",
  } as const;
  return sectionRows(section, () => changes.flatMap((change) => changeRow(change, key, isOpen, width)));
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
): readonly BrowseRow[] {
  const { change, gained, lost } = browsed;
  const key = `${parent}\n${change.fingerprint}`;
  const open = isOpen(key, false);
  const row: BrowseRow = { key, parent, depth: 2, open, changes: [browsed], type: "change", change: browsed };
  if (!open) return [row];
  const details = [
    ...(change.resource === "member"
      ? [permissionDetail("gains", gained, []), permissionDetail("loses", [], lost)]
      : []),
    ...rowOf(change).details,
  ];
  return [row, ...detailRows(details, key, 3, width)];
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
