import { toCsv } from "../../../lib/escape.ts";
import { byCodeUnit, naturalKey } from "../../../lib/text.ts";
import { type Child, h, name, pluralize } from "./dom.ts";
import type { PanelView } from "./view-state.ts";

/** A column: its content, its order, and its form in a spreadsheet. */
export interface Column<Row> {
  /** Name of the order in links. */
  readonly id: string;
  readonly title: string;
  /** Content of the header instead of the title. */
  readonly head?: Node;
  /** Returns the text of a cell; a formatted number such as "1,234" belongs in `show`. */
  readonly text: (row: Row) => string;
  /** Returns the content of a cell; absent: its text. */
  readonly show?: (row: Row) => readonly Child[];
  /** Returns the number to sort by; absent: by text, in natural order. Unknown values come last. */
  readonly number?: (row: Row) => number | null;
  /** Class of its cells. */
  readonly style?: string;
  /** Returns its cell of the last row, which is always visible; if no column has one, there is no such row. */
  readonly total?: () => Child;
  /** Its cells are the headers of their rows. */
  readonly isHead?: true;
  /** Restricts the column to some media; absent: it is on the screen, on paper and in CSV. */
  readonly only?: "screen" | "paper" | "file" | "screen-and-file" | "paper-and-file";
}

/** The parts of a table. */
export interface TableOptions<Row> {
  /** Name in links, and of its file. */
  readonly id: string;
  readonly label: string;
  /** A row, in the singular: "member". */
  readonly what: string;
  /** Rows, in the plural, if irregular. */
  readonly many?: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly view: PanelView;
  readonly className?: string;
  /** Its rows may have any height, and all of them are in the page. */
  readonly whole?: true;
  /**
   * The initial order, as in links: the id of a column, prefixed with "-" if the largest comes first; absent: that of
   * the rows.
   */
  readonly sorted?: string;
}

/** A table of any length that has only its visible rows in the page; on paper, it has all of them. */
export interface DataTable<Row> {
  readonly element: HTMLElement;
  /** Shows some of the rows, from the top. */
  readonly filter: (matches: (row: Row, index: number) => boolean) => void;
}

const ROW_HEIGHT = 36;
const OVERSCAN = 12;

/** Creates a table that can be sorted and saved as CSV; its rows all have the same height, except on paper. */
export function dataTable<Row>(options: TableOptions<Row>): DataTable<Row> {
  return options.view.paper ? paperTable(options) : screenTable(options);
}

function isOn({ only }: Pick<Column<never>, "only">, place: string): boolean {
  return only === undefined || only.split("-and-").includes(place);
}

function rowOf<Row>(columns: readonly Column<Row>[], row: Row): HTMLTableRowElement {
  const element = h("tr");
  for (const { isHead, style = "", text, show } of columns) {
    const content = show === undefined ? [text(row)] : show(row);
    const attributes = style === "" ? {} : { class: style };
    element.append(
      isHead ? h("th", { scope: "row", ...attributes }, ...content) : h("td", attributes, ...content),
    );
  }
  return element;
}

function totalsRow<Row>(columns: readonly Column<Row>[]): HTMLElement | null {
  if (columns.every(({ total }) => total === undefined)) return null;
  const cells = columns.map(({ total, isHead, style }) => {
    const content = total?.() ?? "";
    const attributes = style === undefined ? {} : { class: style };
    return isHead ? h("th", { scope: "row" }, content) : h("td", attributes, content);
  });
  return h("tfoot", {}, h("tr", {}, ...cells));
}

