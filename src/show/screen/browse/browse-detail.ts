import { counted, grouped } from "../../../lib/text.ts";
import type { Impact, Plan } from "../../../model/plan.ts";
import { SIGNS } from "../../style.ts";
import { equalText } from "../../view/equal-text.ts";
import { addCounts, countsText } from "../../view/plan-view.ts";
import { issuesIn, judgedPlan } from "./browse-issues.ts";
import type { BrowseNode } from "./browse-model.ts";
import type { BrowseRow } from "./browse-rows.ts";
import { changeDetail, groupDetail, waitingDetail } from "./change-detail.ts";
import {
  type DetailContext,
  type DetailLine,
  impactLines,
  type Layout,
  paragraph,
  permissionSums,
} from "./detail-lines.ts";
import { headingDetail, issueDetail, issueGroupLines } from "./issue-detail.ts";

/** Returns the detail of a row, line by line. */
export function detailOf(row: BrowseRow, context: DetailContext, width: number): readonly DetailLine[] {
  const layout = { width };
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
  switch (node.type) {
    case "change":
      return changeDetail(node.change, context, layout);
    case "group":
      return groupDetail(node, context, layout);
    case "merchant":
      return merchantDetail(node.plan, context, layout);
    case "waiting":
      return waitingDetail(node.deferred, layout);
    case "shared":
      return [
        [[node.title, "bold"]],
        [[`${counted(node.changes.length, "change")} at ${counted(node.merchants, "merchant")}`, "dim"]],
        [],
        ...node.children.flatMap((child) =>
          child.type === "group"
            ? paragraph(`${SIGNS[child.row.kind]} ${equalText(child.row, child.equal).title}`, layout)
            : [],
        ),
      ];
    case "idle":
      return paragraph(
        "All their changes are among the equal changes at the top. Unfold this row to see each one.",
        layout,
      );
    default:
      return node satisfies never;
  }
}

function merchantDetail(whole: Plan, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const plan = judgedPlan(whole, context.selection);
  const { merchant, environment, summary, impact } = plan;
  const leftOutCount = whole.changes.filter(({ fingerprint }) =>
    context.selection.out.has(`${merchant}\n${fingerprint}`),
  ).length;
  const issues = issuesIn(plan);
  return [
    ...paragraph([merchant, environment].filter((part) => part !== null).join(" · "), layout, "bold"),
    ...paragraph(countsText(addCounts([summary.roles, summary.members])), layout),
    ...(leftOutCount > 0 ? paragraph(`${counted(leftOutCount, "change")} left out.`, layout, "yellow") : []),
    ...issues.flatMap((group) =>
      group.kind === "warning" || group.kind === "overridden" ? [] : issueGroupLines(group, context, layout),
    ),
    ...(impact.members.length === 0
      ? []
      : [
          [],
          [[`Access: ${peopleText(impact)}`, "bold"]] as DetailLine,
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
