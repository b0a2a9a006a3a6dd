import type { ViewState } from "./view-state.ts";

/** The content of an element. */
export type Child = Node | string | null;

/** Creates an element. Texts become text nodes, so no content is ever parsed as HTML. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const LONGEST_WHOLE = 22;
const END_SHOWN = 10;

/**
 * Creates a name with its own reading direction, so that it cannot affect the text around it. If there is not enough
 * space for a long name, its middle is left out, so that two names that differ at the end stay different. The text
 * itself is complete, for screen readers, searches and paper.
 */
export function name(text: string): HTMLElement {
  if (text.length <= LONGEST_WHOLE) return h("bdi", {}, text);
  const characters = [...segmenter.segment(text)].map(({ segment }) => segment);
  return h(
    "bdi",
    {
      class: "cut",
      title: text,
      "data-start": characters.slice(0, -END_SHOWN).join(""),
      "data-end": characters.slice(-END_SHOWN).join(""),
    },
    h("span", { class: "whole" }, text),
  );
}

const segmenter = new Intl.Segmenter("en");

/** Makes a symbol with a text alternative. */
export function mark(kind: string, symbol: string, words: string): HTMLElement {
  return h("span", { class: `mark ${kind}`, role: "img", "aria-label": words, title: words }, symbol);
}

/** Makes a badge. */
export function badge(kind: string, text: string): HTMLElement {
  return h("span", { class: `badge ${kind}` }, text);
}

/** "1 member", "2 members". */
export function pluralize(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? singular : plural}`;
}

const ITEMS_SHOWN = 8;

/** Creates a list whose end is added on demand, if it is long. */
export function foldedList<T>(
  items: readonly T[],
  make: (item: T) => HTMLElement,
  paper: boolean,
): readonly HTMLElement[] {
  const isWhole = paper || items.length <= ITEMS_SHOWN + 1;
  const list = h("ul", {}, ...(isWhole ? items : items.slice(0, ITEMS_SHOWN)).map(make));
  if (isWhole) return [list];
  const showAll = h(
    "button",
    { type: "button", class: "more" },
    `Show all ${items.length.toLocaleString("en-US")}`,
  );
  showAll.addEventListener("click", () => {
    list.append(...items.slice(ITEMS_SHOWN).map(make));
    showAll.remove();
  });
  return [list, showAll];
}

/** Returns the day of a time, in UTC. */
export function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** A control of a view, whose value is in the view's link. */
export interface ControlOptions {
  readonly state: ViewState;
  /** Name of the value in the link. */
  readonly key: string;
  readonly label: string;
  readonly onChange: () => void;
}

/** Makes a labelled select; its first option is not in the link. */
export function select(
  { state, key, label, onChange }: ControlOptions,
  options: readonly (readonly [value: string, text: string])[],
): HTMLElement {
  const control = h("select", {}, ...options.map(([value, text]) => h("option", { value }, text)));
  const value = state.get(key);
  if (options.some(([option]) => option === value)) control.value = value;
  control.addEventListener("change", () => {
    state.set(key, control.selectedIndex === 0 ? "" : control.value);
    onChange();
  });
  return h("label", { class: "field" }, h("span", {}, label), control);
}

/** Makes a labelled search field. */
export function search({ state, key, label, onChange }: ControlOptions, placeholder: string): HTMLElement {
  const control = h("input", { type: "search", placeholder, autocomplete: "off", spellcheck: "false" });
  control.value = state.get(key);
  control.addEventListener("input", () => {
    state.set(key, control.value.trim());
    onChange();
  });
  return h("label", { class: "field search" }, h("span", {}, label), control);
}

/** Creates a labelled checkbox. */
export function checkbox({ state, key, label, onChange }: ControlOptions): HTMLElement {
  const box = h("input", { type: "checkbox" });
  box.checked = state.get(key) !== "";
  box.addEventListener("change", () => {
    state.set(key, box.checked ? "yes" : "");
    onChange();
  });
  return h("label", { class: "check" }, box, label);
}

/** A tab of the page; its content is created when it is first opened. */
export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly make: () => HTMLElement;
}

/** Creates accessible tabs, one of which is open initially; `onOpen` is called when the user opens one. */
export function tabs(tabList: readonly Tab[], current: string, onOpen: (id: string) => void): HTMLElement {
  const made = new Set<string>();
  const panels = tabList.map(({ id, title }) =>
    h(
      "section",
      { id: `panel-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}` },
      h("h2", { class: "hidden" }, title),
    ),
  );
  const buttons = tabList.map(({ id, title }) => {
    const button = h(
      "button",
      { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` },
      title,
    );
    button.addEventListener("click", () => choose(id));
    return button;
  });
  const fill = (index: number): void => {
    const tab = tabList[index];
    if (tab === undefined || made.has(tab.id)) return;
    made.add(tab.id);
    panels[index]?.append(tab.make());
  };
  const openPanel = (id: string): void => {
    tabList.forEach((tab, index) => {
      const chosen = tab.id === id;
      buttons[index]?.setAttribute("aria-selected", String(chosen));
      buttons[index]?.setAttribute("tabindex", chosen ? "0" : "-1");
      panels[index]?.classList.toggle("closed", !chosen);
      if (chosen) fill(index);
    });
  };
  const choose = (id: string): void => {
    openPanel(id);
    onOpen(id);
  };
  const list = h("div", { role: "tablist", "aria-label": "Parts of the report" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: tabList.length - 1,
    };
    const step = steps[event.key];
    if (index < 0 || step === undefined) return;
    event.preventDefault();
    const to = (step + tabList.length) % tabList.length;
    buttons[to]?.focus();
    choose(tabList[to]?.id ?? "");
  });
  openPanel(tabList.some(({ id }) => id === current) ? current : (tabList[0]?.id ?? ""));
  return h("div", { class: "tabs" }, list, ...panels);
}
