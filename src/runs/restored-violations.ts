import { list, sortRefusals, toRefusal } from "../kernel/findings/refusals.ts";
import { isBoundToPeople } from "../kernel/rules/overrides.ts";
import { groupByKey } from "../lib/text.ts";
import type { Finding, Plan, Refusal } from "../model/plan.ts";

/**
 * Combines all limits on gains, policies and checks that an undo breaks into one refusal, including those of an earlier
 * such refusal; each of them is a risk.
 */
export function withRestoredViolations({ refusals, findings, ...plan }: Plan): Plan {
  const isRestored = ({ rule, override }: Refusal): boolean =>
    rule !== "guard" || (override !== null && isBoundToPeople(override));
  const guards = refusals.filter((refusal) => !isRestored(refusal) && refusal.code !== "restored-violations");
  const byRule = groupByKey(refusals.filter(isRestored), ({ code, check, name, message, rules }) =>
    JSON.stringify([code, check ?? message.split(name ?? ""), rules]),
  );
  if (byRule.length === 0) return { ...plan, refusals, findings };
  const known = findings.filter(({ code }) => code === "restored-violation").length;
  const risks = byRule.flatMap((group) => group.slice(0, 1).map((first) => restoredViolation(first, group)));
  return {
    ...plan,
    refusals: sortRefusals([
      ...guards,
      toRefusal({ code: "restored-violations", rules: known + byRule.length }),
    ]),
    findings: [...findings, ...risks],
  };
}

function restoredViolation({ rule, code, check, ...first }: Refusal, group: readonly Refusal[]): Finding {
  const otherNames = [...new Set(group.flatMap(({ name }) => name ?? []))].filter(
    (name) => name !== first.name,
  );
  const messages = otherNames.length === 0 ? group.map(({ message }) => message) : [first.message];
  const same = otherNames.length === 0 ? [] : [`The same applies to ${list(otherNames)}.`];
  return {
    code: "restored-violation",
    severity: "warning",
    resource: "member",
    name: check ?? `${rule} ${code}`,
    message: [...messages, ...same].join(" "),
    hint: first.hint,
  };
}
