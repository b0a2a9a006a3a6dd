import { counted, grouped } from "../../../lib/text.ts";
import type { Change, Deferred, MemberChange, Plan, RoleChange } from "../../../model/plan.ts";
import { KIND_TONES, SIGNS } from "../../style.ts";
import { rowOf } from "../../view/change-view.ts";
import { equalText } from "../../view/equal-text.ts";
import { effectOf, issuesAbout, judgedPlan } from "./browse-issues.ts";
import type { BrowsedChange, BrowseNode } from "./browse-model.ts";
import { affectedBy } from "./browse-rows.ts";
import {
  brief,
  comparison,
  DETAIL_NAMES,
  type DetailContext,
  type DetailLine,
  fieldLines,
  impactLines,
  type Layout,
  more,
  paragraph,
  permissionSums,
} from "./detail-lines.ts";
import { issueLines } from "./issue-detail.ts";

/** Returns the detail of one change: its issues, its fields, and who gains and loses what. */
export function changeDetail(
  browsed: BrowsedChange,
  context: DetailContext,
  plain: Layout,
): readonly DetailLine[] {
  const { plan, change } = browsed;
  const layout = { ...plain, sensitive: plan.impact.sensitive ?? [] };
  const { selection } = context;
  const why = selection.out.get(browsed.id);
  const isOut = why !== undefined;
  const judged = isOut ? plan : judgedPlan(plan, selection);
  const waits = judged.deferred.find((each) => each.change.fingerprint === change.fingerprint);
  return [
    ...changeHeading(change, layout),
    ...origin(browsed, context, layout),
    ...(why === null ? [[["Left out.", "yellow"]] as DetailLine] : []),
    ...(why ? paragraph(`Left out too: ${why}.`, layout, "yellow") : []),
    ...(waits ? waitsLines(waits.waitsFor, "", layout) : []),
    ...(isOut ? [] : aboutChange(browsed, judged, context, layout)),
    [],
    ...(change.resource === "member"
      ? memberAccess(change, judged, context, layout)
      : roleAccess(browsed, change, judged, layout)),
  ];
}

/** Returns the detail of a change that waits until somebody accepts an invitation. */
export function waitingDetail({ change, role, waitsFor }: Deferred, layout: Layout): readonly DetailLine[] {
  return [
    ...changeHeading(change, layout),
    ...waitsLines(
      waitsFor,
      role === null ? "" : ` Otherwise, the role ${role} would have too few holders.`,
      layout,
    ),
    [],
    ...fieldLines(rowOf(change).details, layout),
  ];
}

function waitsLines(waitsFor: readonly string[], why: string, layout: Layout): readonly DetailLine[] {
  const text = `Waits until one of these has accepted: ${waitsFor.join(", ")}.${why}`;
  return paragraph(text, layout, "yellow");
}

/** Returns the refusals, problems and risks of one change. */
function aboutChange(
  { change }: BrowsedChange,
  judged: Plan,
  context: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  return issuesAbout(judged, change).flatMap((issue) => [[], ...issueLines(issue, context, layout)]);
}

function changeHeading(change: Change, layout: Layout): readonly DetailLine[] {
  const { kind, resource, name } = change;
  const { remark } = rowOf(change);
  const tone = KIND_TONES[kind];
  return [
    ...paragraph(`${SIGNS[kind]} ${kind} ${resource} ${name}`, layout, tone, "bold"),
    ...(remark === "" ? [] : paragraph(remark, layout, "dim")),
  ];
}

function origin(
  browsed: BrowsedChange,
  { fileLineOf }: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const { merchant, environment } = browsed.plan;
  const place = fileLineOf(browsed);
  const where = [merchant, environment, place && `${place.file}:${place.line}`];
  return paragraph(where.filter((part) => part).join(" · "), layout, "dim");
}

function memberAccess(
  change: MemberChange,
  judged: Plan,
  { permissionsOf }: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const { before, after, name } = change;
  const impact = judged.impact.members.find((memberImpact) => memberImpact.name === name);
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
          [[judged === plan ? "With all changes" : "With the whole selection", "bold"]] as DetailLine,
          ...permissionSums(judged.impact, new Set([...gained, ...lost]), layout),
          [],
          ...impactLines(people, layout),
        ]),
  ];
}

/** Returns the lines of the fields of a change besides roles and permissions. */
function otherFields(change: Change, layout: Layout): readonly DetailLine[] {
  const details = rowOf(change).details.filter(({ label }) => label !== "permissions" && label !== "roles");
  return details.length === 0 ? [] : [[], ...fieldLines(details, layout)];
}

/** Returns the detail of equal changes, with their names. */
export function groupDetail(
  node: BrowseNode & { readonly type: "group" },
  context: DetailContext,
  plain: Layout,
): readonly DetailLine[] {
  const { row, equal, changes } = node;
  const layout = { ...plain, sensitive: changes.flatMap(({ plan }) => plan.impact.sensitive ?? []) };
  const { title, effect, whole } = equalText(row, equal);
  const { out } = context.selection;
  const leftOutCount = changes.filter(({ id }) => out.has(id)).length;
  const tone = KIND_TONES[row.kind];
  const [first] = changes;
  return [
    ...paragraph(`${SIGNS[row.kind]} ${row.kind} ${title}`, layout, tone, "bold"),
    ...paragraph(`${counted(changes.length, "equal change")}${effect === "" ? "" : `; ${effect}`}`, layout),
    ...(leftOutCount > 0 ? paragraph(`${grouped(leftOutCount)} left out.`, layout, "yellow") : []),
    ...(whole ? [] : [[], ...fieldLines(row.details, layout)]),
    ...(first && !out.has(first.id)
      ? aboutChange(first, judgedPlan(first.plan, context.selection), context, layout)
      : []),
    [],
    ...changes.slice(0, DETAIL_NAMES).map((browsed): DetailLine => {
      const { id, plan, change } = browsed;
      const isOut = out.has(id);
      const { gained, lost } = effectOf(browsed, context.selection);
      const where = new Set(equal.merchants).size > 1 ? `${plan.merchant} ` : "";
      return [
        [context.selects ? (isOut ? "  [ ] " : "  [x] ") : "  "],
        [`${where}${change.name}`, isOut ? "dim" : undefined],
        [gained.length === 0 ? "" : ` +${brief(gained)}`, "green"],
        [lost.length === 0 ? "" : ` -${brief(lost)}`, "red"],
      ];
    }),
    ...more(changes.length),
  ];
}
