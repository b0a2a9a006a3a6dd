import { overrideKind } from "../../../kernel/rules/settings/every-setting.ts";
import { grouped, naturally, sortNaturally } from "../../../lib/text.ts";
import type { Change, Finding, MemberImpact, Plan, Refusal, Selection } from "../../../model/plan.ts";
import {
  isRisk,
  RISK_KINDS,
  type RiskItem,
  type RiskKind,
  risksOf,
  riskTitle,
} from "../../view/risk-view.ts";
import type { BrowsedChange } from "./browse-model.ts";

/** A refusal, a finding or a risk, at one merchant or equal at several. */
export interface PlanIssue {
  readonly key: string;
  readonly kind: "refusal" | "error" | "risk" | "overridden" | "warning";
  /** The rule or the subject. */
  readonly what: string;
  readonly message: string;
  /** The text beside the subject in a list, if it is not the message. */
  readonly brief?: string;
  readonly hint: string | null;
  /** The override without a fingerprint; `null` if nothing does. */
  readonly override: string | null;
  readonly subject: { readonly resource: Change["resource"]; readonly name: string } | null;
  /** The plans that have it, and the finding or refusal of each; a risk has none. */
  readonly places: readonly IssuePlace[];
}

/** An issue in one plan of the selection. */
export interface IssuePlace {
  readonly plan: Plan;
  readonly found: Refusal | Finding | null;
}

/** Issues of one kind. */
export interface IssueGroup {
  readonly title: string;
  readonly kind: PlanIssue["kind"];
  readonly issues: readonly PlanIssue[];
}

const ofPlans = new WeakMap<Plan, readonly IssueGroup[]>();

/** Returns the issues of one plan, which are found once. */
export function issuesIn(plan: Plan): readonly IssueGroup[] {
  const groups = ofPlans.get(plan) ?? issuesOf({ plans: [plan] });
  ofPlans.set(plan, groups);
  return groups;
}

const ofSubjects = new WeakMap<Plan, ReadonlyMap<string, readonly PlanIssue[]>>();

/** Returns the issues of a plan about one role or member. */
export function issuesAbout(
  plan: Plan,
  { resource, name }: Pick<Change, "resource" | "name">,
): readonly PlanIssue[] {
  const issuesBySubject = ofSubjects.get(plan) ?? bySubject(issuesIn(plan));
  ofSubjects.set(plan, issuesBySubject);
  return issuesBySubject.get(`${resource} ${name}`) ?? [];
}

function bySubject(groups: readonly IssueGroup[]): ReadonlyMap<string, readonly PlanIssue[]> {
  const issuesBySubject = new Map<string, PlanIssue[]>();
  for (const issue of groups.flatMap(({ issues }) => issues)) {
    if (issue.subject === null) continue;
    const key = `${issue.subject.resource} ${issue.subject.name}`;
    const subjectIssues = issuesBySubject.get(key);
    if (subjectIssues) subjectIssues.push(issue);
    else issuesBySubject.set(key, [issue]);
  }
  return issuesBySubject;
}

/** Returns the refusals, problems, risks and warnings of a selection, equal ones of several merchants as one. */
export function issuesOf({ plans }: Pick<Selection, "plans">): readonly IssueGroup[] {
  const refusals = joined(plans, "refusal", ({ refusals: planRefusals }) => planRefusals.map(refusalIssue));
  const errors = joined(plans, "error", ({ findings }) => findingIssues(findings, "error"));
  const overridden = joined(plans, "overridden", (plan) => (plan.overridden ?? []).map(refusalIssue));
  const warnings = joined(plans, "warning", ({ findings }) =>
    findingIssues(
      findings.filter((finding) => !isRisk(finding)),
      "warning",
    ),
  );
  const groups: readonly IssueGroup[] = [
    { title: `An apply would be refused (${grouped(refusals.length)})`, kind: "refusal", issues: refusals },
    { title: `To fix before an apply (${grouped(errors.length)})`, kind: "error", issues: errors },
    ...riskGroups(plans),
    { title: `Overridden (${grouped(overridden.length)})`, kind: "overridden", issues: overridden },
    { title: `Notes (${grouped(warnings.length)})`, kind: "warning", issues: warnings },
  ];
  return groups.filter(({ issues }) => issues.length > 0);
}

type FoundIssue = Omit<PlanIssue, "key" | "kind" | "places"> & { readonly found: IssuePlace["found"] };

function refusalIssue(refusal: Refusal): FoundIssue {
  const { rule, code, message, hint, override, resource, name } = refusal;
  const subject = resource === null || name === null ? null : { resource, name };
  return { what: `${rule} ${code}`, message, hint, override, subject, found: refusal };
}

function findingIssues(findings: readonly Finding[], severity: Finding["severity"]): readonly FoundIssue[] {
  return findings.flatMap((finding) => {
    const { resource, name, message, hint } = finding;
    if (finding.severity !== severity) return [];
    return [{ what: name, message, hint, override: null, subject: { resource, name }, found: finding }];
  });
}

