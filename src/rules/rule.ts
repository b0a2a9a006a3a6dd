import type * as z from "zod/mini";
import type { GlobMatch } from "../kernel/diff/scope.ts";
import type { FindingData } from "../kernel/findings/findings.ts";
import type { Tense } from "../kernel/findings/refusals.ts";
import type { Rule as DiagnosticKind } from "../kernel/problems/rule-table.ts";
import type { ListedRule } from "../model/coverage.ts";
import type { DesiredState } from "../model/desired.ts";
import type { Breach, BreachSubject } from "../model/diagnostic.ts";
import type { Finding, Refusal } from "../model/plan.ts";
import type { Access } from "./access.ts";
import type { AccessIndex, Judged, Violation } from "./checks.ts";
import type { SettingKind } from "./settings.ts";

/** A rule within a setting, as reports list it. */
export interface RuleEntry<Item> {
  /** In one line, such as `max_holders role_admin: 3`. */
  readonly text: string;
  /** The keys below the setting that lead to the rule. */
  readonly keys: readonly string[];
  /** The entry of the list that the keys lead to; `null` if they lead to the rule itself. */
  readonly entry: ListedRule["entry"];
  /** The key of its violations; `null` if no access violates it by itself. */
  readonly violated: string | null;
  /** What it takes to judge the rule by itself. */
  readonly item: Item;
}

/** A rule but for its judgement: one setting of a file, with everything that is said of it. */
export interface RuleModule<Value, Item = unknown> {
  readonly section: "guards" | "policies";
  /** The key in the section. */
  readonly key: string;
  readonly schema: z.ZodMiniType;
  /** The codes of its refusals. */
  readonly codes: readonly string[];
  readonly kind: SettingKind<Value>;
  /** Lists the rules of a setting. */
  list(value: Value): readonly RuleEntry<Item>[];
  /** Returns what is looser in one setting than in another, in words. */
  looser(was: Value, is: Value, context: LooserContext): readonly string[];
}

/** The input of `looser`. */
export interface LooserContext {
  readonly matches: GlobMatch;
}

/** The access to judge, indexed. */
export interface PolicyContext extends Judged {
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
  /** The declared members, for their end dates. */
  readonly members: NonNullable<DesiredState["members"]>;
}

/** A rule for the access that results from a plan. */
export interface Policy<Value, Item = unknown> extends RuleModule<Value, Item> {
  readonly section: "policies";
  /** The meanings of its diagnostics, by code. Absent: files alone do not violate it. */
  readonly diagnostics?: Readonly<Record<`policy-${string}`, DiagnosticKind>>;
  /** Returns whether there is nothing to judge. */
  isOff(value: Value): boolean;
  judge(value: Value, context: PolicyContext): readonly Violation[];
  /** Returns what the access does not tell, because of which the rule may be violated. */
  unknown?(value: Value, context: PolicyContext): readonly UnknownToRule[];
  /** Judges what the files declare besides access, such as dates. */
  readonly declared?: DeclaredJudge<Value>;
}

/** A fact that an access does not tell. */
export interface UnknownToRule {
  readonly finding: FindingData;
  /** The key of the violation that there may be. */
  readonly rule: string;
  /** What is not known of the live access, in a sentence. */
  readonly live: string;
  /** What the files do not say of so many, in a sentence. */
  inFiles(times: number): string;
}

/** Judges declarations, at a moment in ms since the epoch. */
export interface DeclaredJudge<Value> {
  violations(value: Value, declared: Declarations): readonly DeclaredViolation[];
  /** Returns the refusals of what a plan makes new, and warnings of what exists. */
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

/** What was granted before: live, and by the state of the base branch, if that is known. */
export interface FormerGrants {
  readonly before: Access;
  readonly base: Pick<DesiredState, "roles" | "members"> | undefined;
}

/** A violation by declarations. */
export interface DeclaredViolation {
  /** The key of the rule, as that of a violation. */
  readonly rule: string;
  refusal(tense: Tense): Refusal;
  readonly breach: Breach;
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

/** Returns a refusal in the future tense as a problem of the files. */
export function breachOf(
  code: Breach["code"],
  key: string | null,
  subject: BreachSubject,
  { message, hint }: Refusal,
): Breach {
  return { code, subject, message, hint, ...(key !== null && { rule: ["policies", key] }) };
}

/** Returns the items of a list that another one lacks, in words. */
export function missingFrom(
  was: readonly string[],
  is: readonly string[],
  text: (item: string) => string,
): readonly string[] {
  return was.filter((item) => !is.includes(item)).map(text);
}
