import type { PageMerchant, PageRule, PageRuleResult } from "../page-data.ts";
import { dataTable } from "./data-table.ts";
import { badge, type Child, foldedList, h, name } from "./dom.ts";
import { withMembers } from "./member-dialog.ts";
import type { PanelView } from "./view-state.ts";

const WORDS = {
  failed: "failed",
  overridden: "overridden",
  unknown: "not known",
  passed: "passed",
  "not-judged": "judges plans",
} as const satisfies Readonly<Record<PageRuleResult["status"], string>>;

const ORDER = Object.keys(WORDS) as readonly PageRuleResult["status"][];

/** Makes the panel of the rules of a merchant, the failed ones first. */
export function rulesPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { rules = [], plan } = merchant;
  if (rules.length === 0)
    return h("p", { class: "empty" }, "The files of this merchant have no guards, policies or checks.");
  const table = dataTable<PageRule>({
    id: "rules",
    label: "Rules and their results",
    what: "rule",
    rows: rules,
    sorted: "result",
    whole: true,
    columns: [
      ...(plan === null
        ? []
        : [
            {
              id: "before",
              title: "Before the plan",
              text: ({ before, after }: PageRule) => WORDS[(before ?? after).status],
              only: "file",
            } as const,
          ]),
      {
        id: "result",
        title: plan === null ? "Result" : "After the plan",
        number: ({ after }) => ORDER.indexOf(after.status),
        text: ({ after }) => WORDS[after.status],
        show: resultOf,
      },
      { id: "section", title: "Section", text: ({ section }) => section, only: "file" },
      {
        id: "name",
        title: "Rule",
        isHead: true,
        text: ({ text }) => text,
        show: ({ section, text }) => [h("span", { class: "hint" }, section), h("bdi", {}, text)],
      },
      {
        id: "reasons",
        title: "Violations",
        text: (rule) => [...reasonsOf(rule).reasons, ...moreOf(rule)].join(" "),
        show: (rule) => reasons(rule, merchant, view),
      },
      {
        id: "place",
        title: "Where",
        text: ({ place }) => place || "default",
        show: ({ place, enforcedBy }) => [
          place === "" ? "default" : placeText(place),
          enforcedBy === undefined ? null : h("span", { class: "hint" }, "enforced by ", name(enforcedBy)),
        ],
      },
      { id: "enforced", title: "Enforced by", text: ({ enforcedBy = "" }) => enforcedBy, only: "file" },
    ],
    view,
    className: "rules",
  });
  const sums = ORDER.flatMap((status) => {
    const count = rules.filter(({ after }) => after.status === status).length;
    return count === 0 ? [] : [badge(status, `${count.toLocaleString("en-US")} ${WORDS[status]}`)];
  });
  return h("div", {}, h("p", { class: "sums" }, ...sums), table.element);
}

/** Makes the result of a rule; with a plan that changes it, both. */
function resultOf({ before, after }: PageRule): readonly Child[] {
  const result = badge(after.status, WORDS[after.status]);
  if (before === undefined || before.status === after.status || before.status === "not-judged")
    return [result];
  return [badge(before.status, WORDS[before.status]), h("span", { class: "soft" }, " then "), result];
}

/** Returns the result whose reasons are shown: that after the plan, else that before it. */
function reasonsOf({ before, after }: PageRule): PageRuleResult {
  return after.reasons.length === 0 && before !== undefined ? before : after;
}

function moreOf(rule: PageRule): readonly string[] {
  const { more = 0 } = reasonsOf(rule);
  return more === 0 ? [] : [`and ${more.toLocaleString("en-US")} more`];
}

/** Lists the reasons why a rule fails. */
function reasons(rule: PageRule, merchant: PageMerchant, view: PanelView): readonly Child[] {
  const shown = reasonsOf(rule);
  if (shown.reasons.length === 0) return [];
  return [
    shown === rule.after ? null : h("span", { class: "hint" }, "Until the plan is applied:"),
    ...foldedList(
      [...shown.reasons, ...moreOf(rule)],
      (text) => h("li", {}, ...withMembers(text, merchant, view)),
      view.paper,
    ),
  ];
}

/** Makes a path with its line, which may break after a slash. */
function placeText(place: string): HTMLElement {
  return h("code", {}, ...place.split(/(?<=\/)/).flatMap((part) => [part, h("wbr")]));
}
