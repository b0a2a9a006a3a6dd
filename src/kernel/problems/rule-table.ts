import type { Severity } from "../../model/diagnostic.ts";
import type { Code } from "./problem.ts";

/** The severity and meaning of a diagnostic's code. */
export interface Rule {
  readonly severity: Severity;
  /** True if the file is valid, but violates its own policies or checks. */
  readonly refusal?: true;
  readonly summary: string;
}

/** A line of the table of all diagnostics. */
export interface DiagnosticRule extends Rule {
  readonly code: string;
}

const error = (summary: string): Rule => ({ severity: "error", summary });
/** Returns the rule of problems that prevent nothing. */
export const warningRule = (summary: string): Rule => ({ severity: "warning", summary });
/** Returns the rule of violations. */
export const refusalRule = (summary: string): Rule => ({ severity: "error", refusal: true, summary });

const RULES: Readonly<Record<Exclude<Code, `policy-${string}`>, Rule>> = {
  "adjust-form": error("An adjustment has `name` and `adjust`, with `add` or `remove`, and no other key."),
  "adjust-included": error("A role is adjusted in the file of a merchant, not in an included one."),
  "adjust-no-effect": error("An adjustment adds what the role does not have, and removes what it has."),
  "adjust-unknown-role": error("An adjusted role is declared in an included file."),
  "adjust-unmanaged": error("An adjusted role has `permissions`."),
  "bad-base-url": error("`base_url` is an http or https URL without credentials, query or fragment."),
  "bad-check-entry": error("`only` lists e-mail addresses, and roles as `role:Name`."),
  "bad-count": error("A number of holders or members is a whole number, 0 or more."),
  "bad-domain": error("`email_domains` lists domains such as `example.com` or `*.example.com`."),
  "bad-email": error("An e-mail address has one @ and a domain."),
  "bad-env-name": error(
    "A key that ends in `_env` names an environment variable; it is not the secret itself.",
  ),
  "bad-glob": error(
    "`files` lists globs over paths of the project, without `..`, `!` in front, and backslashes.",
  ),
  "bad-include": error("`include` lists relative paths of YAML files, with `/` as separator."),
  "bad-member-id": error("The id of a member begins with `mem_`."),
  "bad-merchant": error("A merchant code has 1 to 64 letters, digits, hyphens and underscores."),
  "bad-number": error("A number in metadata can be represented exactly in JSON."),
  "bad-override": error("`overrides` lists overrides such as `max-removals=5@35e43f876462`."),
  "bad-period": error("A period is a number of weeks, days or hours such as `30d`."),
  "bad-limit": error("A limit such as `max_removals` is a share such as `25%`, or a count."),
  "bad-role-id": error("The id of a role begins with `role_`."),
  "bad-until": error("`until` and `from` are existing dates, or timestamps with a time zone."),
  "blank-text": error("Required text is not blank."),
  "check-at-most": refusalRule("No more members have a permission than a check allows."),
  "check-cannot": refusalRule("A member has no permission that a check denies."),
  "check-form": error("A check has one of its three forms."),
  "check-only": refusalRule("Only those whom a check allows have a permission."),
  "conflicting-grant": error("A member's grant of a role has the same end in every file."),
  "conflicting-member": error("Several files agree on a member; only roles are combined."),
  "conflicting-setting": error("Several files agree on a setting."),
  "control-character": error("Names and other short texts are on one line, without control characters."),
  "duplicate-entry": warningRule("A list has no entry twice."),
  "duplicate-include": warningRule("A file is included once."),
  "duplicate-key": error("A mapping has each key once."),
  "duplicate-member": error("A member is listed once in a file; addresses are case-insensitive."),
  "duplicate-member-id": error("No two members are pinned to the same id."),
  "duplicate-member-role": warningRule("A member lists a role once."),
  "duplicate-merchant": error("A merchant has one file."),
  "duplicate-permission": warningRule("A role lists a permission once."),
  "previous-address": error("The previous address of a member is no other member's, before or now."),
  "duplicate-previously": error("No two roles have the same previous name."),
  "duplicate-role": error("A role is declared once, across all files."),
  "duplicate-role-id": error("No two roles are pinned to the same id."),
  "enforced-setting": error("A file agrees with the `sync` and `ignore` of the rules that hold for it."),
  "file-empty": error("A file is not empty."),
  "from-after-until": error("Nothing begins after its end."),
  "sandbox-seed": error("A seed of the sandbox is not a merchant's file."),
  "file-missing": error("A file that is given or included exists."),
  "file-not-a-file": error("An include is a single YAML file."),
  "file-not-enforced": error("With `enforce_all`, every merchant's file is under an entry of `enforce`."),
  "file-not-utf8": error("A file is UTF-8 text."),
  "file-outside-root": error("An included file is inside the project, with links resolved."),
  "file-too-large": error("A file is not too large to read."),
  "file-too-long": error("A file does not have too many tokens to read."),
  "file-unreadable": error("A file is readable."),
  "glob-without-file": error("A glob of `enforce` matches a file."),
  "holders-contradiction": error("`min_holders` of a role does not exceed its `max_holders`."),
  "ignored-entry": error("What `ignore` matches is not declared, and no member is granted such a role."),
  "include-cycle": error("Files do not include one another in a cycle."),
  "include-identity": error("An included file has no `api`."),
  "include-merchant": error("An included file has no merchant code."),
  "include-not-read": error("A file with includes is loaded together with them."),
  "leaver-listed": warningRule("Nobody is listed who has left (`leavers`)."),
  "link-not-read": warningRule("A link in a folder leads to a YAML file of the project."),
  "literal-key": error("A file contains no API key."),
  "looser-setting": error(
    "A merchant's file sets `max_removals`, `min_holders`, `max_holders`, `require_until` or `escalation` no looser than what it includes.",
  ),
  "merge-conflict": error("A file has no conflict that git left in it."),
  "merge-key": error("Metadata has no merge key (`<<`). Elsewhere `<<` is an `unknown-key`."),
  "missing-key": error("Required keys are present."),
  "no-globs": error("An entry of `enforce` has one glob or more, and not too many."),
  "null-value": error('A key has a value; empty is written `[]`, `{}` or `""`.'),
  "number-form": warningRule("A number in metadata is in canonical form, unlike `007` and `1e3`."),
  "previous-role-name": warningRule("A renamed role is referred to by its new name."),
  "previously-declared": error(
    "A previous name is not the name of another role, unless that one was renamed too.",
  ),
  "project-file-name": error("The project's file is named `rolecall.yaml`."),
  "rare-permission": warningRule("A permission used once is not a likely misspelling of a frequent one."),
  "rules-in-reach": error("No file that rules bind is one of the rules."),
  "rules-section": error(
    "A file with rules has no sections but these: `guards`, `policies`, `checks`, `leavers`, `ignore`, `sync`.",
  ),
  "section-not-allowed": error("A file has no section that the project does not allow it."),
  "role-name-like-id": warningRule("A role's name does not look like an id."),
  "too-few-roles": error("A set under `separate` has at least two roles."),
  "too-many-checks": error("A file does not have too many checks to evaluate."),
  "too-many-includes": error("A file does not have too many includes."),
  "too-many-metadata": error("Metadata has no more properties than the service accepts."),
  "too-many-permissions": error("A role has no more permissions than the service accepts."),
  "service-limit": warningRule("A member does not exceed the known limits of the service."),
  "too-many-problems": warningRule("A file has no more problems than are shown."),
  "too-much-to-judge": error("Policies and checks are few enough to evaluate."),
  "unassignable-role": warningRule(
    "No grant of `role_owner` or `role_admin` begins later, or comes back after a suspension: the service may not assign them through its API.",
  ),
  "unheld-role": warningRule("Every role has a holder, if all members are declared."),
  "unknown-key": error("A mapping has known keys only."),
  "unknown-member": warningRule("A check names declared members."),
  "unknown-protected-role": warningRule("A protected role is declared."),
  "unknown-role": error("A role that is referred to by name is declared; any other reference is an id."),
  "unknown-shared-role": warningRule(
    "A role that a shared rule names is declared by a merchant that includes the rule, among the files given.",
  ),
  "unsafe-key": error("No key is `__proto__`."),
  "until-after-membership": warningRule("A grant does not end after its membership."),
  "until-past": warningRule("`until` is in the future."),
  "wrong-type": error("A value has the right type: text, number, true or false, list or mapping."),
  "wrong-value": error("A value is one of the allowed values."),
  "yaml-alias": error("An alias has an anchor before it; text that begins with `*` is quoted."),
  "yaml-alias-limit": error("Aliases do not expand a file excessively."),
  "yaml-control": error("A file has no control characters."),
  "yaml-documents": error("A file has one YAML document."),
  "yaml-key": error("The keys of a mapping are text."),
  "yaml-line-end": error("Lines end in LF or CRLF, not in CR alone."),
  "yaml-syntax": error("A file is valid YAML."),
  "yaml-tag": error("A file has no YAML tags."),
  "yaml-too-deep": error("Lists and mappings are not nested too deeply."),
  "yaml-word": warningRule(
    "A bare `yes`, `no`, `on` or `off` in metadata is text; only `true` and `false` are booleans.",
  ),
};

/** A problem, as far as its severity depends on it. */
type Judged = { readonly code: Code; readonly severity?: Severity };

/** Returns the rule of a problem. */
export function ruleOf({ code, severity }: Judged): Rule {
  if (!isOfPolicy(code)) return RULES[code];
  // Its module has the summary.
  return severity === "warning" ? warningRule("") : refusalRule("");
}

function isOfPolicy(code: Code): code is Extract<Code, `policy-${string}`> {
  return code.startsWith("policy-");
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

/** Returns the diagnostics that no policy makes, by code. */
export function fixedDiagnostics(): readonly DiagnosticRule[] {
  return Object.entries(RULES).map(([code, rule]) => ({ code, ...rule }));
}
