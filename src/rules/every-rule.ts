import type * as z from "zod/mini";
import type { Path } from "../kernel/problems/problem.ts";
import { type DiagnosticRule, fixedDiagnostics } from "../kernel/problems/rule-table.ts";
import { fieldsOf, omitUndefined } from "../kernel/values/values.ts";
import type { Policies } from "../model/desired.ts";
import { emailDomains } from "./email-domains.ts";
import { escalation } from "./escalation.ts";
import { forbidPermissions } from "./forbid-permissions.ts";
import { maxHolders } from "./max-holders.ts";
import { requireMfa } from "./require-mfa.ts";
import { requireUntil } from "./require-until.ts";
import type { LooserContext, Policy } from "./rule.ts";
import { separate } from "./separate.ts";
import type { NameOf, SettingLimit, SettingName } from "./settings.ts";

/** The policies, by their names in a state: everything that deals with policies loops over these. */
const POLICIES = {
  emailDomains,
  separate,
  maxHolders,
  requireUntil,
  requireMfa,
  forbidPermissions,
  escalation,
} as const satisfies { readonly [Name in keyof Policies]-?: Policy<Policies[Name]> };

type Table = typeof POLICIES;

/** Rules by themselves, each with what it takes to judge it. */
export type RuleItem = ReturnType<Table[keyof Table]["list"]>[number]["item"];

/** A policy of a state. */
interface SetPolicy {
  readonly policy: Policy<unknown, RuleItem>;
  readonly value: unknown;
}

/** All policies of a state; a policy that is not set has the value for none. */
export function policiesIn(policies: Policies): readonly SetPolicy[] {
  return Object.entries(POLICIES).map(([name, policy]) => ({
    policy: policy as Policy<unknown, RuleItem>,
    value: policies[name as keyof Policies],
  }));
}

function mapPolicies(valueOf: (policy: Policy<unknown>, name: keyof Policies) => unknown): Policies {
  const values = Object.entries(POLICIES).map(([name, policy]) => [
    name,
    valueOf(policy as Policy<unknown>, name as keyof Policies),
  ]);
  // The table has each of them, and says how.
  return omitUndefined(Object.fromEntries(values)) as Policies;
}

function writtenAt(sections: readonly unknown[], key: string): readonly unknown[] {
  const written = sections.map((section) => fieldsOf(section)[key]);
  return written.filter((one) => one !== undefined);
}

/** The schemas of the policies, by their keys in files. */
export const policySchemas = Object.fromEntries(
  Object.values(POLICIES).map(({ key, schema }) => [key, schema]),
) as { readonly [Name in keyof Table as Table[Name]["key"]]: Table[Name]["schema"] };

/** Combines the policies of several files, with the current names of roles. */
export function combinedPolicies(sections: readonly unknown[], nameOf: NameOf): Policies {
  return mapPolicies(({ key, kind }) => kind.renamed(kind.combine(writtenAt(sections, key)), nameOf));
}

/** Returns what is equal for policies that mean the same. */
export function policiesMeaning(policies: Policies): unknown {
  return policiesIn(policies).map(({ policy, value }) => policy.kind.meaning(value));
}

/** Returns the readable part of the policies of a file with errors. */
export function readablePolicies(section: unknown): z.infer<z.ZodMiniObject<typeof policySchemas>> {
  const written = fieldsOf(section);
  const readable = Object.values(POLICIES).map(({ key, kind }) => [
    key,
    written[key] === undefined ? undefined : kind.readable(written[key]),
  ]);
  return omitUndefined(Object.fromEntries(readable));
}

/** Returns what is looser in some policies than in others, in words. */
export function looserPolicies(was: Policies, is: Policies, context: LooserContext): readonly string[] {
  const others = policiesIn(is);
  return policiesIn(was).flatMap(({ policy, value }, index) =>
    policy.looser(value, others[index]?.value, context),
  );
}

/** A name in the policies of a file or a state; the path begins at the section. */
export function namesInPolicies(section: unknown): readonly SettingName[] {
  return Object.entries(POLICIES).flatMap(([name, { key, kind }]) => {
    const settings = fieldsOf(section);
    // A state has them by other names than a file.
    return kind
      .names(settings[key] ?? settings[name])
      .map((one) => ({ ...one, path: ["policies", key, ...one.path] }));
  });
}

/** Returns the paths in policies of a file, as each of them gives, from the section on. */
function pathsIn(section: unknown, paths: (policy: Policy<unknown>, written: unknown) => readonly Path[]) {
  const written = fieldsOf(section);
  return policiesIn(NO_POLICIES).flatMap(({ policy }) =>
    paths(policy, written[policy.key]).map((path): Path => ["policies", policy.key, ...path]),
  );
}

/** Returns the paths of lists in the policies of a file that have no entry twice. */
export function listsInPolicies(section: unknown): readonly Path[] {
  return pathsIn(section, ({ kind }, written) => kind.lists(written));
}

/** Returns the paths of keys in the policies of a file that a user chooses. */
export function keysInPolicies(section: unknown): readonly Path[] {
  return pathsIn(section, ({ kind }, written) => kind.keys(written).map((key) => [key]));
}

/** Returns the limits in the policies of a file, with paths from the section on. */
export function limitsInPolicies(section: unknown): readonly SettingLimit[] {
  const written = fieldsOf(section);
  return policiesIn(NO_POLICIES).flatMap(({ policy: { key, kind } }) =>
    kind.limits(written[key]).map((limit) => ({ ...limit, path: ["policies", key, ...limit.path] })),
  );
}

/** Returns policies with the current names of roles. */
export function renamedPolicies(policies: Policies, nameOf: NameOf): Policies {
  return mapPolicies(({ kind }, name) => kind.renamed(policies[name], nameOf));
}

/** The policies of files that have none. */
export const NO_POLICIES: Policies = combinedPolicies([], (role) => role);

/** Returns all diagnostics by code, for the reference. */
export function diagnosticTable(): readonly DiagnosticRule[] {
  const ofPolicies = policiesIn(NO_POLICIES).flatMap(({ policy }) =>
    Object.entries(policy.diagnostics ?? {}).map(([code, rule]) => ({ code, ...rule })),
  );
  return [...fixedDiagnostics(), ...ofPolicies].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

/** The keys in a file that lead to a policy, by the code of its refusals. */
export const policyPaths: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.values(POLICIES).flatMap(({ section, key, codes }) => codes.map((code) => [code, [section, key]])),
);
