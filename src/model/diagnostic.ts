/** The severity of a finding: an error stops the command, a warning does not. */
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
  /** Set if the file is valid but violates its own policies or checks. */
  readonly refusal?: true;
  readonly message: string;
  /** What to do next, if the message does not tell. */
  readonly hint?: string;
  readonly file: string;
  /** Absent if the problem has no location in the text (a file that cannot be read). */
  readonly span?: Span;
  /** The source lines around the span, marked; safe to print after escaping. */
  readonly frame?: string;
}
