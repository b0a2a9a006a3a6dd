import type { PageChange, PageMerchant, PageNote, PagePlan } from "../page-data.ts";
import { dataTable } from "./data-table.ts";
import { badge, foldedList, h, mark, name, pluralize, search, select } from "./dom.ts";
import { openDialog, personLink, withMembers } from "./member-dialog.ts";
import { impactBars } from "./permission-charts.ts";
import type { PanelView } from "./view-state.ts";

const SYMBOLS: Readonly<Record<string, readonly [kind: string, symbol: string]>> = {
  create: ["gained", "+"],
  update: ["edited", "~"],
  replace: ["edited", "±"],
  delete: ["lost", "−"],
  deferred: ["waits", "…"],
};

/** Makes the panel of a plan: its totals unless it is the only one, then problems, refusals, risks and every change. */
export function changesPanel(merchant: PageMerchant, alone: boolean, view: PanelView): HTMLElement {
  const { plan } = merchant;
  if (plan === null) return h("div");
  const { state } = view;
  const table = dataTable<PageChange>({
    id: "plan",
    label: "Changes",
    what: "change",
    rows: plan.changes,
    columns: [
      {
        id: "change",
        title: "Change",
        text: ({ kind, resource }) => `${kind} ${resource}`,
        show: (change) => {
          const [kind, symbol] = SYMBOLS[change.kind] ?? ["edited", "~"];
          return [mark(kind, symbol, change.kind), ` ${change.kind} ${change.resource}`];
        },
      },
      {
        id: "name",
        title: "Name",
        isHead: true,
        text: (change) => change.name,
        show: (change) => {
          const opener = h("button", { type: "button", class: "open" }, name(change.name));
          opener.addEventListener("click", () => openChange(change));
          return [
            h("div", { class: "who" }, opener, change.remark === "" ? null : badge("note", change.remark)),
          ];
        },
      },
      { id: "remark", title: "Remark", text: ({ remark }) => remark, only: "file" },
      {
        id: "details",
        title: "What changes",
        style: "clip",
        text: ({ details }) =>
          details
            .map(({ label, removed, added, plain }) =>
              [
                label,
                ...removed.map((removal) => `− ${removal}`),
                ...added.map((addition) => `+ ${addition}`),
                ...plain,
              ].join(" "),
            )
            .join("; "),
        show: ({ details }) => details.flatMap((detail) => [`${detail.label} `, ...brief(detail)]),
      },
    ],
    view,
  });
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= plan.changes.map((change) => JSON.stringify(change).toLowerCase());
    return texts[index] ?? "";
  };
  const update = (): void => {
    const [text, kind] = [state.get("search").toLowerCase(), state.get("kind")];
    table.filter(
      (change, index) =>
        (kind === "" || change.kind === kind) && (text === "" || textAt(index).includes(text)),
    );
  };
  update();
  const kinds = [...new Set(plan.changes.map(({ kind }) => kind))];
  return h(
    "div",
    {},
    alone ? null : h("p", { class: "verdict" }, `Plan: ${plan.summary}.`),
    impactBars(merchant, view),
    ...notesOf(plan, merchant, view),
    h(
      "div",
      { class: "filters" },
      search({ state, key: "search", label: "Search changes", onChange: update }, "Name, field or value"),
      select({ state, key: "kind", label: "Kind", onChange: update }, [
        ["", "Every kind"],
        ...kinds.map((kind) => [kind, kind] as const),
      ]),
    ),
    table.element,
  );
}

function notesOf(plan: PagePlan, merchant: PageMerchant, view: PanelView): readonly HTMLElement[] {
  const { errors, refusals, overrides, overridden, risks, warnings } = plan;
  const note = ({ message, hint }: PageNote): HTMLElement =>
    h(
      "li",
      {},
      ...withMembers(message, merchant, view),
      hint === "" ? null : h("span", { class: "hint" }, hint),
    );
  const block = <T>(
    kind: string,
    title: string,
    items: readonly T[],
    make: (item: T) => HTMLElement,
    last: HTMLElement | null = null,
  ): readonly HTMLElement[] =>
    items.length === 0
      ? []
      : [
          h(
            "section",
            { class: `block ${kind}` },
            h("h3", {}, title),
            ...foldedList(items, make, view.paper),
            last,
          ),
        ];
  return [
    ...block("error", `${pluralize(errors.length, "problem")} to fix first`, errors, note),
    ...block(
      "error",
      `An apply would be refused, for ${pluralize(refusals.length, "reason")}`,
      refusals,
      note,
      overrides === null ? null : h("p", {}, IN_FILE, h("span", { class: "hint" }, overrides)),
    ),
    ...block(
      "warning",
      `${pluralize(overridden.length, "refusal")} overridden in the file`,
      overridden,
      note,
    ),
    ...risks.flatMap(({ title, items }) =>
      block("risk", title, items, (item) => h("li", {}, ...withMembers(item, merchant, view))),
    ),
    ...block("warning", pluralize(warnings.length, "warning"), warnings, note),
  ];
}

const IN_FILE = "To override in git, add under guards in the file:";

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
    resource === "member" ? personLink(title) : null,
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
