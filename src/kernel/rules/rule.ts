import type { ListedRule } from "../../model/coverage.ts";
import type { DesiredState, EnforcedBy } from "../../model/desired.ts";
import type { Breach, BreachSubject } from "../../model/diagnostic.ts";
import type { Deferred, Finding, Impact, MemberChange, Refusal } from "../../model/plan.ts";
import type { RuleResult } from "../../model/reports.ts";
import type { GlobMatch, Scope } from "../diff/scope.ts";
import type { FindingData } from "../findings/findings.ts";
import type { Tense } from "../findings/refusals.ts";
import type { Path } from "../problems/problem.ts";
import type { Rule as DiagnosticKind } from "../problems/rule-table.ts";
import type { Access, AccessChanges, DeclaredRoles } from "./access.ts";
import type { AccessIndex, Judged, Violation } from "./judged.ts";
import type { LimitedRun, RefusedRun } from "./people-in-run.ts";
import type { GuardSetting, NameOf, PolicySetting, RunSetting } from "./settings/setting-kinds.ts";

/** A rule within a setting, as listed in reports. */
export interface RuleEntry<Value> {
  /** On one line, such as `max_holders role_admin: 3`. */
  readonly text: string;
  /** The keys below the setting that lead to the rule. */
  readonly keys: readonly string[];
  /** The entry of the list that the keys lead to; `null` if they lead to the rule itself. */
  readonly entry: ListedRule["entry"];
  /** The key of its violations; `null` if no access violates it by itself. */
  readonly violated: string | null;
  /** The setting with only this rule. */
  readonly alone: NonNullable<Value>;
}

/** What policies and guards have in common. */
interface Judge<Value, Entry> {
  /** The codes of its refusals. */
  readonly codes: readonly string[];
  /** Lists the rules of a setting; `written` has what the files set, without defaults. */
  list(value: Value, written: Value): readonly Entry[];
  /** Describes how one setting is looser than another. */
  looser(before: Value, after: Value, context: LooserContext): readonly string[];
  /** Returns what is valid but questionable in a setting of a file. */
  lint?(written: unknown, facts: LintFacts): readonly LintOfRule[];
}

/** A rule of either kind. */
export type RuleModule<Value, Item = unknown> = Policy<Value> | Guard<Value, Item>;

/** Facts about the merchants that a setting applies to. */
export interface LintFacts {
  /** Names and ids of all roles, live or declared; `null` if not all live ones are known. */
  readonly roles: readonly string[] | null;
  /** Addresses and ids of all members, live or declared; `null` if not all live ones are known. */
  readonly members: readonly string[] | null;
  /** Addresses of all members, and patterns of ignored ones; `null` if there may be others. */
  readonly addresses: readonly string[] | null;
  /** True if the facts come from the service, and not only from files. */
  readonly isLive: boolean;
  /** The number of members of the largest merchant, also as text; `null` if there may be more. */
  readonly most: { readonly members: number; readonly text: string } | null;
  readonly matches: GlobMatch;
}

