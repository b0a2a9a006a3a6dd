import { counted, grouped } from "../../../lib/text.ts";
import type { Change, Impact, MemberChange, Plan, RoleChange, Selection } from "../../../model/plan.ts";
import type { Paint, Style } from "../../style.ts";
import { rowOf } from "../../view/change-view.ts";
import { equalText } from "../../view/equal-text.ts";
import { addCounts, countsText, overrideCommand, type PlaceOf } from "../../view/plan-view.ts";
import { shown } from "../terminal-text.ts";
import { type IssueGroup, issuesAbout, issuesIn, type PlanIssue } from "./browse-issues.ts";
import type { BrowsedChange, BrowseNode, FileLine } from "./browse-model.ts";
import { affectedBy, type BrowseRow } from "./browse-rows.ts";
import {
  brief,
  comparison,
  DETAIL_NAMES,
  type DetailLine,
  fieldLines,
  impactLines,
  type Layout,
  more,
  paragraph,
  permissionSums,
} from "./detail-lines.ts";

/** What the detail of a row depends on, besides the row. */
export interface DetailContext {
  readonly selection: Selection;
  /** Returns the permissions of a live role; `null` if they are unknown. */
  readonly permissionsOf: (merchant: string, roleId: string) => readonly string[] | null;
  /** Returns where a change is declared; `null` if that is unknown. */
  readonly fileLineOf: (change: BrowsedChange) => FileLine | null;
  readonly placeOf: PlaceOf;
  readonly selects: boolean;
}

/** The sign of each kind of change. */
export const SIGNS: Readonly<Record<Change["kind"], string>> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "-",
};

/** Returns the colour of a kind of change. */
export function kindPaint(kind: Change["kind"], style: Style): Paint {
  return { create: style.green, update: style.yellow, replace: style.yellow, delete: style.red }[kind];
}

/** Returns the detail of a row, line by line. */
export function detailOf(
  row: BrowseRow,
  context: DetailContext,
  width: number,
  style: Style,
): readonly DetailLine[] {
  const layout = { style, width };
  switch (row.type) {
    case "heading":
      return headingDetail(row.group, layout);
    case "issue":
      return issueDetail(row.issue, context, layout);
    case "node":
      return nodeDetail(row.node, context, layout);
    default:
      return row satisfies never;
  }
}

function nodeDetail(node: BrowseNode, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { style } = layout;
  switch (node.type) {
    case "change":
      return changeDetail(node.change, context, layout);
    case "group":
      return groupDetail(node, context, layout);
    case "merchant":
      return merchantDetail(node.plan, context, layout);
    case "waiting": {
      const { change, role, waitsFor } = node.deferred;
      return [
        ...heading(change, layout),
        ...paragraph(
          `Waits until one of these has accepted: ${waitsFor.join(", ")}. Else the role ${role} would have too few holders.`,
          layout,
          style.yellow,
        ),
        [],
        ...fieldLines(rowOf(change).details, layout),
      ];
    }
    case "shared":
      return [
        [[node.title, style.bold]],
        [[`${counted(node.changes.length, "change")} at ${counted(node.merchants, "merchant")}`, style.dim]],
        [],
        ...node.children.flatMap((child) =>
          child.type === "group" ? paragraph(`${SIGNS[child.row.kind]} ${groupTitle(child)}`, layout) : [],
        ),
      ];
    case "idle":
      return paragraph("Their changes are among the equal ones at the top.", layout);
    default:
      return node satisfies never;
  }
}

