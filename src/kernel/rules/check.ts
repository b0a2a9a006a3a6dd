import type { Check, EnforcedBy } from "../../model/desired.ts";
import type { Breach } from "../../model/diagnostic.ts";
import type { Refusal } from "../../model/plan.ts";
import { ruleAdvice } from "../findings/refusals.ts";
import type { Path } from "../problems/problem.ts";
import type { Rule as DiagnosticKind } from "../problems/rule-table.ts";
import type { Granted, PersonAccess } from "./access.ts";
import type { AccessIndex, Judged, Violation } from "./judged.ts";
import type { Reach } from "./reach.ts";
import type { LintFacts, LintOfRule } from "./rule.ts";
import type { CheckSetting } from "./settings/check-setting.ts";

/** A form of checks: who may have a permission. */
export interface CheckForm<Form extends Check> extends CheckSetting<Form> {
  /** The meaning of the diagnostic of files that violate it. */
  readonly diagnostic: DiagnosticKind;
  /** Returns a check in one line, in a fixed order of keys, to serve as its name; `reach` is a word, or empty. */
  text(check: Form, reach: string): string;
  /** Returns those of the people who break the check if they have its permissions. */
  subjects(check: Form, people: readonly PersonAccess[], context: CheckContext): readonly PersonAccess[];
  judge(check: Form, context: CheckContext): readonly CheckViolation[];
  /** Describes what other checks of the form, with the same reach, additionally allow. */
  looser(check: Form, others: readonly Form[], reach: string): readonly string[];
  /** Returns why a check cannot fail; `null` if it can. */
  lint(check: Form, facts: CheckFacts): Omit<LintOfRule, "code"> | null;
}

/** Facts about the merchants that a check applies to. */
export interface CheckFacts extends Pick<LintFacts, "isLive" | "most"> {
  /** Returns whether it is known that no role grants a permission. */
  isUngranted(permission: string): boolean;
  /** Returns whether all members hold a role, by its name or id. */
  isHeldByAll(role: string): boolean;
}

/** Returns the lint of a check on a permission that nobody has. */
export function ungranted(permission: string, path: Path): Omit<LintOfRule, "code"> {
  return {
    path,
    message: `No role grants ${permission}, so nobody has it.`,
    hint: "Check the spelling.",
  };
}

/** A violation of a check; `refusal` does not name the check. */
export type CheckViolation = Pick<Violation, "subject" | "extent" | "shared" | "refusal"> & {
  breaches(): readonly Breach[];
};

/** The access to judge by checks, indexed. */
export interface CheckContext extends Judged, EnforcedBy {
  readonly granted: (person: PersonAccess) => Granted;
  readonly reach: (person: PersonAccess) => Reach;
  readonly reachSettled: (person: PersonAccess) => Reach;
  readonly index: AccessIndex;
  /** The index of `settled`, for counting. */
  readonly counted: AccessIndex;
  /** Returns all addresses of a person, in lower case, by a current or previous address. */
  readonly addressesOf: (address: string) => readonly string[];
}

/** Returns the refusal by a check of one person, or of all who have its permission. */
export function checkRefusal(
  code: string,
  name: string | null,
  message: string,
  enforcedBy: string | undefined,
): Refusal {
  return {
    rule: "check",
    code,
    resource: name === null ? null : "member",
    name,
    check: null,
    message,
    hint: `Change the roles or their permissions, or ${ruleAdvice("the check", enforcedBy)}.`,
    override: null,
  };
}
