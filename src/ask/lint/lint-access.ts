import { memoized } from "../../lib/memoized.ts";
import { byCodeUnit, counted } from "../../lib/text.ts";
import { administratorsWithoutMfa, expiringInvitations, soleHolders } from "./holder-rules.ts";
import { idleChecks, lintOfRules, unmatchedPatterns } from "./idle-rules.ts";
import {
  type LintContext,
  type LintFinding,
  type LintMerchant,
  type LintRule,
  merchantsOf,
} from "./lint-context.ts";
import { unsortedEntries } from "./order-rules.ts";
import {
  containedRoles,
  equalRoles,
  redundantGrants,
  shareableRoles,
  unheldSharedRoles,
} from "./role-rules.ts";

const RULES = {
  "contained-role": {
    find: containedRoles,
    summary: "A role should not grant only slightly more than another one.",
  },
  "equal-roles": {
    find: equalRoles,
    summary: "Two roles of a merchant should not grant the same permissions.",
  },
  "expiring-invitation": {
    find: expiringInvitations,
    summary: "An invitation should neither have expired nor expire within three days (with `--live`).",
  },
  "idle-check": { find: idleChecks, summary: "A check should be able to fail." },
  "idle-guard": { find: lintOfRules("idle-guard"), summary: "A guard should be able to refuse a plan." },
  "idle-policy": {
    find: lintOfRules("idle-policy"),
    summary: "A limit on holders should be less than the number of members.",
  },
  "no-mfa": {
    find: administratorsWithoutMfa,
    summary: "Members who control access or money should use MFA (with `--live`).",
  },
  "redundant-grant": {
    find: redundantGrants,
    summary: "A member's role should grant something that the member's other roles do not.",
  },
  "shareable-roles": {
    find: shareableRoles,
    summary: "Roles that are identical at several merchants should be in one shared file.",
  },
  "sole-holder": {
    find: soleHolders,
    summary: "More than one member should have each sensitive permission.",
  },
  "unheld-shared-role": {
    find: unheldSharedRoles,
    summary:
      "If all merchants with a shared file declare their members, each of its roles should have a holder.",
  },
  "unmatched-pattern": {
    find: unmatchedPatterns,
    summary: "Ignored and protected roles and members should exist (with `--live`).",
  },
  "unsorted-entry": {
    find: unsortedEntries,
    summary: "In an otherwise sorted list, every entry should be in order.",
  },
  "unused-domain": {
    find: lintOfRules("unused-domain"),
    summary: "Somebody should have an address in each allowed domain.",
  },
} as const satisfies Readonly<Record<string, { readonly find: LintRule; readonly summary: string }>>;

/** A code of `lint` and its meaning. */
export interface LintRuleRow {
  readonly code: string;
  readonly severity: "warning";
  readonly summary: string;
}

/** Returns the rules of `lint` by code, for reference documentation. */
export function lintTable(): readonly LintRuleRow[] {
  return Object.entries(RULES).map(([code, { summary }]) => ({ code, severity: "warning", summary }));
}

/** A finding with the code of its rule. */
export type CodedFinding = LintFinding & { readonly code: string };

/** Returns what all rules find; one finding for each place, which names the merchants of a shared file. */
export function lintAccess(context: LintContext): readonly CodedFinding[] {
  const findings = Object.entries(RULES).flatMap(([code, { find }]) =>
    find(context).map((finding): CodedFinding => ({ code, ...finding })),
  );
  const byPlace = new Map<string, CodedFinding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.code, finding.origin, finding.message]);
    const earlier = byPlace.get(key);
    byPlace.set(
      key,
      earlier ? { ...earlier, merchants: [...earlier.merchants, ...finding.merchants] } : finding,
    );
  }
  const merchantsOfFile = memoized((file: string) => merchantsOf(context, file));
  return [...byPlace.values()].map((finding) => withMerchants(finding, merchantsOfFile(finding.origin.file)));
}

const MAX_NAMED = 3;

/** Names the merchants of a finding in a file that applies to more merchants. */
function withMerchants(finding: CodedFinding, merchantsOfFile: readonly LintMerchant[]): CodedFinding {
  const merchants = [...new Set(finding.merchants)].sort(byCodeUnit);
  if (merchantsOfFile.length < 2 || merchants.length === merchantsOfFile.length)
    return { ...finding, merchants };
  const more = merchants.length - MAX_NAMED;
  const names = merchants.slice(0, MAX_NAMED).join(", ");
  const where = more > 0 ? `${names} and ${counted(more, "more merchant")}` : names;
  return {
    ...finding,
    merchants,
    hint: `${finding.hint} Found at ${where}: ${merchants.length} of the ${merchantsOfFile.length} merchants that include this file.`,
  };
}
