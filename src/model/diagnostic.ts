/** How bad a finding is: an error stops the command, a warning does not. */
export type Severity = "error" | "warning";

/** A stretch of a text file; lines and columns count from 1, columns in UTF-16 units. */
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
  /** Set where the file can be read but breaks its own policies or checks: refused, rather than wrong. */
  readonly refusal?: true;
  readonly message: string;
  /** What to do next, where there is something better to say than the message. */
  readonly hint?: string;
  readonly file: string;
  /** Absent where the problem has no place in the text (a file that cannot be read). */
  readonly span?: Span;
  /** The source lines around the span, marked; safe to print after escaping. */
  readonly frame?: string;
}
