type Child = Node | string | null;

/** Makes an element. Texts become text nodes: nothing that is shown is ever read as HTML. */
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

/** Makes a name with its own reading direction, so that it cannot affect the text around it. */
export function name(text: string): HTMLElement {
  return h("bdi", {}, text);
}

/** Makes a symbol with a text alternative. */
export function mark(kind: string, symbol: string, words: string): HTMLElement {
  return h("span", { class: `mark ${kind}`, role: "img", "aria-label": words, title: words }, symbol);
}

/** Makes a badge. */
export function badge(kind: string, text: string): HTMLElement {
  return h("span", { class: `badge ${kind}` }, text);
}

/** "1 member", "2 members". */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Returns the day of a moment, in UTC. */
export function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** Makes a labelled select. */
export function select(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  onChange: (value: string) => void,
): HTMLElement {
  const control = h("select", {}, ...options.map(([value, text]) => h("option", { value }, text)));
  control.addEventListener("change", () => onChange(control.value));
  return h("label", { class: "field" }, h("span", {}, label), control);
}

/** Makes a labelled search field. */
export function search(label: string, placeholder: string, onInput: (text: string) => void): HTMLElement {
  const control = h("input", { type: "search", placeholder, autocomplete: "off", spellcheck: "false" });
  control.addEventListener("input", () => onInput(control.value.trim().toLowerCase()));
  return h("label", { class: "field search" }, h("span", {}, label), control);
}
