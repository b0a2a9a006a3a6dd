import { h } from "./dom.ts";

/** A part of the page behind a tab; it is made when it is first opened, or printed. */
export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly make: () => HTMLElement;
}

/** Tabs as the keyboard and a screen reader expect them; on paper all panels stand one below the other. */
export function tabs(all: readonly Tab[], current: string, onOpen: (id: string) => void): HTMLElement {
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
