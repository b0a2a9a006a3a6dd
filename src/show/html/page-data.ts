import { MANAGED_FIELDS } from "../../kernel/fields/member.ts";
import { shownValues } from "../../kernel/fields/show.ts";
import { oneLine } from "../../lib/escape.ts";
import { sortNaturally } from "../../lib/text.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { ManagedProperties } from "../../model/field-values.ts";
import type {
  AccessReport,
  ReportedHolding,
  ReportedMember,
  ReportedRole,
  ReportedRule,
  RuleResult,
  RuleStatus,
} from "../../model/reports.ts";
import type { DetailView } from "../view/change-view.ts";
import { countsText, joinSame, type PlanView } from "../view/plan-view.ts";
import { isAdministrator, riskTitle } from "../view/risk-view.ts";

/** The JSON that the page's script receives; every text in it is one line without control characters. */
export interface PageData {
  readonly now: number;
  /** `declared`: from the files alone, which say nothing of invitations and MFA. */
  readonly about: "plan" | "live" | "declared";
  readonly merchants: readonly PageMerchant[];
}

/** One merchant; roles and permissions are referred to by their index. */
export interface PageMerchant {
  readonly code: string;
  /** Absent if unknown. */
  readonly name?: string;
  readonly permissions: readonly PagePermission[];
  readonly roles: readonly PageRole[];
  readonly members: readonly PageMember[];
  /** `null` for a report without a plan. */
  readonly plan: PagePlan | null;
  /** Absent if they were not judged. */
  readonly rules?: readonly PageRule[];
}

/** A rule with its results; `before` is absent where it is the same as `after`. */
export interface PageRule {
  readonly section: ListedRule["section"];
  readonly text: string;
  /** The file and line; empty for a default. */
  readonly place: string;
  /** The file of rules that the project enforces; absent for the merchant's own. */
  readonly enforcedBy?: string;
  readonly before?: PageRuleResult;
  readonly after: PageRuleResult;
}

/** The result of a rule; the first of its reasons. */
export interface PageRuleResult {
  readonly status: RuleStatus;
  readonly reasons: readonly string[];
  /** Number of reasons that are left out. */
  readonly more?: number;
}

/** A permission that some role grants. */
export interface PagePermission {
  readonly name: string;
  readonly sensitive: boolean;
}

/** The permissions of a role; `null` if there is no such role, "unknown" if the service does not report them. */
export type PageGrants = readonly number[] | "unknown" | null;

/** A role; `before` is absent where it is the same as `after`. */
export interface PageRole {
  readonly name: string;
  readonly id: string;
  readonly about: string;
  readonly before?: PageGrants;
  readonly after: PageGrants;
}

/** The roles and state of a member. */
export interface PageHolding {
  readonly status: ReportedHolding["status"];
  readonly roles: readonly number[];
}

/** A member; `before` is absent where it is the same as `after`. */
export interface PageMember {
  readonly name: string;
  /** Additional text of the details. */
  readonly about?: readonly string[];
  /** Absent if unknown. */
  readonly mfa?: boolean;
  /** Set for an account that nobody logs in as. */
  readonly service?: true;
  /** A remark, such as "service account". */
  readonly notes?: readonly string[];
  readonly before?: PageHolding | null;
  readonly after: PageHolding | null;
  /** The expiry of its invitation, in ms since the epoch. */
  readonly invitedUntil?: number;
  readonly ends?: readonly PageEnd[];
}

/** An end; `role` is null for the whole membership. */
export interface PageEnd {
  readonly role: string | null;
  readonly text: string;
  readonly ends: number;
}

/** The changes of a plan, with the problems and refusals that block it. */
export interface PagePlan {
  readonly summary: string;
  readonly refusals: readonly PageNote[];
  /** The line for the file that overrides refusals; `null` if none can be. */
  readonly overrides: string | null;
  readonly overridden: readonly PageNote[];
  readonly errors: readonly PageNote[];
  readonly warnings: readonly PageNote[];
  readonly risks: readonly { readonly title: string; readonly items: readonly string[] }[];
  readonly changes: readonly PageChange[];
}

/** A message and what to do next. */
export interface PageNote {
  readonly message: string;
  readonly hint: string;
}

/** One change. */
export interface PageChange {
  readonly kind: string;
  readonly resource: string;
  readonly name: string;
  readonly remark: string;
  readonly details: readonly Pick<DetailView, "label" | "removed" | "added" | "plain">[];
}

/** The input of a merchant's page. */
export interface PageMerchantInput {
  readonly report: AccessReport;
  readonly view: PlanView | null;
  /** Absent if they were not judged. */
  readonly rules?: readonly PlacedRule[];
}

/** A rule with its file and line; `null` for a default. */
export type PlacedRule = ReportedRule & { readonly place: string | null };

