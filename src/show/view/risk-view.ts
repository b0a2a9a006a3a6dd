import { ADMINISTRATORS, newRoles } from "../../kernel/rules/gains.ts";
import { memoized } from "../../lib/memoized.ts";
import { counted, sortNaturally } from "../../lib/text.ts";
import type { Change, Finding, MemberChange, Plan } from "../../model/plan.ts";
import { rowOf } from "./change-view.ts";
import { countPeople } from "./names-text.ts";

/** The kinds of risks, the most serious first. */
export const RISK_KINDS = [
  "administrators",
  "sensitive",
  "reach",
  "violations",
  "removals",
  "dates",
] as const;

/**
 * The subject of a risk: administrators, sensitive permissions gained or within reach, rules that an undo breaks, removals,
 * gains on later dates.
 */
export type RiskKind = (typeof RISK_KINDS)[number];

/** One risk, with the role or member concerned; texts are raw. */
export interface RiskItem {
  readonly name: string;
  /** The role, the permissions, or the reason of the removal. */
  readonly what: string;
  readonly resource: Change["resource"];
}

/** The risks of one kind; never without items. */
export interface RiskView {
  readonly kind: RiskKind;
  readonly items: readonly RiskItem[];
  readonly origin: ChangeOrigin;
}

/** Returns whether a role makes its holders administrators, who may do nearly everything. */
export function isAdministrator(roleId: string | null): boolean {
  return roleId !== null && ADMINISTRATORS.includes(roleId);
}

/** Returns the risks of a plan, the most serious kind first. */
export function risksOf(plan: Pick<Plan, "changes" | "impact" | "findings">): readonly RiskView[] {
  const administrators = plan.changes.flatMap((change) =>
    change.resource === "member" ? administratorOf(change) : [],
  );
  const administratorNames = new Set(administrators.map(({ name }) => name));
  const known = new Set(plan.impact.sensitive);
  const sensitiveOf = memoized((permissions: readonly string[]) =>
    permissions.filter((permission) => known.has(permission)).join(", "),
  );
  const sensitive = plan.impact.members
    .filter(({ name }) => !administratorNames.has(name))
    .map(({ name, gained }) => ({ name, what: sensitiveOf(gained) }))
    .filter(({ what }) => what !== "")
    .map((item): RiskItem => ({ ...item, resource: "member" }));
  const reach = (plan.impact.reach ?? [])
    .filter(({ name }) => !administratorNames.has(name))
    .map(({ name, permissions }) => ({ name, what: sensitiveOf(permissions) }))
    .filter(({ what }) => what !== "")
    .map((item): RiskItem => ({ ...item, resource: "member" }));
  const violations = plan.findings
    .filter(isRisk)
    .map(({ name, message, resource }): RiskItem => ({ name, what: message, resource }));
  const removals = plan.changes.filter(isRemoval).map(removalOf);
  const inOrder = (items: readonly RiskItem[]): readonly RiskItem[] =>
    sortNaturally(items, ({ resource, name }) => `${RANK[resource]} ${name}`);
  const risks: readonly RiskView[] = [
    { kind: "administrators", items: inOrder(administrators), origin: "plan" },
    { kind: "sensitive", items: inOrder(sensitive), origin: "plan" },
    { kind: "reach", items: inOrder(reach), origin: "plan" },
    { kind: "violations", items: violations, origin: "plan" },
    { kind: "removals", items: inOrder(removals), origin: "plan" },
  ];
  return risks.filter(({ items }) => items.length > 0);
}

/** Roles come before members. */
const RANK = { role: 0, member: 1 } as const;

/** Returns whether a finding is a risk of an undo, rather than a warning. */
export function isRisk({ code }: Finding): boolean {
  return code === "restored-violation";
}

function administratorOf(change: MemberChange): readonly RiskItem[] {
  const roles = newRoles(change).filter(({ id }) => isAdministrator(id));
  const what = roles.map(({ name, id }) => (name === id ? name : `${name} (${id})`)).join(", ");
  return roles.length === 0 ? [] : [{ name: change.name, what, resource: "member" }];
}

/** Returns whether a change removes access; the removal of an expired invitation does not. */
function isRemoval({ kind, reason }: Change): boolean {
  return kind === "delete" && reason !== "invitation-expired";
}

function removalOf(change: Change): RiskItem {
  const { name, resource } = change;
  return { name, what: rowOf(change).remark, resource };
}

/** "1 member becomes an administrator", "2 members and 1 role were removed outside git". */
export function riskTitle(kind: RiskKind, items: readonly RiskItem[], origin: ChangeOrigin = "plan"): string {
  const memberships = items.filter(({ resource }) => resource === "member");
  const members = countPeople(memberships);
  const roles = items.length - memberships.length;
  const isSingle = members + roles === 1;
  const verb = (now: string, past: string): string => (origin === "plan" ? now : past);
  switch (kind) {
    case "administrators": {
      const what = isSingle ? "an administrator" : "administrators";
      return `${counted(members, "member")} ${verb(isSingle ? "becomes" : "become", "became")} ${what}${originSuffix(origin)}`;
    }
    case "sensitive":
      return `${counted(members, "member")} ${verb(isSingle ? "gains" : "gain", "gained")} sensitive permissions${originSuffix(origin)}`;
    case "reach":
      return `${counted(members, "member")} can newly reach sensitive permissions${originSuffix(origin)}`;
    case "violations":
      return `${counted(items.length, "rule")} ${items.length === 1 ? "is" : "are"} broken again`;
    case "removals": {
      const what = [members > 0 ? counted(members, "member") : "", roles > 0 ? counted(roles, "role") : ""];
      const text = what.filter((part) => part !== "").join(" and ");
      return `${text} ${isSingle ? verb("is", "was") : verb("are", "were")} removed${originSuffix(origin)}`;
    }
    case "dates":
      return `${counted(members, "member")} ${isSingle ? "gains" : "gain"} sensitive permissions on ${isSingle ? "a later date" : "later dates"}`;
    default:
      return kind satisfies never;
  }
}

/** The origin of the changes in a text: a plan, edits outside git, or an unknown side. */
export type ChangeOrigin = "plan" | "outside-git" | "unknown";

/** Returns the end of a sentence about changes of this origin. */
export function originSuffix(origin: ChangeOrigin): string {
  switch (origin) {
    case "plan":
      return "";
    case "outside-git":
      return " outside git";
    case "unknown":
      return " (outside git, or not applied yet)";
    default:
      return origin satisfies never;
  }
}
