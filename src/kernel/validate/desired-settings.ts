import { isLiteralGlob } from "../../lib/glob.ts";
import type {
  Check,
  Duration,
  EnforcedRules,
  GuardSettings,
  IgnorePatterns,
  Policies,
  SyncOptions,
} from "../../model/desired.ts";
import { parseCheck, renamedCheck } from "../rules/settings/every-check-setting.ts";
import { combinedGuards, combinedPolicies, namesInFile } from "../rules/settings/every-setting.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import { parsePeriod } from "../values/dates.ts";
import { unique } from "../values/values.ts";

/** A file without errors. */
export interface ValidFile {
  readonly file: string;
  readonly content: MerchantFile;
}

/** Combines the `sync` sections of all files. */
export function normaliseSync(files: readonly ValidFile[]): SyncOptions {
  const { roles, members, reinvite, replace_roles, ...rest } = merged(
    files.map(({ content }) => content.sync),
  );
  rest satisfies Record<string, never>;
  return {
    roles: roles ?? "authoritative",
    members: members ?? "authoritative",
    reinvite: typeof reinvite === "boolean" ? reinvite : period(reinvite?.for ?? "30d"),
    replaceRoles: replace_roles ?? false,
  };
}

/** Parses a period that the schema has accepted. */
function period(text: string): Duration {
  return parsePeriod(text) ?? { text, ms: 0 };
}

/** Combines the `ignore` globs of all files. */
export function normalisePatterns(
  lists: readonly (Partial<Record<"roles" | "members", string[] | undefined>> | undefined)[],
): IgnorePatterns {
  return {
    roles: unique(lists.flatMap((each) => each?.roles ?? [])),
    members: unique(lists.flatMap((each) => each?.members ?? [])),
  };
}

/** Combines the guards of all files. */
export function normaliseGuards(
  files: readonly ValidFile[],
  currentName: (role: string) => string,
): GuardSettings {
  const each = files.map(({ content }) => content.guards);
  const { overrides } = merged(each);
  return { ...combinedGuards(each, currentName), ...(overrides && { overrides: unique(overrides) }) };
}

/** Combines the policies of all files. */
export function normalisePolicies(
  files: readonly ValidFile[],
  currentName: (role: string) => string,
): Policies {
  return combinedPolicies(
    files.map(({ content }) => content.policies),
    currentName,
  );
}

/** Returns the rules of files without errors, with the current names of roles. */
export function enforcedRules(
  validFiles: readonly ValidFile[],
  files: EnforcedRules["files"],
  by: EnforcedRules["by"],
  currentName: (role: string) => string = (role) => role,
): EnforcedRules {
  return {
    guards: normaliseGuards(validFiles, currentName),
    policies: normalisePolicies(validFiles, currentName),
    checks: normaliseChecks(validFiles, currentName),
    files,
    ...(by && { by }),
  };
}

/** Combines the checks of all files. */
export function normaliseChecks(
  files: readonly ValidFile[],
  currentName: (role: string) => string,
): readonly Check[] {
  return files.flatMap(({ file, content }) =>
    (content.checks ?? []).map((check, index) =>
      renamedCheck(parseCheck(check, { file, path: ["checks", index] }), currentName),
    ),
  );
}

/** Returns the roles and members that rules of included files name, and no rule of the merchant's own; undefined if there are none. */
export function sharedRuleNames(main: ValidFile, files: readonly ValidFile[]): readonly string[] | undefined {
  const ownNames = new Set(ruleNames(main));
  const shared = files
    .filter(({ file }) => file !== main.file)
    .flatMap(ruleNames)
    .filter((role) => !ownNames.has(role));
  return shared.length === 0 ? undefined : unique(shared);
}

function ruleNames({ content: { guards, policies, checks } }: ValidFile): readonly string[] {
  return namesInFile({ guards, policies, checks }).flatMap(({ what, text }) =>
    what === "role" || (what.endsWith("-pattern") && isLiteralGlob(text)) ? text : [],
  );
}

/** Merges records that have no conflicting fields. */
function merged<T extends object>(records: readonly (T | undefined)[]): Partial<T> {
  return Object.assign({}, ...records) as Partial<T>;
}
