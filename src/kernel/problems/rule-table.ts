import type { RuleCode, Severity } from "../../model/diagnostic.ts";
import type { Code } from "./problem.ts";

/** The severity and meaning of a diagnostic's code. */
export interface Rule {
  readonly severity: Severity;
  /** True if the file is valid, but violates its own policies or checks. */
  readonly refusal?: true;
  readonly summary: string;
}

/** A code of a diagnostic, and its meaning. */
export interface DiagnosticRule extends Rule {
  readonly code: string;
}

const error = (summary: string): Rule => ({ severity: "error", summary });
/** Returns the rule of problems that do not prevent anything. */
export const warningRule = (summary: string): Rule => ({ severity: "warning", summary });
/** Returns the rule of violations. */
export const refusalRule = (summary: string): Rule => ({ severity: "error", refusal: true, summary });

const RULES: Readonly<Record<Exclude<Code, RuleCode>, Rule>> = {
  "across-merchants": refusalRule("Rules across merchants must not be violated (`across_merchants`)."),
  "across-not-counted": warningRule(
    "Rules across merchants should count every merchant; those in files with errors are left out.",
  ),
  "adjust-form": error("An adjustment must have only `name` and `adjust`, with `add` or `remove`."),
  "adjust-included": error("A role must be adjusted in a merchant's own file, not in an included one."),
  "adjust-no-effect": error(
    "An adjustment must add permissions that the role lacks, and remove permissions that it has.",
  ),
  "adjust-unknown-role": error("An adjusted role must be declared in an included file."),
  "adjust-unmanaged": error("An adjusted role must have `permissions`."),
  "bad-base-url": error("`base_url` must be an http or https URL without credentials, query or fragment."),
  "bad-check-entry": error("`only` must list e-mail addresses, or roles as `role:Name`."),
  "bad-count": error("A number of holders or members must be a whole number, 0 or more."),
  "bad-domain": error("`email_domains` must list domains such as `example.com` or `*.example.com`."),
  "bad-email": error("An e-mail address must have one @ and a domain."),
  "bad-env-name": error(
    "A key that ends in `_env` must name an environment variable, not contain the secret itself.",
  ),
  "bad-glob": error(
    "`files` must list globs over paths in the project, without `..`, backslashes or a leading `!`.",
  ),
  "bad-include": error("`include` must list relative paths of YAML files, with `/` as separator."),
  "bad-member-id": error("The id of a member must begin with `mem_`."),
  "bad-merchant": error("A merchant code must have 1 to 64 letters, digits, hyphens and underscores."),
  "bad-number": error("JSON must be able to represent a number in metadata exactly."),
  "bad-override": error("`overrides` must list overrides as plans print them."),
  "bad-period": error("A period must be a number of weeks, days or hours, such as `30d`."),
  "bad-limit": error("A limit must be a percentage such as `25%`, or a count."),
  "bad-role-id": error("The id of a role must begin with `role_`."),
  "bad-until": error("`until` and `from` must be valid dates, or timestamps with a time zone."),
  "blank-text": error("Required text must not be blank."),
  "check-form": error("A check must have one of the three forms."),
  "conflicting-grant": error("A member's grant of a role must have the same end date in every file."),
  "conflicting-member": error("Several files must agree on a member; only roles are combined."),
  "conflicting-setting": error("Several files must agree on a setting."),
  "control-character": error("Names and other short texts must be on one line, without control characters."),
  "duplicate-entry": warningRule("A list should contain each entry only once."),
  "duplicate-include": warningRule("A file should be included only once."),
  "duplicate-key": error("A mapping must have each key only once."),
  "duplicate-member": error("A member must be listed only once in a file; addresses are case-insensitive."),
  "duplicate-member-id": error("Two members must not be pinned to the same id."),
  "duplicate-member-role": warningRule("A member should list each role only once."),
  "duplicate-merchant": error("A merchant must have only one file."),
  "duplicate-permission": warningRule("A role should list each permission only once."),
  "previous-address": error(
    "The previous address of a member must not be another member's current or previous address.",
  ),
  "duplicate-previously": error("Two roles must not have the same previous name."),
  "duplicate-role": error("A role must be declared only once across all files."),
  "duplicate-role-id": error("Two roles must not be pinned to the same id."),
  "enforced-setting": error(
    "A file must agree with the `sync` and `ignore` of the rules that are enforced on it.",
  ),
  "file-empty": error("A file must not be empty."),
  "from-after-until": error("`from` must be before `until`."),
  "sandbox-seed": error("A merchant's file must not be a seed of the sandbox."),
  "file-missing": error("A file that you pass or include must exist."),
  "file-not-a-file": error("A file or an include must be a regular file."),
  "file-not-enforced": error("With `enforce_all`, an entry of `enforce` must match every merchant's file."),
  "file-not-utf8": error("A file must be UTF-8 text."),
  "file-outside-root": error("An included file must be inside the project, after links are resolved."),
  "file-too-large": error("A file must not be too large."),
  "file-too-long": error("A file must not have too many YAML tokens."),
  "file-unreadable": error("A file must be readable."),
  "glob-without-file": error("A glob of `enforce` must match a file."),
  "holders-contradiction": error("`min_holders` of a role must not exceed its `max_holders`."),
  "ignored-entry": error(
    "Roles and members that `ignore` matches must not be declared, and such roles must not be granted.",
  ),
  "include-cycle": error("Files must not include one another in a cycle."),
  "include-identity": error("An included file must not have `api`."),
  "include-merchant": error("An included file must not have a merchant code."),
  "include-not-read": error("A file with includes must be loaded together with them."),
  "leaver-listed": warningRule("A person who has left (`leavers`) should not be listed."),
  "link-not-read": warningRule("A link in a folder should lead to a YAML file in the project."),
  "literal-key": error("A file must not contain an API key."),
  "looser-setting": error("A merchant's file must not loosen a guard or policy that it includes."),
  "merge-conflict": error("A file must not contain an unresolved merge conflict."),
  "merge-key": error("Metadata must not have a merge key (`<<`). Elsewhere, `<<` is an `unknown-key`."),
  "missing-key": error("Required keys must be present."),
  "no-globs": error("An entry of `enforce` must have at least one glob, and not too many."),
  "null-value": error('A key must have a value; write `[]`, `{}` or `""` for an empty one.'),
  "number-form": warningRule("A number in metadata should be in canonical form, unlike `007` and `1e3`."),
  "previous-role-name": warningRule("References to a renamed role should use its new name."),
  "previously-declared": error(
    "A previous name must not be the name of another role, unless that role was renamed, too.",
  ),
  "project-file-name": error("The project's file must be named `rolecall.yaml`."),
  "rare-permission": warningRule("A permission that is used once should not be similar to a frequent one."),
  "similar-role-id": warningRule("A role's id should not be similar to the id of a predefined role."),
  "rules-in-reach": error("A rule file must not be subject to its own rules."),
  "rules-section": error(
    "A rule file must have no sections other than `guards`, `policies`, `checks`, `leavers`, `ignore` and `sync`.",
  ),
  "section-not-allowed": error("A file must not have a section that the project does not allow."),
  "role-name-like-id": warningRule("A role's name should not look like an id."),
  "too-few-roles": error("A set under `separate` must have at least two roles."),
  "too-many-checks": error("A file must not have too many checks."),
  "too-many-includes": error("A file must not have too many includes."),
  "too-many-metadata": error("Metadata must not have more properties than the service accepts."),
  "too-many-permissions": error("A role must not have more permissions than the service accepts."),
  "service-limit": warningRule("A member should not exceed the known limits of the service."),
  "too-many-problems": warningRule("A file has more problems than are shown."),
  "too-many-wrong-values": error("A file must not have more wrong values than can be listed."),
  "too-much-to-judge": error("Policies and checks must not take too long to evaluate."),
  "unassignable-role": warningRule(
    "A grant of `role_owner` or `role_admin` should not begin later or return after a suspension: the service may refuse to assign it through its API.",
  ),
  "unheld-role": warningRule("If all members are declared, every role should have a holder."),
  "unknown-key": error("A mapping must have only known keys."),
  "unknown-member": warningRule("A check should name declared members."),
  "unknown-protected-role": warningRule("A protected role should be declared."),
  "unknown-role": error("A reference to a role must be a declared name or an id."),
  "unknown-shared-role": warningRule(
    "A role that a shared rule names should be declared by at least one of the given merchants that include the rule.",
  ),
  "unsafe-key": error("A key must not be `__proto__`."),
  "until-after-membership": warningRule("A grant should not end after its membership."),
  "until-past": warningRule("`until` should be in the future."),
  "wrong-type": error("A value must have the right type: text, number, true or false, list or mapping."),
  "wrong-value": error("A value must be one of the allowed values."),
  "yaml-alias": error("An alias must refer to an earlier anchor; text that begins with `*` must be quoted."),
  "yaml-alias-limit": error("Aliases must not expand a file excessively."),
  "yaml-control": error("A file must not contain control characters."),
  "yaml-documents": error("A file must have only one YAML document."),
  "yaml-key": error("The keys of a mapping must be text."),
  "yaml-line-end": error("Lines must end in LF or CRLF, not in CR alone."),
  "yaml-syntax": error("A file must be valid YAML."),
  "yaml-tag": error("A file must not have YAML tags."),
  "yaml-too-deep": error("Lists and mappings must not be nested too deeply."),
  "yaml-word": warningRule(
    "An unquoted `yes`, `no`, `on` or `off` in metadata is text; only `true` and `false` are booleans.",
  ),
};

/** A problem, as far as its severity depends on it. */
type Judged = { readonly code: Code; readonly severity?: Severity };

/** Returns the rule of a problem. */
export function ruleOf({ code, severity }: Judged): Rule {
  const rules: Readonly<Record<string, Rule>> = RULES;
  // The module of a policy or check has the summary.
  return rules[code] ?? (severity === "warning" ? warningRule("") : refusalRule(""));
}

/** Returns the severity of a problem. */
export function severityOf(problem: Judged): Severity {
  return ruleOf(problem).severity;
}

/** Returns whether a problem makes its file unusable; a broken policy or check does not. */
export function isError(problem: Judged): boolean {
  const rule = ruleOf(problem);
  return rule.severity === "error" && rule.refusal !== true;
}

/** Returns the diagnostics that no policy or check makes, by code. */
export function fixedDiagnostics(): readonly DiagnosticRule[] {
  return Object.entries(RULES).map(([code, rule]) => ({ code, ...rule }));
}
