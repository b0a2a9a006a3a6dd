import type { PageMerchant, PageRule, PageRuleResult } from "../page-data.ts";
import { badge, h, name, pluralize } from "./dom.ts";

const WORDS = {
  failed: "failed",
  overridden: "overridden",
  unknown: "not known",
  passed: "passed",
  "not-judged": "judges plans",
} as const satisfies Readonly<Record<PageRuleResult["status"], string>>;

const ORDER = Object.keys(WORDS);

/** Makes the panel of the rules of a merchant, the failed ones first. */
export function rulesPanel({ rules = [], plan }: PageMerchant): HTMLElement {
  if (rules.length === 0)
    return h("p", { class: "empty" }, "The files of this merchant have no guards, policies or checks.");
  const sorted = [...rules].sort((a, b) => ORDER.indexOf(a.after.status) - ORDER.indexOf(b.after.status));
  const heads = plan === null ? ["Result"] : ["Before the plan", "After the plan"];
  return h(
    "div",
    {},
    summary(rules),
    h(
      "div",
      { class: "scroll rules", tabindex: 0, role: "region", "aria-label": "Rules and their results" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...[...heads, "Rule", "What fails it", "Where"].map((head) => h("th", { scope: "col" }, head)),
          ),
        ),
        h("tbody", {}, ...sorted.map((rule) => ruleRow(rule, plan !== null))),
      ),
    ),
  );
}

/** Says how many of the rules have which result. */
function summary(rules: readonly PageRule[]): HTMLElement {
  const counts = ORDER.map((status) => rules.filter(({ after }) => after.status === status).length);
  const parts = counts.flatMap((count, index) => {
    const status = ORDER[index] as PageRuleResult["status"];
    return count === 0 ? [] : [badge(status, `${count.toLocaleString("en-US")} ${WORDS[status]}`), " "];
  });
  return h("p", { class: "rule-sums" }, `${pluralize(rules.length, "rule")}: `, ...parts);
}

function ruleRow(rule: PageRule, planned: boolean): HTMLTableRowElement {
  const { section, text, place, enforcedBy, before, after } = rule;
  const result = ({ status }: PageRuleResult): HTMLElement => h("td", {}, badge(status, WORDS[status]));
  return h(
    "tr",
    {},
    planned ? result(before ?? after) : null,
    result(after),
    h("th", { scope: "row" }, h("span", { class: "hint" }, section), name(text)),
    h("td", {}, reasons(rule)),
    h(
      "td",
      {},
      place === "" ? "default" : placeText(place),
      enforcedBy === undefined ? null : h("span", { class: "hint" }, "enforced by ", name(enforcedBy)),
    ),
  );
}

/** Lists what fails a rule: after the plan, else before it. */
function reasons({ before, after }: PageRule): HTMLElement | string {
  const isMended = after.reasons.length === 0 && (before?.reasons.length ?? 0) > 0;
  const { reasons: texts, more = 0 } = isMended && before !== undefined ? before : after;
  if (texts.length === 0) return "";
  return h(
    "div",
    {},
    isMended ? h("span", { class: "hint" }, "Until the plan is applied:") : null,
    h(
      "ul",
      { class: "roles" },
      ...texts.map((text) => h("li", {}, name(text))),
      more === 0 ? null : h("li", {}, `and ${more.toLocaleString("en-US")} more`),
    ),
  );
}

/** Makes a path with its line, which may break after a slash. */
function placeText(place: string): HTMLElement {
  return h("code", {}, ...place.split(/(?<=\/)/).flatMap((part) => [part, h("wbr")]));
}