/** Converts a merchant's report, and its plan if any, into the script's data. */
export function pageMerchant({ report, view, rules }: PageMerchantInput): PageMerchant {
  const granted = report.roles.flatMap(({ before, after }) => [
    ...(before?.permissions ?? []),
    ...(after?.permissions ?? []),
  ]);
  const permissions = sortNaturally([...new Set(granted)], (permission) => permission);
  const roles = sortNaturally(report.roles, ({ name }) => name);
  const permissionIndex = new Map(permissions.map((name, index) => [name, index]));
  const administratorKeys = new Set(
    report.roles.filter(({ id }) => isAdministrator(id)).map(({ key }) => key),
  );
  const holdsAll = (side: ReportedHolding | null): boolean =>
    side?.roles.some((key) => administratorKeys.has(key)) ?? false;
  const roleIndex = new Map(roles.map(({ key }, index) => [key, index]));
  const grants = (side: ReportedRole["after"]): PageGrants =>
    side === null
      ? null
      : (side.permissions?.flatMap((permission) => permissionIndex.get(permission) ?? []) ?? "unknown");
  const holding = (side: ReportedHolding | null): PageHolding | null =>
    side && { status: side.status, roles: side.roles.flatMap((key) => roleIndex.get(key) ?? []) };
  return {
    code: oneLine(report.merchant),
    ...(report.merchantName !== null && { name: oneLine(report.merchantName) }),
    permissions: permissions.map((name) => ({
      name: oneLine(name),
      sensitive: report.sensitive.includes(name),
    })),
    roles: roles.map(({ name, id, description, before, after }) => ({
      name: oneLine(name),
      id: oneLine(id ?? ""),
      about: oneLine(description ?? ""),
      ...(before !== after && { before: grants(before) }),
      after: grants(after),
    })),
    members: sortNaturally(report.members, ({ name }) => name).map(
      ({ before, after, invitedUntil, ends, ...member }) => ({
        name: oneLine(member.name),
        ...aboutOf(member),
        ...notesOf(member, holdsAll(after ?? before)),
        ...(member.mfa !== null && { mfa: member.mfa }),
        ...(isService(member.type) && { service: true }),
        ...(before !== after && { before: holding(before) }),
        after: holding(after),
        ...(invitedUntil !== null && { invitedUntil: Date.parse(invitedUntil) || 0 }),
        ...(ends.length > 0 && {
          ends: ends.map(({ role, text, ends: moment }) => ({
            role: role === null ? null : oneLine(role),
            text: oneLine(text),
            ends: moment,
          })),
        }),
      }),
    ),
    plan: view && pagePlan(view),
    ...(rules && { rules: rules.map(pageRule) }),
  };
}

function pageRule({ rule, place, before, after }: PlacedRule): PageRule {
  return {
    section: rule.section,
    text: oneLine(rule.text),
    place: oneLine(place ?? ""),
    ...(rule.enforcedBy !== null && { enforcedBy: oneLine(rule.enforcedBy) }),
    ...(before !== after && { before: pageResult(before) }),
    after: pageResult(after),
  };
}

/** Keeps the page small even with 20,000 addresses in a wrong domain. */
const MAX_REASONS = 50;

function pageResult({ status, reasons }: RuleResult): PageRuleResult {
  const more = reasons.length - MAX_REASONS;
  return { status, reasons: reasons.slice(0, MAX_REASONS).map(oneLine), ...(more > 0 && { more }) };
}

function aboutOf(member: ManagedProperties): Pick<PageMember, "about"> {
  const about = shownValues<ManagedProperties>(MANAGED_FIELDS, member).flatMap(({ plain }) => plain);
  return about.length === 0 ? {} : { about: about.map(oneLine) };
}

/** Returns the notes on a member; without any, nothing: for 20,000 members the word alone would be large. */
function notesOf(
  { type, mfa }: Pick<ReportedMember, "type" | "mfa">,
  holdsAll: boolean,
): Pick<PageMember, "notes"> {
  // Noted only for those who hold everything: for all members, it would be noise.
  const isWithoutMfa = mfa === false && !isService(type) && holdsAll;
  const notes = [...typeNotes(type), ...(isWithoutMfa ? ["no MFA on login"] : [])];
  return notes.length === 0 ? {} : { notes };
}

function isService(type: string): boolean {
  return type === "service_account" || type === "system_account";
}

/** Returns the note on a type of user; none for somebody who was invited. */
function typeNotes(type: string): readonly string[] {
  switch (type) {
    case "user":
      return [];
    case "managed_user":
    case "service_account":
    case "system_account":
      return [type.replace("_", " ")];
    default:
      return [`user type ${oneLine(type)}`];
  }
}

function pagePlan(view: PlanView): PagePlan {
  const note = (message: string, hint: string | null): PageNote => ({
    message: oneLine(message),
    hint: oneLine(hint ?? ""),
  });
  const safe = ({ label, removed, added, plain }: DetailView): PageChange["details"][number] => ({
    label,
    removed: removed.map(oneLine),
    added: added.map(oneLine),
    plain: plain.map(oneLine),
  });
  const changes = view.groups.flatMap(({ rows }) => rows);
  return {
    summary: countsText(view.counts),
    refusals: view.refusals.map(({ rule, code, message, hint, override, place }) => {
      const written = place === null ? "" : ` Written at ${place}.`;
      const how = override === null ? "" : ` To override: ${override}`;
      return note(`${rule} ${code}: ${message}`, `${hint}${written}${how}`);
    }),
    overrides: view.overrides === null ? null : oneLine(view.overrides),
    overridden: view.overridden.map(({ rule, code, message }) => note(`${rule} ${code}: ${message}`, null)),
    errors: view.errors.map(({ message, hint }) => note(message, hint)),
    warnings: [...view.warnings, ...joinSame(view.untouched)].map(({ message, hint }) => note(message, hint)),
    risks: view.risks.map(({ kind, items }) => ({
      title: riskTitle(kind, items),
      items: items.map(({ name, what, resource }) => oneLine(`${resource} ${name}: ${what}`)),
    })),
    changes: [
      ...changes.map(({ kind, resource, name, remark, details }) => ({
        kind,
        resource,
        name: oneLine(name),
        remark: oneLine(remark),
        details: details.map(safe),
      })),
      ...view.deferred.map(({ resource, name, until, details }) => ({
        kind: "deferred",
        resource,
        name: oneLine(name),
        remark: oneLine(until),
        details: details.map(safe),
      })),
    ],
  };
}
