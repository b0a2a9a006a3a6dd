import type { PageData, PageMerchant } from "../page-data.ts";
import { measuresOf, NOT_IN_FILES } from "./access-model.ts";
import { membersPanel, rolesPanel } from "./access-panels.ts";
import { h, select } from "./dom.ts";
import { changesPanel, endsPanel, invitationsPanel } from "./plan-panels.ts";
import { rulesPanel } from "./rules-panel.ts";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const app = document.getElementById("app");
let current = "";

function show(merchant: PageMerchant | undefined): void {
  if (merchant === undefined) {
    app?.replaceChildren(h("p", { class: "empty" }, "There is no merchant to show."));
    return;
  }
  const { now } = data;
  const planned =
    merchant.plan === null
      ? []
      : [{ id: "plan", title: "Plan", make: () => changesPanel(merchant, data.merchants.length === 1) }];
  const parts = tabs(
    [
      ...planned,
      { id: "members", title: "Members", make: () => membersPanel(merchant, now) },
      { id: "roles", title: "Roles", make: () => rolesPanel(merchant) },
      ...(merchant.rules === undefined
        ? []
        : [{ id: "rules", title: "Rules", make: () => rulesPanel(merchant) }]),
      { id: "ends", title: "End dates", make: () => endsPanel(merchant, now) },
      { id: "invitations", title: "Invitations", make: () => invitationsPanel(merchant, data) },
    ],
    current,
    (id) => {
      current = id;
    },
  );
  app?.replaceChildren(tiles(merchant), parts);
}

function tiles(merchant: PageMerchant): HTMLElement {
  return h(
    "dl",
    { class: "tiles" },
    ...measuresOf(merchant, data).map(({ title, count }) =>
      h(
        "div",
        {},
        h("dt", {}, title),
        count === null
          ? h("dd", { class: "unknown" }, NOT_IN_FILES)
          : h("dd", {}, count.toLocaleString("en-US")),
      ),
    ),
  );
}

/** A tab of the page; its content is made when it is first opened or printed. */
interface Tab {
  readonly id: string;
  readonly title: string;
  readonly make: () => HTMLElement;
}

/** Makes accessible tabs; in print all panels stand one below the other. */
function tabs(all: readonly Tab[], current: string, onOpen: (id: string) => void): HTMLElement {
  const made = new Set<string>();
  const panels = all.map(({ id, title }) =>
    h(
      "section",
      { id: `panel-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}` },
      h("h2", { class: "print-title" }, title),
    ),
  );
  const buttons = all.map(({ id, title }) => {
    const button = h(
      "button",
      { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` },
      title,
    );
    button.addEventListener("click", () => open(id));
    return button;
  });
  const fill = (index: number): void => {
    const tab = all[index];
    if (tab === undefined || made.has(tab.id)) return;
    made.add(tab.id);
    panels[index]?.append(tab.make());
  };
  const open = (id: string): void => {
    all.forEach((tab, index) => {
      const chosen = tab.id === id;
      buttons[index]?.setAttribute("aria-selected", String(chosen));
      buttons[index]?.setAttribute("tabindex", chosen ? "0" : "-1");
      panels[index]?.classList.toggle("closed", !chosen);
      if (chosen) fill(index);
    });
    onOpen(id);
  };
  const list = h("div", { role: "tablist", "aria-label": "Parts of the report" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: all.length - 1,
    };
    const step = steps[event.key];
    if (index < 0 || step === undefined) return;
    event.preventDefault();
    const to = (step + all.length) % all.length;
    buttons[to]?.focus();
    open(all[to]?.id ?? "");
  });
  const fillAll = (): void => {
    if (!list.isConnected) return;
    for (const index of all.keys()) fill(index);
  };
  addEventListener("beforeprint", fillAll);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) fillAll();
  });
  open(all.some(({ id }) => id === current) ? current : (all[0]?.id ?? ""));
  return h("div", { class: "tabs" }, list, ...panels);
}

if (data.merchants.length > 1) {
  const options = data.merchants.map(({ code }, index) => [String(index), code] as const);
  document
    .getElementById("picker")
    ?.append(select("Merchant", options, (index) => show(data.merchants[Number(index)])));
}
show(data.merchants[0]);
