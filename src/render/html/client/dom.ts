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

/** A table of any length that has only its visible rows in the page. */
export interface VirtualTable {
  readonly element: HTMLElement;
  /** Shows other rows, from the top. */
  show(rows: readonly RowMaker[]): void;
}

/** Makes a row when it becomes visible. */
export type RowMaker = () => HTMLTableRowElement;

/** The parts of a table. */
export interface TableOptions {
  readonly label: string;
  readonly heads: readonly (string | Node)[];
  readonly what: string;
  readonly className?: string;
}

const ROW_HEIGHT = 36;
const OVERSCAN = 12;

const tables = new Map<HTMLElement, () => void>();
const printing = matchMedia("print");
let allRows = printing.matches;

function layAll(all: boolean): void {
  allRows = all;
  for (const [element, lay] of tables) {
    // The merchant is no longer shown.
    if (!element.isConnected) tables.delete(element);
    else lay();
  }
}
// Print all rows.
printing.addEventListener("change", () => layAll(printing.matches));
addEventListener("beforeprint", () => layAll(true));
addEventListener("afterprint", () => layAll(false));

/** Makes a table; its rows are all of one height, except on paper. */
export function virtualTable({ label, heads, what, className = "" }: TableOptions): VirtualTable {
  const body = h("tbody");
  const before = spacer(heads.length);
  const after = spacer(heads.length);
  const headRow = h("tr", { "aria-rowindex": 1 });
  for (const head of heads) headRow.append(h("th", { scope: "col" }, head));
  const table = h("table", { "aria-label": label }, h("thead", {}, headRow), body);
  const scroller = h(
    "div",
    { class: `scroll ${className}`, tabindex: 0, role: "region", "aria-label": label },
    table,
  );
  const count = h("p", { class: "count", role: "status" });
  const element = h("div", { class: "table" }, count, scroller);
  let rows: readonly RowMaker[] = [];
  let shown = new Map<number, HTMLTableRowElement>();

  const rowAt = (index: number): HTMLTableRowElement => {
    const known = shown.get(index);
    if (known) return known;
    const row = (rows[index] as RowMaker)();
    row.setAttribute("aria-rowindex", String(index + 2));
    row.dataset["index"] = String(index);
    return row;
  };

  /** Returns the range of visible rows, with some around them. */
  const inSight = (): readonly [first: number, last: number] => {
    if (allRows) return [0, rows.length];
    const height = scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - OVERSCAN);
    return [first, Math.min(rows.length, first + Math.ceil(height / ROW_HEIGHT) + 2 * OVERSCAN)];
  };

  const remove = (row: HTMLTableRowElement): void => {
    if (row.contains(document.activeElement)) scroller.focus({ preventScroll: true });
    row.remove();
  };

  const lay = (): void => {
    const [first, last] = inSight();
    const wanted = new Map<number, HTMLTableRowElement>();
    for (let index = first; index < last; index += 1) wanted.set(index, rowAt(index));
    if (!body.contains(before)) body.replaceChildren(before, after);
    setHeight(before, first * ROW_HEIGHT);
    setHeight(after, (rows.length - last) * ROW_HEIGHT);
    // Other rows are not touched, so that the focus stays.
    for (const [index, row] of shown) if (!wanted.has(index)) remove(row);
    let place: Element = before;
    for (const row of wanted.values()) {
      if (place.nextElementSibling !== row) place.after(row);
      place = row;
    }
    shown = wanted;
  };
  tables.set(element, lay);

  let waiting = false;
  const laySoon = (): void => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      lay();
    });
  };
  scroller.addEventListener("scroll", laySoon, { passive: true });
  new ResizeObserver(laySoon).observe(scroller);

  /** Moves the focus from row to row on up and down, also to rows that are not in the page yet. */
  scroller.addEventListener("keydown", (event) => {
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    const index = Number(row?.dataset["index"] ?? Number.NaN);
    const page = Math.max(1, Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (Number.isNaN(index) || step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = Math.min(Math.max(step, 0), rows.length - 1);
    const top = to * ROW_HEIGHT;
    const room = scroller.clientHeight - (headRow.offsetHeight + ROW_HEIGHT);
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
    lay();
    shown.get(to)?.querySelector("button")?.focus({ preventScroll: true });
  });

  return {
    element,
    show(next) {
      rows = next;
      for (const row of shown.values()) row.remove();
      shown = new Map();
      body.replaceChildren();
      scroller.scrollTop = 0;
      table.setAttribute("aria-rowcount", String(rows.length + 1));
      count.textContent = rows.length === 0 ? `No ${what}.` : pluralize(rows.length, what);
      scroller.hidden = rows.length === 0;
      lay();
    },
  };
}

function spacer(columns: number): HTMLTableRowElement {
  return h("tr", { class: "spacer", "aria-hidden": "true" }, h("td", { colspan: columns }));
}

function setHeight(row: HTMLTableRowElement, height: number): void {
  row.hidden = height <= 0;
  const [cell] = row.cells;
  if (cell) cell.style.height = `${height}px`;
}