function changeDetail(one: BrowsedChange, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { plan, change } = one;
  const { selection } = context;
  const why = selection.out.get(one.id);
  const isOut = why !== undefined;
  const judged = isOut ? plan : judgedPlan(plan, selection);
  const waits = judged.deferred.find((each) => each.change.fingerprint === change.fingerprint);
  const { style } = layout;
  return [
    ...heading(change, layout),
    ...origin(one, context, layout),
    ...(why === null ? [[["Left out.", style.yellow]] as DetailLine] : []),
    ...(why ? paragraph(`Left out too: ${why}.`, layout, style.yellow) : []),
    ...(waits
      ? paragraph(
          `Waits until one of these has accepted: ${waits.waitsFor.join(", ")}.`,
          layout,
          style.yellow,
        )
      : []),
    ...(isOut ? [] : aboutChange(one, judged, context, layout)),
    [],
    ...(change.resource === "member"
      ? memberAccess(change, judged, context, layout)
      : roleAccess(one, change, judged, layout)),
  ];
}

/** The refusals, problems and risks of one change. */
function aboutChange(
  { change }: BrowsedChange,
  judged: Plan,
  context: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  return issuesAbout(judged, change).flatMap((issue) => [[], ...issueLines(issue, context, layout)]);
}

function judgedPlan({ merchant }: Plan, { plans }: Selection): Plan {
  const found = plans.find((plan) => plan.merchant === merchant);
  if (found === undefined) throw new TypeError(`no plan of ${merchant}`);
  return found;
}

function heading(change: Change, layout: Layout): readonly DetailLine[] {
  const { style } = layout;
  const { kind, resource, name } = change;
  const { remark } = rowOf(change);
  const paint = kindPaint(kind, style);
  return [
    ...paragraph(`${SIGNS[kind]} ${kind} ${resource} ${name}`, layout, (text) => style.bold(paint(text))),
    ...(remark === "" ? [] : paragraph(remark, layout, style.dim)),
  ];
}

function origin(one: BrowsedChange, { fileLineOf }: DetailContext, layout: Layout): readonly DetailLine[] {
  const { merchant, environment } = one.plan;
  const place = fileLineOf(one);
  const where = [merchant, environment, place && `${place.file}:${place.line}`];
  return paragraph(where.filter((part) => part).join(" · "), layout, layout.style.dim);
}

function memberAccess(
  change: MemberChange,
  judged: Plan,
  { permissionsOf }: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const { before, after, name } = change;
  const impact = judged.impact.members.find((one) => one.name === name);
  const held = (before?.status === "expired" ? [] : (before?.roles ?? [])).map(({ id }) =>
    id === null ? null : permissionsOf(judged.merchant, id),
  );
  const had = new Set(held.flatMap((permissions) => permissions ?? []));
  const { gained = [], lost = [], unknownGained = [], unknownLost = [] } = impact ?? {};
  const kept = [...had].filter((permission) => !lost.includes(permission)).sort();
  const wasRoles = before?.roles.map((role) => role.name) ?? [];
  const isRoles = after?.roles.map((role) => role.name) ?? [];
  const unknown = (roles: readonly string[]): readonly string[] =>
    roles.map((role) => `what ${role} grants (not reported)`);
  return [
    ...comparison(
      `Roles: ${wasRoles.length} before, ${isRoles.length} after`,
      {
        lost: wasRoles.filter((role) => !isRoles.includes(role)),
        gained: isRoles.filter((role) => !wasRoles.includes(role)),
        kept: isRoles.filter((role) => wasRoles.includes(role)),
      },
      layout,
    ),
    [],
    ...comparison(
      `Access: ${counted(kept.length + lost.length, "permission")} before, ${kept.length + gained.length} after`,
      {
        lost: [...lost, ...unknown(unknownLost)],
        gained: [...gained, ...unknown(unknownGained)],
        kept: after === null ? [] : kept,
      },
      layout,
    ),
    ...otherFields(change, layout),
  ];
}