const RISK_MESSAGES: Readonly<Record<RiskKind, (item: RiskItem) => string>> = {
  administrators: ({ what }) => `Becomes an administrator: ${what}.`,
  sensitive: ({ what }) => `Gains ${what}: control over access, keys, the account or money.`,
  reach: ({ what }) => `Could gain ${what} on their own, by changing roles or members.`,
  violations: ({ what }) => what,
  removals: ({ what, resource }) =>
    `${resource === "role" ? "The role" : "The membership"} is removed${what === "" ? "" : `: ${what}`}.`,
  dates: ({ what }) => `Gains ${what}.`,
};

function riskGroups(plans: readonly Plan[]): readonly IssueGroup[] {
  const planRisks = plans.map((plan) => ({ plan, risks: risksOf(plan) }));
  return RISK_KINDS.flatMap((risk): readonly IssueGroup[] => {
    const items = planRisks.flatMap(({ risks }) =>
      risks.flatMap((planRisk) => (planRisk.kind === risk ? planRisk.items : [])),
    );
    if (items.length === 0) return [];
    const byPlan = new Map(planRisks.map(({ plan, risks }) => [plan, risks]));
    const issues = joined(plans, "risk", (plan) =>
      (byPlan.get(plan) ?? []).flatMap((planRisk) =>
        planRisk.kind === risk ? planRisk.items.map((item) => riskIssue(risk, item)) : [],
      ),
    ).map((issue) => ({ ...issue, key: `${risk} ${issue.key}` }));
    return [{ title: riskTitle(risk, items), kind: "risk", issues }];
  });
}

function riskIssue(risk: RiskKind, item: RiskItem): FoundIssue {
  const { name, resource } = item;
  const what = resource === "role" ? `role ${name}` : name;
  const message = RISK_MESSAGES[risk](item);
  return {
    what,
    message,
    brief: item.what,
    hint: null,
    override: null,
    subject: { resource, name },
    found: null,
  };
}

/** Returns the issues of all plans, equal ones once. */
function joined(
  plans: readonly Plan[],
  kind: PlanIssue["kind"],
  issuesIn: (plan: Plan) => readonly FoundIssue[],
): readonly PlanIssue[] {
  const issues = new Map<string, Omit<PlanIssue, "places"> & { readonly places: IssuePlace[] }>();
  for (const plan of plans.toSorted((a, b) => naturally(a.merchant, b.merchant))) {
    for (const { found, ...issue } of inReadingOrder(issuesIn(plan))) {
      const key = `${kind} ${issue.what} ${issue.message}`;
      const existing = issues.get(key);
      if (existing) existing.places.push({ plan, found });
      else issues.set(key, { ...issue, key, kind, places: [{ plan, found }] });
    }
  }
  return [...issues.values()];
}

/** Sorts issues by rule, as they come, then roles before members, by name. */
function inReadingOrder(issues: readonly FoundIssue[]): readonly FoundIssue[] {
  const rules = [...new Set(issues.map(ruleOf))];
  return rules.flatMap((rule) =>
    sortNaturally(
      issues.filter((issue) => ruleOf(issue) === rule),
      ({ subject }) => (subject === null ? "" : `${subject.resource === "role" ? "a" : "b"} ${subject.name}`),
    ),
  );
}

function ruleOf({ found }: FoundIssue): string {
  return found !== null && "rule" in found ? `${found.rule} ${found.code}` : "";
}

/** Counts of a plan's changes, refusals and risks. */
interface PlanNumbers {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  /** Number of members who gain permissions. */
  readonly gain: number;
  readonly lose: number;
  readonly risks: number;
  /** Number of refusals and of problems to fix. */
  readonly refusals: number;
  /** The subjects of refusals, as `member ada@example.com`. */
  readonly refused: ReadonlySet<string>;
  /** The subjects of risks, and the roles by which others come to them. */
  readonly risky: ReadonlySet<string>;
  /** By the member's name. */
  readonly impacts: ReadonlyMap<string, MemberImpact>;
}

const numbersByPlan = new WeakMap<Plan, PlanNumbers>();

/** Returns the numbers of a plan, which are counted once. */
export function planNumbers(plan: Plan): PlanNumbers {
  const numbers = numbersByPlan.get(plan) ?? countPlan(plan);
  numbersByPlan.set(plan, numbers);
  return numbers;
}

