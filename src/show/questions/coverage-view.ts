import type { JudgedRule, RuleCoverage, SuggestedRule, UnnoticedGroup } from "../../model/coverage.ts";
import type { FailureJson } from "../../model/events.ts";
import type { IgnoredAccess } from "../../model/questions.ts";
import { documentJson, safeJson } from "../machine/machine-formats.ts";
import { isAdministrator } from "../view/risk-view.ts";
import type { Table } from "../view/table.ts";
import { type FilePlace, textOfPlace } from "./answer-formats.ts";

/** The rules of one merchant, judged against its access. */
export interface CheckedMerchant {
  readonly merchant: string;
  readonly file: string;
  readonly judged: readonly JudgedRule[];
  /** `null` if it was not requested. */
  readonly coverage: RuleCoverage | null;
}

/** The rules of all merchants, judged against their access. */
export interface CheckedView {
  readonly source: "declared" | "live";
  readonly merchants: readonly CheckedMerchant[];
  /** The rules across merchants, as those of one more merchant for each project. */
  readonly across: readonly CheckedMerchant[];
  readonly ignored: readonly IgnoredAccess[];
  /** Returns the place of a merchant's rule; `null` for a default. */
  readonly placeOf: (merchant: string, rule: JudgedRule["rule"]) => FilePlace | null;
}

/** The sensitivity of a change; unknown for a role with unknown permissions. */
export type Sensitivity = "administrator" | "sensitive" | "unknown" | "other";

/** The levels, the most sensitive first. */
export const SENSITIVITIES: readonly Sensitivity[] = ["administrator", "sensitive", "unknown", "other"];

/** Returns how much a group of changes matters. */
export function sensitivityOf({ change, role, permission, grants, sensitive }: UnnoticedGroup): Sensitivity {
  if (isAdministrator(role?.id ?? null)) return "administrator";
  if (permission === null && change !== "permission-taken" && grants === null) return "unknown";
  return sensitive ? "sensitive" : "other";
}

/** Returns the section of a file that a suggested rule belongs to, and its YAML there. */
export function suggestionYaml(rule: SuggestedRule): { readonly section: string; readonly yaml: string } {
  switch (rule.kind) {
    case "only":
      return {
        section: "checks",
        yaml: `- { can: ${scalar(rule.can)}, only: [${rule.only.map(scalar).join(", ")}] }`,
      };
    case "max-holders":
      return { section: "policies", yaml: `max_holders: { ${scalar(rule.role)}: ${rule.max} }` };
    case "min-holders":
      return { section: "guards", yaml: `min_holders: { ${scalar(rule.role)}: ${rule.min} }` };
    case "protect":
      return { section: "guards", yaml: `protect: { roles: [${scalar(rule.role)}] }` };
    default:
      return rule satisfies never;
  }
}

const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z_][\w@.+/-]*(?: [\w@.+/-]+)*$/i;

/** Returns a text as YAML, unquoted if that means the same. */
function scalar(text: string): string {
  return PLAIN.test(text) ? text : safeJson(text).trim();
}

/** Returns the verdicts of rules as JSON. */
export function checkedJson(
  { source, merchants, across, ignored, placeOf }: CheckedView,
  failures: readonly FailureJson[],
): string {
  const ruleJson = (merchant: string, rule: JudgedRule["rule"]) => {
    const { section, text, enforcedBy } = rule;
    return { section, text, enforcedBy, at: placeOf(merchant, rule) };
  };
  const rulesJson = (merchant: string, judged: CheckedMerchant["judged"]) =>
    judged.map(({ rule, violations, unknownRoles }) => ({
      ...ruleJson(merchant, rule),
      holds: violations.length > 0 ? false : unknownRoles.length > 0 ? null : true,
      violations,
      unknownRoles,
    }));
  return documentJson({
    source,
    merchants: merchants.map(({ merchant, file, judged, coverage }) => ({
      merchant,
      file,
      rules: rulesJson(merchant, judged),
      coverage: coverage && {
        changes: coverage.changes,
        unnoticed: coverage.unnoticed,
        unexamined: coverage.unexamined,
        groups: bySensitivity(coverage.groups).map((group) => {
          const { change, role, permission, subjects, toAnybody, of, suggestion } = group;
          return {
            sensitivity: sensitivityOf(group),
            change,
            role,
            permission,
            subjects,
            toAnybody,
            of,
            suggestion: suggestionYaml(suggestion),
          };
        }),
      },
    })),
    acrossMerchants: across.map(({ merchant, file, judged }) => ({
      file,
      rules: rulesJson(merchant, judged),
    })),
    ignored,
    failures,
  });
}

/** Returns the verdicts of rules as a table, with a row for each rule, or for each of its violations. */
export function checkedTable({ merchants, across, placeOf }: CheckedView): Table {
  return {
    columns: ["merchant", "section", "rule", "holds", "violation", "enforced_by", "where"],
    rows: [...merchants, ...across].flatMap(({ merchant, judged }) =>
      judged.flatMap(({ rule, violations, unknownRoles }) => {
        const place = placeOf(merchant, rule);
        const where = [rule.enforcedBy ?? "", place === null ? "" : textOfPlace(place)];
        const start = [merchant, rule.section, rule.text];
        if (violations.length > 0) return violations.map((text) => [...start, "false", text, ...where]);
        return [[...start, unknownRoles.length > 0 ? "?" : "true", "", ...where]];
      }),
    ),
  };
}

const CHANGES: readonly UnnoticedGroup["change"][] = [
  "role-given",
  "permission-given",
  "role-taken",
  "permission-taken",
];

/** Sorts groups: the most sensitive first, grants before removals, large groups before small ones. */
export function bySensitivity<T extends UnnoticedGroup>(groups: readonly T[]): readonly T[] {
  const rank = (group: T): number =>
    SENSITIVITIES.indexOf(sensitivityOf(group)) * CHANGES.length + CHANGES.indexOf(group.change);
  return [...groups].sort((a, b) => rank(a) - rank(b) || b.subjects.length - a.subjects.length);
}