function roleAccess(
  { gained, lost, plan }: BrowsedChange,
  change: RoleChange,
  judged: Plan,
  layout: Layout,
): readonly DetailLine[] {
  const { before, after } = change;
  const isRoles = after?.permissions ?? [];
  const people = affectedBy(judged.impact.members, gained, lost);
  return [
    ...comparison(
      `Grants: ${counted(before?.permissions.length ?? 0, "permission")} before, ${isRoles.length} after`,
      { lost, gained, kept: isRoles.filter((permission) => !gained.includes(permission)) },
      layout,
    ),
    ...otherFields(change, layout),
    ...(people.length === 0
      ? []
      : [
          [],
          [
            [judged === plan ? "With all changes" : "With all that is selected", layout.style.bold],
          ] as DetailLine,
          ...permissionSums(judged.impact, new Set([...gained, ...lost]), layout),
          [],
          ...impactLines(people, layout),
        ]),
  ];
}

/** The lines of a change's other fields: description, nickname, metadata, a new name. */
function otherFields(change: Change, layout: Layout): readonly DetailLine[] {
  const details = rowOf(change).details.filter(({ label }) => label !== "permissions" && label !== "roles");
  return details.length === 0 ? [] : [[], ...fieldLines(details, layout)];
}

type GroupNode = BrowseNode & { readonly type: "group" };

/** "941 members: + Auditor". */
export function groupTitle({ row, equal }: GroupNode): string {
  const { subject, where } = equalText(row, equal);
  return where === "" ? subject : `${subject} in ${where}`;
}

function groupDetail(node: GroupNode, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { row, equal, changes } = node;
  const { style } = layout;
  const { effect, whole } = equalText(row, equal);
  const { out } = context.selection;
  const left = changes.filter(({ id }) => out.has(id)).length;
  const paint = kindPaint(row.kind, style);
  const [first] = changes;
  return [
    ...paragraph(`${SIGNS[row.kind]} ${row.kind} ${groupTitle(node)}`, layout, (text) =>
      style.bold(paint(text)),
    ),
    ...paragraph(`${counted(changes.length, "equal change")}${effect === "" ? "" : `; ${effect}`}`, layout),
    ...(left > 0 ? paragraph(`${grouped(left)} left out.`, layout, style.yellow) : []),
    ...(whole ? [] : [[], ...fieldLines(row.details, layout)]),
    ...(first && !out.has(first.id)
      ? aboutChange(first, judgedPlan(first.plan, context.selection), context, layout)
      : []),
    [],
    ...changes.slice(0, DETAIL_NAMES).map(({ id, plan, change, gained, lost }): DetailLine => {
      const isOut = out.has(id);
      const where = new Set(equal.merchants).size > 1 ? `${shown(plan.merchant)} ` : "";
      return [
        [isOut ? "  [ ] " : "  [x] "],
        [`${where}${shown(change.name)}`, isOut ? style.dim : undefined],
        [gained.length === 0 || isOut ? "" : ` +${brief(gained)}`, style.green],
        [lost.length === 0 || isOut ? "" : ` -${brief(lost)}`, style.red],
      ];
    }),
    ...more(changes.length, style),
  ];
}

function merchantDetail(whole: Plan, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { style } = layout;
  const plan = judgedPlan(whole, context.selection);
  const { merchant, environment, summary, impact } = plan;
  const left = whole.changes.filter(({ fingerprint }) =>
    context.selection.out.has(`${merchant}\n${fingerprint}`),
  ).length;
  const issues = issuesIn(plan);
  return [
    ...paragraph([merchant, environment].filter((part) => part !== null).join(" · "), layout, style.bold),
    ...paragraph(countsText(addCounts([summary.roles, summary.members])), layout),
    ...(left > 0 ? paragraph(`${counted(left, "change")} left out.`, layout, style.yellow) : []),
    ...issues.flatMap((group) =>
      group.kind === "warning" || group.kind === "overridden" ? [] : issueGroupLines(group, context, layout),
    ),
    ...(impact.members.length === 0
      ? []
      : [
          [],
          [[`Access: ${peopleText(impact)}`, style.bold]] as DetailLine,
          ...permissionSums(impact, null, layout),
          [],
          ...impactLines(impact.members, layout),
        ]),
    ...issues.flatMap((group) =>
      group.kind === "warning" || group.kind === "overridden" ? issueGroupLines(group, context, layout) : [],
    ),
  ];
}

