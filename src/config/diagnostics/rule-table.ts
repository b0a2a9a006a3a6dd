import type { Severity } from "../../model/diagnostic.ts";
import type { Code } from "./problem.ts";

/** What a diagnostic's code stands for. */
interface Rule {
  readonly severity: Severity;
  /** Set where the file can be read, but breaks its own policies or checks. */
  readonly refusal?: true;
  readonly summary: string;
}

/** A line of the table of all diagnostics. */
export interface DiagnosticRule extends Rule {
  readonly code: string;
}

const error = (summary: string): Rule => ({ severity: "error", summary });
const warning = (summary: string): Rule => ({ severity: "warning", summary });
const refusal = (summary: string): Rule => ({ severity: "error", refusal: true, summary });

const RULES: Readonly<Record<Code, Rule>> = {
  "bad-base-url": error("`base_url` is a plain http or https address."),
  "bad-check-entry": error("`only` lists e-mail addresses, and roles as `role:Name`."),
  "bad-count": error("A number of holders or members is whole, and 0 or more."),
  "bad-domain": error("`email_domains` lists domains such as `example.com` or `*.example.com`."),
  "bad-email": error("An e-mail address has one @ and a domain."),
  "bad-env-name": error("What ends in `_env` names an environment variable, and is no secret itself."),
  "bad-include": error("`include` lists relative paths of YAML files, with `/` between folders."),
  "bad-member-id": error("The id of a member begins with `mem_`."),
  "bad-merchant": error("A merchant code has 1 to 64 letters, digits, hyphens and underscores."),
  "bad-number": error("A number in metadata can be sent exactly as it is written."),
  "bad-period": error("`reinvite.for` is a number of weeks, days or hours such as `30d`."),
  "bad-removal-limit": error("`max_removals` is a share such as `25%`, or a count."),
  "bad-role-id": error("The id of a role begins with `role_`."),
  "bad-until": error("`until` is a date that exists, or a timestamp with its zone."),
  "blank-text": error("A text that has to say something is not blank."),
  "check-at-most": refusal("No more members have a permission than a check allows."),
  "check-cannot": refusal("A member has none of the permissions that a check denies it."),
  "check-form": error("A check has one of its three forms."),
  "check-only": refusal("Nobody has a permission but those whom a check allows it."),
  "conflicting-grant": error("A member has a role with one end, in whichever file."),
  "conflicting-member": error("What several files say of the same member agrees; its roles are joined."),
  "conflicting-setting": error("What several files set agrees."),
  "control-character": error("Names and other short texts are on one line, without invisible characters."),
  "duplicate-entry": warning("A list names nothing twice."),
  "duplicate-include": warning("A file is included once."),
  "duplicate-key": error("A mapping has each key once."),
  "duplicate-member": error("A member stands once in a file, whatever the case of its address."),
  "duplicate-member-id": error("No two members are pinned to the same id."),
  "duplicate-member-role": warning("A member lists a role once."),
  "duplicate-merchant": error("A merchant has one file."),
  "duplicate-permission": warning("A role lists a permission once."),
  "duplicate-previously": error("No two roles were the same role before."),
  "duplicate-role": error("A role stands once, in whichever file."),
  "duplicate-role-id": error("No two roles are pinned to the same id."),
  "file-empty": error("A file says something."),
  "sandbox-seed": error("A seed of the sandbox is not a merchant's file."),
  "file-missing": error("A file that is included or asked for exists."),
  "file-not-a-file": error("What is included is a single YAML file."),
  "file-not-utf8": error("A file is text in UTF-8."),
  "file-outside-root": error("What is included lies inside the project, also behind links."),
  "file-too-large": error("A file is not larger than anybody writes."),
  "file-too-long": error("A file does not have more words and marks than anybody writes."),
  "file-unreadable": error("A file can be read."),
  "holders-contradiction": error("No role must have more holders than it may have."),
  "include-cycle": error("Files do not include one another in a circle."),
  "include-identity": error("A file that others include has neither `environment` nor `api`."),
  "include-merchant": error("A file that has a merchant code is not included."),
  "include-not-read": error("A file with includes is loaded together with them."),
  "literal-key": error("No API key stands in a file."),
  "merge-key": error("Mappings are not merged with `<<`."),
  "missing-key": error("What is required is there."),
  "null-value": error('A key has a value; empty is written `[]`, `{}` or `""`.'),
  "number-form": warning("A number in metadata is read as it is written: `007` and `1e3` are not."),
  "policy-email-domain": refusal("Members have addresses of the allowed domains (`email_domains`)."),
  "policy-forbidden-permission": refusal(
    "No custom role grants a forbidden permission (`forbid_permissions`).",
  ),
  "policy-max-holders": refusal("No role has more holders than it may have (`max_holders`)."),
  "policy-require-until": refusal("Some roles are only granted with an end (`require_until`)."),
  "policy-separate": refusal("Nobody holds two roles that are kept apart (`separate`)."),
  "previous-role-name": warning("A renamed role is named by its new name."),
  "previously-declared": error(
    "The name that a role had is no role's any more, unless that one was renamed too.",
  ),
  "rare-permission": warning("A permission that stands once is no misspelling of one that stands often."),
  "role-name-like-id": warning("A role's name does not look like an id."),
  "too-few-roles": error("A set under `separate` has at least two roles."),
  "too-many-checks": error("A file has no more checks than can be judged."),
  "too-many-includes": error("A file includes no more others than anybody writes."),
  "too-many-metadata": error("Metadata has no more properties than the service takes."),
  "too-many-permissions": error("A role has no more permissions than the service takes."),
  "service-limit": warning("A member is given no more than the service is known to take."),
  "too-many-problems": warning("There are more problems in a file than are shown."),
  "too-much-to-judge": error("Policies and checks are few enough to be judged."),
  "unheld-role": warning("Somebody holds every role, where all members are declared."),
  "unknown-key": error("A mapping has only the keys that it can have."),
  "unknown-member": warning("A check speaks of members who are declared."),
  "unknown-role": error("A role that is named is declared, or is an id."),
  "unknown-shared-role": warning(
    "A role that a shared rule names is declared by one of the merchants that include it, as far as their files were given.",
  ),
  "unsafe-key": error("No key of a mapping is `__proto__`."),
  "until-after-membership": warning("A role does not end after the membership that it belongs to."),
  "until-past": warning("Access that ends does so in the future."),
  "wrong-type": error("A value is of the right kind: text, number, true or false, list or mapping."),
  "wrong-value": error("A value is one of those that are possible."),
  "yaml-alias": error("An alias has an anchor before it; a text that begins with `*` is in quotes."),
  "yaml-alias-limit": error("Aliases do not make a file much larger than it looks."),
  "yaml-control": error("A file has no invisible control characters."),
  "yaml-documents": error("A file has one YAML document."),
  "yaml-key": error("The keys of a mapping are words or texts."),
  "yaml-line-end": error("Lines end in LF or CRLF, not in CR alone."),
  "yaml-syntax": error("A file is YAML."),
  "yaml-tag": error("A file has no YAML tags of its own."),
  "yaml-too-deep": error("Lists and mappings do not stand deeper in one another than anybody needs."),
  "yaml-word": warning("A bare `yes`, `no`, `on` or `off` in metadata is text; true and false are not."),
};

/** What a code stands for. */
export function ruleOf(code: Code): Rule {
  return RULES[code];
}

/** Whether a problem keeps its file from being used, or only deserves a look. */
export function severityOf(code: Code): Severity {
  return RULES[code].severity;
}

/** Whether a problem leaves its file without a state; what its own policies refuse does not. */
export function isError({ code }: { readonly code: Code }): boolean {
  return RULES[code].severity === "error" && RULES[code].refusal !== true;
}

/** Every diagnostic that a file can have, by code: what the reference is made from. */
export function diagnosticTable(): readonly DiagnosticRule[] {
  return Object.entries(RULES)
    .map(([code, rule]) => ({ code, ...rule }))
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
