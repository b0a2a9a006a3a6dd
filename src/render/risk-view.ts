import type { Change, MemberChange, Plan, RoleRef } from "../model/plan.ts";
import { rowOf } from "./change-view.ts";
import { counted } from "./words.ts";

/** What a reviewer must not miss: who becomes an administrator, who gains what does harm, what is removed. */
export type RiskKind = "administrators" | "sensitive" | "removals";

/** One thing that a reviewer must not miss; texts are raw. */
export interface RiskItem {
  readonly name: string;
  /** The role, the permissions, or why it is removed. */
  readonly what: string;
  readonly resource: Change["resource"];
}

/** The risks of one kind; never without items. */
export interface RiskView {
  readonly kind: RiskKind;
  readonly items: readonly RiskItem[];
}

const ADMINISTRATORS: ReadonlySet<string | null> = new Set(["role_owner", "role_admin"]);

/** Whether a role is one of those that may do everything, or nearly so. */
export function isAdministrator(roleId: string | null): boolean {
  return ADMINISTRATORS.has(roleId);
}

const OVER_ACCESS_OR_MONEY =
  /(^|[._:-])(members?|roles?|api_keys?|keys?|owners?|merchants?|payouts?|bank_accounts?)([._:-]|$)/i;
const ONLY_LOOKS = /(^|[._:-])(view|read|list|export|get|readonly)$/i;

/** Whether a permission decides over who has access, over keys, over the account itself, or over where money is paid out. */
export function isSensitive(permission: string): boolean {
  return OVER_ACCESS_OR_MONEY.test(permission) && !ONLY_LOOKS.test(permission);
}

/** The risks of a plan, the gravest kind first. */
export function risksOf(plan: Plan): readonly RiskView[] {
  const administrators = plan.changes.flatMap((change) =>
    change.resource === "member" ? administratorOf(change) : [],
  );
  const named = new Set(administrators.map(({ name }) => name));
  const sensitive = plan.impact.members
    .filter(({ name }) => !named.has(name))
    .map(({ name, gained }) => ({ name, what: gained.filter(isSensitive).join(", ") }))
    .filter(({ what }) => what !== "")
    .map((item): RiskItem => ({ ...item, resource: "member" }));
  const removals = plan.changes.filter(isRemoval).map(removalOf);
  const risks: readonly RiskView[] = [
    { kind: "administrators", items: administrators },
    { kind: "sensitive", items: sensitive },
    { kind: "removals", items: removals },
  ];
  return risks.filter(({ items }) => items.length > 0);
}

function administratorOf(change: MemberChange): readonly RiskItem[] {
  const roles = gainedRoles(change).filter(({ id }) => isAdministrator(id));
  const what = roles.map(({ name, id }) => (name === id ? name : `${name} (${id})`)).join(", ");
  return roles.length === 0 ? [] : [{ name: change.name, what, resource: "member" }];
}

function gainedRoles(change: MemberChange): readonly RoleRef[] {
  if (change.kind === "create") return change.after.roles;
  return change.fields.flatMap((diff) => (diff.field === "roles" ? diff.added : []));
}

/** An expired invitation that is cleared away takes nothing from anybody. */
function isRemoval({ kind, reason }: Change): boolean {
  return kind === "delete" && reason !== "invitation-expired";
}

function removalOf(change: Change): RiskItem {
  const { name, resource } = change;
  return { name, what: rowOf(change).remark, resource };
}

/** "1 member becomes an administrator", "2 members and 1 role are removed". */
export function riskTitle(kind: RiskKind, items: readonly RiskItem[]): string {
  const members = items.filter(({ resource }) => resource === "member").length;
  const roles = items.length - members;
  switch (kind) {
    case "administrators":
      return members === 1
        ? "1 member becomes an administrator"
        : `${counted(members, "member")} become administrators`;
    case "sensitive":
      return `${counted(members, "member")} ${members === 1 ? "gains" : "gain"} sensitive permissions`;
    case "removals": {
      const what = [members > 0 ? counted(members, "member") : "", roles > 0 ? counted(roles, "role") : ""];
      const text = what.filter((part) => part !== "").join(" and ");
      return `${text} ${items.length === 1 ? "is" : "are"} removed`;
    }
    default:
      return kind satisfies never;
  }
}