function countPlan(plan: Plan): PlanNumbers {
  const { changes, impact, refusals, findings } = plan;
  const of = (kind: Change["kind"]): number => changes.filter((change) => change.kind === kind).length;
  const errors = findings.filter(({ severity }) => severity === "error");
  const risks = risksOf(plan);
  return {
    create: of("create"),
    update: of("update") + of("replace"),
    delete: of("delete"),
    gain: impact.members.filter(({ gained, unknownGained }) => gained.length + unknownGained.length > 0)
      .length,
    lose: impact.members.filter(({ lost, unknownLost }) => lost.length + unknownLost.length > 0).length,
    risks: risks.reduce((sum, { items }) => sum + items.length, 0),
    refusals: refusals.length + errors.length,
    refused: new Set([
      ...[...refusals, ...errors].map(({ resource, name }) => `${resource} ${name}`),
      ...refusals.flatMap((refusal) => countedRemovals(plan, refusal).map(subjectOf)),
    ]),
    risky: new Set([...risks.flatMap(({ items }) => items.map(subjectOf)), ...riskyRoles(plan)]),
    impacts: new Map(impact.members.map((memberImpact) => [memberImpact.name, memberImpact])),
  };
}

function subjectOf({ resource, name }: Pick<Change, "resource" | "name">): string {
  return `${resource} ${name}`;
}

/** Returns the changed roles that give sensitive permissions to members without a change of their own. */
function riskyRoles({ changes, impact }: Plan): readonly string[] {
  const changedMembers = new Set(
    changes.flatMap(({ resource, name }) => (resource === "member" ? [name] : [])),
  );
  const gained = new Set(
    impact.members.flatMap((memberImpact) =>
      changedMembers.has(memberImpact.name)
        ? []
        : memberImpact.gained.filter((permission) => impact.sensitive?.includes(permission)),
    ),
  );
  return changes.flatMap((change) => {
    if (change.resource !== "role") return [];
    const before = change.before?.permissions ?? [];
    const isRisky = change.after?.permissions.some(
      (permission) => gained.has(permission) && !before.includes(permission),
    );
    return isRisky ? [subjectOf(change)] : [];
  });
}

/** Returns the changes that a refusal of too many removals counts; none for any other refusal. */
export function countedRemovals(
  { changes }: Plan,
  { code, resource }: Pick<Refusal, "code" | "resource">,
): readonly Change[] {
  if (overrideKind(code)?.limit?.boundTo !== "count") return [];
  return changes.filter((change) => change.resource === resource && takesAway(change));
}

function takesAway({ kind, fields }: Change): boolean {
  if (kind === "delete") return true;
  return fields.some((diff) => {
    if (diff.field === "permissions") return diff.removed.length > 0;
    if (diff.field !== "roles") return false;
    // A replaced role returns under its name.
    return diff.removed.some(({ name }) => !diff.added.some((added) => added.name === name));
  });
}

const judgedPlans = new WeakMap<Selection["plans"], ReadonlyMap<string, Plan>>();

/** Returns the plan of a merchant as it is judged with the selection. */
export function judgedPlan({ merchant }: Plan, { plans }: Pick<Selection, "plans">): Plan {
  const byMerchant = judgedPlans.get(plans) ?? new Map(plans.map((plan) => [plan.merchant, plan]));
  judgedPlans.set(plans, byMerchant);
  const judgedPlan = byMerchant.get(merchant);
  if (judgedPlan === undefined) throw new TypeError(`no plan of ${merchant}`);
  return judgedPlan;
}

/** Returns what a member gains and loses with the selection, or what a role newly grants and no longer grants. */
export function effectOf(
  { id, plan, change, gained, lost }: BrowsedChange,
  selection: Selection,
): Pick<BrowsedChange, "gained" | "lost"> {
  if (selection.out.has(id)) return NO_EFFECT;
  if (change.resource === "role") return { gained, lost };
  return planNumbers(judgedPlan(plan, selection)).impacts.get(change.name) ?? NO_EFFECT;
}

const NO_EFFECT = { gained: [], lost: [] };

/** The sums of a selection. */
export interface SelectionSums extends Omit<PlanNumbers, "refused" | "risky" | "impacts"> {
  /** Number of changes that would be made now. */
  readonly due: number;
  /** Number of changes that wait for somebody to accept. */
  readonly waiting: number;
  /** Number of merchants with a refusal. */
  readonly refusedMerchants: number;
}

/** Adds up the plans of a selection. */
export function selectionSums({ plans }: Pick<Selection, "plans">): SelectionSums {
  const numbersOfPlans = plans.map(planNumbers);
  const sum = (key: Exclude<keyof PlanNumbers, "refused" | "risky" | "impacts">): number =>
    numbersOfPlans.reduce((total, numbers) => total + numbers[key], 0);
  return {
    create: sum("create"),
    update: sum("update"),
    delete: sum("delete"),
    gain: sum("gain"),
    lose: sum("lose"),
    risks: sum("risks"),
    refusals: sum("refusals"),
    due: plans.reduce((total, { changes }) => total + changes.length, 0),
    waiting: plans.reduce((total, { deferred }) => total + deferred.length, 0),
    refusedMerchants: numbersOfPlans.filter(({ refusals }) => refusals > 0).length,
  };
}
