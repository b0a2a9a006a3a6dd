import type { Check, DesiredState, EnforcedBy, Origin } from "./desired.ts";

/** The severity of a finding: an error stops the command, a warning does not. */
export type Severity = "error" | "warning";

/** A range of a text file; lines and columns count from 1, columns in UTF-16 units. */
export interface Span {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A problem in a user's file: what is wrong, where, and what to do about it. */
export interface Diagnostic {
  /** Stable, kebab-case. */
  readonly code: string;
  readonly severity: Severity;
  /** Set if the file is valid but violates its own policies or checks. */
  readonly refusal?: true;
  readonly message: string;
  /** Suggested next step, if the message does not name it. */
  readonly hint?: string;
  readonly file: string;
  /** Absent if the problem has no location in the text (a file that cannot be read). */
  readonly span?: Span;
  /** The source lines around the span, marked; safe to print after escaping. */
  readonly frame?: string;
}

/** The part of a merchant's files that policies and checks depend on. */
export type DeclaredAccess = Pick<
  DesiredState,
  "policies" | "checks" | "roles" | "members" | "leavers" | "origin"
> &
  EnforcedBy;

/** The codes of diagnostics that the modules of policies and checks define. */
export type RuleCode = `policy-${string}` | `check-${Check["kind"]}`;

/** The codes of diagnostics about broken policies and checks. */
export type BreachCode = RuleCode | "across-merchants";

/** A grant of a member; the role by its declared name, else as written in the grant. */
export interface GrantSubject {
  readonly kind: "grant";
  readonly email: string;
  readonly role: string;
  /** The role that must not be held with it. */
  readonly beside?: string;
}

/** The declaration that breaks a rule, or the rule itself if several declarations break it together. */
export type BreachSubject =
  | { readonly kind: "member"; readonly email: string }
  | GrantSubject
  | { readonly kind: "permission"; readonly role: string; readonly permission: string }
  | { readonly kind: "check"; readonly origin: Origin; readonly key: "only" | "at_most" }
  | { readonly kind: "cannot"; readonly origin: Origin; readonly permission: string };

/** A policy or check that the files break by themselves. */
export interface Breach {
  readonly code: BreachCode;
  /** The keys in a file that lead to the rule. Absent for a check, whose subject says where it is. */
  readonly rule?: readonly string[];
  /** `warning` if the file is valid. Absent: it is refused. */
  readonly severity?: "warning";
  readonly subject: BreachSubject;
  readonly message: string;
  readonly hint: string;
}

/** Judges declarations at a time, in ms since the epoch; `null` if that takes too much work. */
export type JudgeDeclared = (declared: DeclaredAccess, now: number) => readonly Breach[] | null;

/** The functions that judge files. */
export interface Judging {
  /** The time that decides which ends are past, in ms since the epoch. */
  readonly now: number;
  /** Judges policies and checks. */
  readonly judge: JudgeDeclared;
}