/** Creates a table for paper: all its rows, with the merchant's code above the headers, which every page repeats. */
function paperTable<Row>({
  label,
  rows,
  columns,
  view,
  className = "",
  what,
  sorted = "",
}: TableOptions<Row>): DataTable<Row> {
  const shown = columns.filter((column) => isOn(column, "paper"));
  const code = h(
    "th",
    { class: "code", colspan: shown.length, scope: "colgroup" },
    name(view.title),
    ` · ${label}`,
  );
  const heads = shown.map(({ title, head, style = "" }) =>
    h("th", { scope: "col", ...(style !== "" && { class: style }) }, head ?? title),
  );
  const body = h("tbody");
  const order = orderBy(rows, columns, sorted);
  const element = h(
    "div",
    { class: "table" },
    h(
      "table",
      { "aria-label": label, class: className },
      h("thead", {}, h("tr", {}, code), h("tr", {}, ...heads)),
      body,
      totalsRow(shown),
    ),
  );
  const filter = (matches: (row: Row, index: number) => boolean): void => {
    const matchingRows = order.flatMap((index) => {
      const row = rows[index] as Row;
      return matches(row, index) ? [row] : [];
    });
    body.replaceChildren(...matchingRows.map((row) => rowOf(shown, row)));
    if (matchingRows.length === 0) element.replaceChildren(h("p", { class: "empty" }, `No ${what}.`));
  };
  filter(() => true);
  return { element, filter };
}

function columnOf<Row>(columns: readonly Column<Row>[], value: string): Column<Row> | undefined {
  return columns.find(({ id }) => id === value.replace(/^-/, ""));
}

/** Returns the rows' indexes in the order that a link names, else as they come: by the first column. */
function orderBy<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  value: string,
): readonly number[] {
  const chosen = columnOf(columns, value);
  return chosen === undefined ? [...rows.keys()] : sortedIndexes(rows, chosen, value.startsWith("-"));
}

/** Returns the rows' indexes in the order of a column; unknown values come last in either direction. */
function sortedIndexes<Row>(
  rows: readonly Row[],
  { text, number }: Column<Row>,
  descending: boolean,
): readonly number[] {
  const sign = descending ? -1 : 1;
  if (number === undefined) {
    const keys = rows.map((row) => naturalKey(text(row)));
    const compare = (a: string, b: string): number =>
      a === "" || b === "" ? Number(a === "") - Number(b === "") : sign * byCodeUnit(a, b);
    return [...keys.keys()].sort((a, b) => compare(keys[a] ?? "", keys[b] ?? ""));
  }
  const keys = rows.map(number);
  const compare = (a: number | null, b: number | null): number =>
    a === null || b === null ? Number(a === null) - Number(b === null) : sign * (a - b);
  return [...keys.keys()].sort((a, b) => compare(keys[a] ?? null, keys[b] ?? null));
}

/** Kept until the next one, since a browser may read it after the click. */
let saved = "";

/** Offers rows as a file, which is created in the page, without a request. */
function saveCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[], file: string): void {
  const written = columns.filter((column) => isOn(column, "file"));
  const text = toCsv(
    written.map(({ title }) => title),
    rows.map((row) => written.map((column) => column.text(row))),
  );
  // Without the byte order mark, spreadsheets do not recognize UTF-8.
  URL.revokeObjectURL(saved);
  saved = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  const link = h("a", { href: saved, download: `${file.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")}.csv` });
  link.click();
}