/** Something questionable in a setting. */
export interface LintOfRule {
  readonly code: "idle-guard" | "idle-policy" | "unmatched-pattern" | "unused-domain";
  /** Path within the setting. */
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

/** The input of `looser`. */
export interface LooserContext {
  readonly matches: GlobMatch;
  /** Returns the current name of a role of the former state. */
  readonly nameOf: NameOf;
}

/** The access to judge, indexed. */
export interface PolicyContext extends Judged, EnforcedBy {
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
  /** The declared members, for their end dates. */
  readonly members: NonNullable<DesiredState["members"]>;
}

/**
 * A rule for the access that results from a plan. It judges what people hold of the roles and permissions that its
 * setting names, or everything that they hold if it names none, and what else is known about them.
 */
export interface Policy<Value> extends PolicySetting<Value>, Judge<Value, RuleEntry<Value>> {
  /** The meanings of its diagnostics, by code. Absent if files alone cannot violate it. */
  readonly diagnostics?: Readonly<Record<`policy-${string}`, DiagnosticKind>>;
  /** Returns whether there is nothing to judge. */
  isOff(value: Value): boolean;
  judge(value: Value, context: PolicyContext): readonly Violation[];
  /** Returns the unknown facts about the access that leave open whether the rule is violated. */
  unknown?(value: Value, context: PolicyContext): readonly UnknownToRule[];
  /** Judges declarations other than access, such as dates. */
  readonly declared?: DeclaredJudge<Value>;
}

/** An unknown fact about an access. */
export interface UnknownToRule {
  readonly finding: FindingData;
  /** The key of the possible violation. */
  readonly rule: string;
  /** Says what is unknown about the live access. */
  readonly live: string;
  /** Says what the files leave open, about a number of members. */
  inFiles(times: number): string;
}

/** Judges declarations, at a time in ms since the epoch. */
export interface DeclaredJudge<Value> {
  violations(value: Value, declared: Declarations): readonly DeclaredViolation[];
  /** Returns refusals of new violations, and warnings about existing ones. */
  compare(
    value: Value,
    declared: Declarations,
    former: FormerGrants,
  ): { readonly refusals: readonly Refusal[]; readonly findings: readonly Finding[] };
}

/** The declarations of files. */
export interface Declarations {
  readonly desired: Pick<DesiredState, "members" | "leavers" | "roles">;
  readonly find: Judged["find"];
  readonly now: number;
}

/** Earlier grants: the live ones, and those of the base branch, if it is known. */
export interface FormerGrants {
  readonly before: Access;
  readonly base: Pick<DesiredState, "roles" | "members"> | undefined;
}

/** A violation by declarations. */
export interface DeclaredViolation {
  /** The key of the rule, as in a violation. */
  readonly rule: string;
  refusal(tense: Tense): Refusal;
  readonly breach: Breach;
}

/** The input of guards. */
export interface Guarded extends EnforcedBy {
  /**
   * The declared members and their dates, and the project: `protect` also matches a pinned member by its entry's
   * address.
   */
  readonly files: Pick<DesiredState, "members" | "leavers" | "reviewedEnds" | "projects">;
  /** In ms since the epoch. */
  readonly now: number;
  /** The merchant's own file. */
  readonly file: string;
  readonly merchant: string;
  readonly scope: Scope;
  readonly changes: AccessChanges;
  readonly impact: Impact;
  /** Changes that wait for others to accept: `protect` refuses them at once. */
  readonly deferred: AccessChanges;
  readonly before: Access;
  readonly after: Access;
  /** The member that the API key belongs to. */
  readonly callerId: string | null;
  readonly matches: GlobMatch;
}

/** The removals of a plan, before any is deferred. */
export interface Removals {
  readonly before: Access;
  readonly after: Access;
  readonly changes: readonly MemberChange[];
  readonly declared: DeclaredRoles;
  /** The member that the API key belongs to. */
  readonly callerId: string | null;
}

/** A removal that is deferred for a role. */
export type DeferredForRole = Deferred & { readonly role: string };

/** Removals that a guard does not allow at once. */
export interface Withheld {
  /**
   * Deferred removals, each with a refusal if it cannot be deferred, for example because it would wait for another
   * removal.
   */
  readonly deferred: readonly {
    readonly deferred: DeferredForRole;
    /** The key of the role in the access before the plan. */
    readonly key: string;
    refusal(isChained: boolean): Refusal;
  }[];
  readonly refusals: readonly Refusal[];
  readonly findingData: readonly FindingData[];
}

/** A limit on what an apply may do. */
export interface Guard<Value, Item = unknown>
  extends GuardSetting<Value>,
    Judge<Value, RuleEntry<Value> & { readonly item: Item }> {
  /** True if it judges losses of access. */
  readonly keepsAccess?: true;
  /** The setting without limits, for rules that leave the guard to others. */
  readonly off: NonNullable<Value>;
  /** Hints about refusals of an undo, whose changes come from a run instead of a file, by code. */
  readonly undoHints?: Readonly<Record<string, (enforcedBy: string | undefined) => string>>;
  readonly ofRun?: RunLimit<Value>;
  refuse?(value: Value, guarded: Guarded): readonly Refusal[];
  /** Defers or refuses removals before they are made. */
  withhold?(value: Value, removals: Removals): Withheld;
  /**
   * Returns whether a refusal with one of its codes comes from a rule of the setting. Absent if the refusal has the
   * rule's key.
   */
  causes?(item: Item, refusal: Refusal, context: CauseContext<Item>): boolean;
  /**
   * Returns whether a rule holds in an access; `null` if it does not apply. Absent if it limits changes, not access.
   */
  report?(item: Item, judged: Judged, isDeclared: boolean): RuleResult | null;
}

/** A limit on what all plans of a run do together. */
export interface RunLimit<Value> extends RunSetting<Value> {
  /** Describes how one limit is looser than another. */
  looser(before: NonNullable<Value>, after: NonNullable<Value>): readonly string[];
  /** Refuses plans by the strictest of several limits. */
  refuse(limits: readonly NonNullable<Value>[], run: LimitedRun): readonly RefusedRun[];
}

/** The input of `causes`. */
export interface CauseContext<Item> {
  readonly matches: GlobMatch;
  /** All rules of the setting. */
  readonly items: readonly Item[];
}

/** Returns the refusal of a policy. */
export function policyRefusal(
  code: string,
  resource: NonNullable<Refusal["resource"]>,
  name: string,
  message: string,
  hint: string,
): Refusal {
  return { rule: "policy", code, resource, name, check: null, message, hint, override: null };
}

/** Returns a refusal in the future tense as a problem in the files. */
export function breachOf(
  code: Breach["code"],
  key: string | null,
  subject: BreachSubject,
  { message, hint }: Refusal,
): Breach {
  return { code, subject, message, hint, ...(key !== null && { rule: ["policies", key] }) };
}

/** Lists, as text, the items of a list that another list lacks. */
export function missingFrom(
  before: readonly string[],
  after: readonly string[],
  text: (item: string) => string,
): readonly string[] {
  return before.filter((item) => !after.includes(item)).map(text);
}
