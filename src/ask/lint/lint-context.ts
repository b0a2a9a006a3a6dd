import type { GlobMatch } from "../../kernel/diff/scope.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { AccessSnapshot } from "../../model/questions.ts";

/** A merchant as its files declare it and, if it was read, as it is live. */
export interface LintMerchant {
  readonly state: DesiredState;
  readonly declared: AccessSnapshot;
  /** `null` if only the files were read. */
  readonly live: { readonly state: LiveState; readonly access: AccessSnapshot } | null;
}

/** The input of every rule of `lint`. */
export interface LintContext {
  readonly merchants: readonly LintMerchant[];
  /** The contents of all files that apply to the merchants, as written. */
  readonly files: readonly {
    readonly file: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
  /** The time that decides which invitations expire soon, in ms since the epoch. */
  readonly now: number;
  /** Parses ISO 8601; NaN if it is invalid. */
  readonly timeOf: (text: string) => number;
  /** Also finds what is common and rarely a mistake. */
  readonly thorough: boolean;
  readonly matches: GlobMatch;
  /** Returns whether a permission controls access, keys, the account itself, or payouts. */
  readonly isSensitive: (permission: string) => boolean;
}

/** Something valid but unwise, at a location in the files. */
export interface LintFinding {
  readonly message: string;
  readonly hint: string;
  readonly origin: Origin;
  /** The merchants that it concerns, by code. */
  readonly merchants: readonly string[];
}

/** A rule of `lint`: returns what it finds. */
export type LintRule = (context: LintContext) => readonly LintFinding[];

/**
 * Returns the merchants that a file applies to: it is their own, they include it, or its rules are enforced on them.
 */
export function merchantsOf(
  { merchants }: Pick<LintContext, "merchants">,
  file: string,
): readonly LintMerchant[] {
  return merchants.filter(
    ({ state: { origin, included = [], enforced = [] } }) =>
      origin.file === file || included.includes(file) || enforced.some(({ files }) => files.includes(file)),
  );
}

/** Returns the codes of merchants. */
export function codesOf(merchants: readonly LintMerchant[]): readonly string[] {
  return merchants.map(({ state: { merchant } }) => merchant);
}