function screenTable<Row>(options: TableOptions<Row>): DataTable<Row> {
  const { id, label, what, many, rows, columns, view, className = "", sorted = "", whole } = options;
  const shown = columns.filter((column) => isOn(column, "screen"));
  const body = h("tbody");
  const before = spacer(shown.length);
  const after = spacer(shown.length);
  const headRow = h("tr", { "aria-rowindex": 1 });
  const table = h("table", { "aria-label": label }, h("thead", {}, headRow), body);
  const totals = totalsRow(shown);
  if (totals !== null) table.append(totals);
  const scroller = h(
    "div",
    { class: `scroll ${className}`, tabindex: 0, role: "region", "aria-label": label },
    table,
  );
  const count = h("p", { class: "count", role: "status" });
  const csv = h("button", { type: "button", class: "csv", "aria-label": `${label}, as CSV` }, "CSV");
  const element = h("div", { class: "table" }, h("div", { class: "table-bar" }, count, csv), scroller);

  let matches: (row: Row, index: number) => boolean = () => true;
  let order: readonly number[] = [...rows.keys()];
  let matchingRows: readonly Row[] = rows;
  let laid = new Map<number, HTMLTableRowElement>();

  const rowAt = (index: number): HTMLTableRowElement => {
    const element = laid.get(index);
    if (element) return element;
    const row = rowOf(shown, matchingRows[index] as Row);
    row.setAttribute("aria-rowindex", String(index + 2));
    row.dataset["index"] = String(index);
    return row;
  };

  /** Returns the range of visible rows, with some around them. */
  const inSight = (): readonly [first: number, last: number] => {
    if (whole) return [0, matchingRows.length];
    const height = scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - OVERSCAN);
    return [first, Math.min(matchingRows.length, first + Math.ceil(height / ROW_HEIGHT) + 2 * OVERSCAN)];
  };

  const remove = (row: HTMLTableRowElement): void => {
    if (row.contains(document.activeElement)) scroller.focus({ preventScroll: true });
    row.remove();
  };

  const lay = (): void => {
    const [first, last] = inSight();
    const inView = new Map<number, HTMLTableRowElement>();
    for (let index = first; index < last; index += 1) inView.set(index, rowAt(index));
    if (!body.contains(before)) body.replaceChildren(before, after);
    setHeight(before, first * ROW_HEIGHT);
    setHeight(after, (matchingRows.length - last) * ROW_HEIGHT);
    // Other rows are not touched, so that the focus stays.
    for (const [index, row] of laid) if (!inView.has(index)) remove(row);
    let place: Element = before;
    for (const row of inView.values()) {
      if (place.nextElementSibling !== row) place.after(row);
      place = row;
    }
    laid = inView;
  };

  const show = (): void => {
    matchingRows = order.flatMap((index) => {
      const row = rows[index] as Row;
      return matches(row, index) ? [row] : [];
    });
    for (const row of laid.values()) row.remove();
    laid = new Map();
    body.replaceChildren();
    scroller.scrollTop = 0;
    table.setAttribute("aria-rowcount", String(matchingRows.length + 1));
    count.textContent =
      matchingRows.length === 0 ? `No ${what}.` : pluralize(matchingRows.length, what, many);
    scroller.hidden = matchingRows.length === 0;
    csv.hidden = matchingRows.length === 0;
    lay();
  };

  const sort = (): void => {
    const value = view.state.get(`${id}-sort`) || sorted;
    const descending = value.startsWith("-");
    const chosen = columnOf(shown, value);
    order = orderBy(rows, shown, value);
    for (const [index, cell] of [...headRow.cells].entries()) {
      if (shown[index] !== (chosen ?? shown[0])) cell.removeAttribute("aria-sort");
      else cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    }
  };

  for (const column of shown) {
    const button = h("button", { type: "button", class: "sort" }, column.head ?? column.title);
    const cell = h(
      "th",
      { scope: "col", ...(column.style !== undefined && { class: column.style }) },
      button,
    );
    button.addEventListener("click", () => {
      const now = cell.getAttribute("aria-sort");
      // Numbers are sorted in descending order first.
      const descending = now === null ? column.number !== undefined : now === "ascending";
      view.state.set(`${id}-sort`, `${descending ? "-" : ""}${column.id}`);
      sort();
      show();
    });
    headRow.append(cell);
  }
  csv.addEventListener("click", () => saveCsv(columns, matchingRows, `${view.title}-${id}`));

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

  /** Moves the focus between rows with the up and down keys, including to rows that are not in the page yet. */
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
      End: matchingRows.length - 1,
    };
    const step = steps[event.key];
    if (Number.isNaN(index) || step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = Math.min(Math.max(step, 0), matchingRows.length - 1);
    const top = whole ? (laid.get(to)?.offsetTop ?? 0) : to * ROW_HEIGHT;
    const room = scroller.clientHeight - (headRow.offsetHeight + ROW_HEIGHT);
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
    lay();
    laid.get(to)?.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
  });

  sort();
  show();
  return {
    element,
    filter(next) {
      matches = next;
      show();
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
