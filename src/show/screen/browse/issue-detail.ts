import { grouped } from "../../../lib/text.ts";
import type { Tone } from "../../style.ts";
import { overrideCommand } from "../../view/plan-view.ts";
import type { IssueGroup, PlanIssue } from "./browse-issues.ts";
import {
  DETAIL_NAMES,
  type DetailContext,
  type DetailLine,
  type Layout,
  more,
  paragraph,
} from "./detail-lines.ts";

/** The mark of each kind of issue. */
export const ISSUE_MARKS: Readonly<Record<PlanIssue["kind"], string>> = {
  refusal: "✗",
  error: "✗",
  risk: "!",
  overridden: "·",
  warning: "·",
};

/** The colour of each kind of issue. */
export const ISSUE_TONES: Readonly<Record<PlanIssue["kind"], Tone>> = {
  refusal: "red",
  error: "red",
  risk: "yellow",
  overridden: "yellow",
  warning: "dim",
};

/** Returns the detail of a heading: its issues, a line each. */
export function headingDetail({ title, kind, issues }: IssueGroup, layout: Layout): readonly DetailLine[] {
  const tone = ISSUE_TONES[kind];
  return [
    ...paragraph(title, layout, tone, "bold"),
    [],
    ...issues
      .slice(0, DETAIL_NAMES)
      .flatMap(({ what, message, brief: told = message }) =>
        paragraph(`  ${told === "" ? what : `${what}: ${told}`}`, layout),
      ),
    ...more(issues.length),
  ];
}

/** Returns the issues of one kind at a merchant, below their title. */
export function issueGroupLines(
  { title, issues, kind }: IssueGroup,
  context: DetailContext,
  layout: Layout,
): readonly DetailLine[] {
  const tone = ISSUE_TONES[kind];
  return [
    [],
    ...paragraph(title, layout, tone, "bold"),
    ...issues
      .slice(0, DETAIL_NAMES)
      .flatMap((issue) =>
        kind === "risk"
          ? paragraph(`  ${issue.what}${issue.brief ? `: ${issue.brief}` : ""}`, layout)
          : issueLines(issue, context, layout),
      ),
    ...more(issues.length),
  ];
}

/** Returns the detail of an issue, with the merchants that have it. */
export function issueDetail(issue: PlanIssue, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const merchants = issue.places.map(({ plan }) => plan.merchant);
  return [
    ...issueLines(issue, context, layout),
    [],
    [[merchants.length === 1 ? "Merchant" : `${grouped(merchants.length)} merchants`, "bold"]],
    ...merchants.slice(0, DETAIL_NAMES).map((merchant): DetailLine => [[`  ${merchant}`]]),
    ...more(merchants.length),
  ];
}

/** Returns what is wrong, where the rule is, what to do, and how to override it. */
export function issueLines(issue: PlanIssue, context: DetailContext, layout: Layout): readonly DetailLine[] {
  const { kind, what, message, hint, override, places } = issue;
  const tone = ISSUE_TONES[kind];
  const [first] = places;
  const place = first?.found ? context.placeOf(first.plan, first.found) : null;
  return [
    ...paragraph(`${ISSUE_MARKS[kind]} ${what}`, layout, tone),
    ...paragraph(message, layout),
    ...(place === null ? [] : paragraph(place, layout, "dim")),
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
  const [first, ...otherPlaces] = places;
  if (first === undefined) return [];
  if (first.found && "by" in first.found && first.found.by === "base") return [];
  const command = overrideCommand("apply", override, otherPlaces.length > 0 ? run : first.plan.fingerprint);
  const again = selects && out.size > 0 ? command.replace(/^apply /, "apply --interactive ") : command;
  const same = out.size > 0 ? ", with the same left out" : "";
  return [...paragraph(`→ To override${same}:`, layout), ...paragraph(`  ${again}`, layout, "cyan")];
}
