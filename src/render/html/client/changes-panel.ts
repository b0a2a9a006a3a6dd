import type { PageChange, PageMerchant, PageNote, PagePlan } from "../page-data.ts";
import { badge, h, mark, name, pluralize, type RowMaker, search, select, virtualTable } from "./dom.ts";
import { openDialog } from "./member-dialog.ts";

const SYMBOLS: Readonly<Record<string, readonly [kind: string, symbol: string]>> = {
  create: ["gained", "+"],
  update: ["edited", "~"],
  replace: ["edited", "±"],
  delete: ["lost", "−"],
  deferred: ["waits", "…"],
};
const RISKS_SHOWN = 20;

/** Makes the panel of a plan: its totals unless it is the only one, then problems, refusals, risks and every change. */
export function changesPanel({ plan }: PageMerchant, alone: boolean): HTMLElement {
  if (plan === null) return h("div");
  const filter = { text: "", kind: "" };
  const table = virtualTable({ label: "Changes", heads: ["Change", "Name", "What changes"], what: "change" });
  const texts = plan.changes.map((change) => JSON.stringify(change).toLowerCase());
  const update = (): void =>
    table.show(
      plan.changes
        .filter(
          ({ kind }, index) =>
            (filter.kind === "" || kind === filter.kind) && texts[index]?.includes(filter.text),
        )
        .map(
          (change): RowMaker =>
            () =>
              changeRow(change),
        ),
    );
  update();
  const kinds = [...new Set(plan.changes.map(({ kind }) => kind))];
  return h(
    "div",
    {},
    alone ? null : h("p", { class: "verdict" }, `Plan: ${plan.summary}.`),
    ...notesOf(plan),
    h(
      "div",
      { class: "filters" },
      search("Search changes", "Name, field or value", (text) => {
        filter.text = text;
        update();
      }),
      select("Kind", [["", "Every kind"], ...kinds.map((kind) => [kind, kind] as const)], (kind) => {
        filter.kind = kind;
        update();
      }),
    ),
    table.element,
  );
}

function notesOf(plan: PagePlan): readonly HTMLElement[] {
  const { errors, refusals, overrides, overridden, risks, warnings } = plan;
  const note = ({ message, hint }: PageNote): HTMLElement =>
    h("li", {}, h("span", {}, message), hint === "" ? null : h("span", { class: "hint" }, hint));
  const block = (kind: string, title: string, items: readonly HTMLElement[]): readonly HTMLElement[] =>
    items.length === 0
      ? []
      : [h("section", { class: `block ${kind}` }, h("h3", {}, title), h("ul", {}, ...items))];
  return [
    ...block("error", `${pluralize(errors.length, "problem")} to fix first`, errors.map(note)),
    ...block("error", `An apply would be refused, for ${pluralize(refusals.length, "reason")}`, [
      ...refusals.map(note),
      ...(overrides === null ? [] : [note({ message: IN_FILE, hint: overrides })]),
    ]),
    ...block(
      "warning",
      `${pluralize(overridden.length, "refusal")} overridden in the file`,
      overridden.map(note),
    ),
    ...risks.flatMap(({ title, items }) => {
      const more = items.length - RISKS_SHOWN;
      return block("risk", title, [
        ...items.slice(0, RISKS_SHOWN).map((item) => h("li", {}, name(item))),
        ...(more > 0
          ? [h("li", {}, `and ${more.toLocaleString("en-US")} more, among the changes below`)]
          : []),
      ]);
    }),
    ...block("warning", pluralize(warnings.length, "warning"), warnings.map(note)),
  ];
}

const IN_FILE = "To override, reviewed in git and for this plan alone, add under guards in the file:";

function changeRow(change: PageChange): HTMLTableRowElement {
  const [kind, symbol] = SYMBOLS[change.kind] ?? ["edited", "~"];
  const opener = h("button", { type: "button", class: "open" }, name(change.name));
  opener.addEventListener("click", () => openChange(change));
  return h(
    "tr",
    {},
    h("td", {}, mark(kind, symbol, change.kind), ` ${change.kind} ${change.resource}`),
    h(
      "th",
      { scope: "row" },
      h("div", { class: "who" }, opener, change.remark === "" ? null : badge("note", change.remark)),
    ),
    h("td", { class: "clip" }, ...change.details.flatMap((detail) => [`${detail.label} `, ...brief(detail)])),
  );
}

function brief({ removed, added, plain }: PageChange["details"][number]): readonly HTMLElement[] {
  const part = (kind: string, sign: string, items: readonly string[]): readonly HTMLElement[] =>
    items.length === 0 ? [] : [h("span", { class: `diff ${kind}` }, `${sign}${items.join(", ")} `)];
  return [...part("lost", "− ", removed), ...part("gained", "+ ", added), ...part("", "", plain)];
}

function openChange({ kind, resource, name: title, remark, details }: PageChange): void {
  const line = (
    sign: string,
    words: string,
    items: readonly string[],
    style: string,
  ): readonly HTMLElement[] =>
    items.map((item) =>
      h("li", { class: `diff ${style}` }, sign === "" ? "" : mark(style, sign, words), " ", name(item)),
    );
  openDialog(
    title,
    h("p", {}, `${kind} ${resource}`, remark === "" ? "" : ` (${remark})`),
    ...details.map(({ label, removed, added, plain }) =>
      h(
        "section",
        {},
        h("h3", {}, label),
        h(
          "ul",
          { class: "roles" },
          ...line("−", "goes", removed, "lost"),
          ...line("+", "comes", added, "gained"),
          ...line("", "", plain, ""),
        ),
      ),
    ),
  );
}