function peopleText({ members }: Impact): string {
  return members.length === 1
    ? "1 member gains or loses permissions"
    : `${grouped(members.length)} members gain or lose permissions`;
}

function issueGroupLines(
  { title, issues, kind }: IssueGroup,
  context: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const paint = issuePaint(kind, layout.style);
  return [
    [],
    ...paragraph(title, layout, (text) => layout.style.bold(paint(text))),
    ...issues
      .slice(0, DETAIL_NAMES)
      .flatMap((issue) =>
        kind === "risk"
          ? paragraph(`  ${issue.what}${issue.brief ? `: ${issue.brief}` : ""}`, layout)
          : issueLines(issue, context, layout),
      ),
    ...more(issues.length, layout.style),
  ];
}

/** Returns the colour of a kind of issue. */
export function issuePaint(kind: PlanIssue["kind"], style: Style): Paint {
  return {
    refusal: style.red,
    error: style.red,
    risk: style.yellow,
    overridden: style.yellow,
    warning: style.dim,
  }[kind];
}

/** The mark of each kind of issue. */
export const ISSUE_MARKS: Readonly<Record<PlanIssue["kind"], string>> = {
  refusal: "✗",
  error: "✗",
  risk: "!",
  overridden: "·",
  warning: "·",
};

function headingDetail({ title, kind, issues }: IssueGroup, layout: Layout): readonly DetailLine[] {
  const paint = issuePaint(kind, layout.style);
  return [
    ...paragraph(title, layout, (text) => layout.style.bold(paint(text))),
    [],
    ...issues
      .slice(0, DETAIL_NAMES)
      .flatMap(({ what, message, brief: told = message }) =>
        paragraph(`  ${told === "" ? what : `${what}: ${told}`}`, layout),
      ),
    ...more(issues.length, layout.style),
  ];
}

function issueDetail(issue: PlanIssue, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { style } = layout;
  const merchants = issue.places.map(({ plan }) => plan.merchant);
  return [
    ...issueLines(issue, context, layout),
    [],
    [[merchants.length === 1 ? "Merchant" : `${grouped(merchants.length)} merchants`, style.bold]],
    ...merchants.slice(0, DETAIL_NAMES).map((merchant): DetailLine => [[`  ${shown(merchant)}`]]),
    ...more(merchants.length, style),
  ];
}

/** What is wrong, where the rule is, what to do, and how to override it. */
function issueLines(issue: PlanIssue, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { kind, what, message, hint, override, places } = issue;
  const { style } = layout;
  const paint = issuePaint(kind, style);
  const [first] = places;
  const place = first?.found ? context.placeOf(first.plan, first.found) : null;
  return [
    ...paragraph(`${ISSUE_MARKS[kind]} ${what}`, layout, paint),
    ...paragraph(message, layout),
    ...(place === null ? [] : paragraph(place, layout, style.dim)),
    ...(hint === null || hint === "" ? [] : paragraph(`→ ${hint}`, layout)),
    ...(override === null || kind === "overridden" ? [] : overrideLines(issue, override, context, layout)),
  ];
}

function overrideLines(
  { places }: PlanIssue,
  override: string,
  { selection: { run, out }, selects }: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const [first, ...others] = places;
  if (first === undefined) return [];
  if (first.found && "by" in first.found && first.found.by === "base") return [];
  const command = overrideCommand("apply", override, others.length > 0 ? run : first.plan.fingerprint);
  const again = selects && out.size > 0 ? command.replace(/^apply /, "apply --interactive ") : command;
  const same = out.size > 0 ? ", with the same left out" : "";
  return [
    ...paragraph(`→ To override${same}:`, layout),
    ...paragraph(`  ${again}`, layout, layout.style.cyan),
  ];
}
