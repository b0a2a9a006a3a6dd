import type { PageMerchant } from "../page-data.ts";
import { grantsOf, holdersAt, permissionImpacts, type Side } from "./access-model.ts";
import { type Column, dataTable } from "./data-table.ts";
import { badge, type Child, h, mark, name, pluralize, search } from "./dom.ts";
import { openPeople } from "./member-dialog.ts";
import type { PanelView } from "./view-state.ts";

/** Maximum number of columns that fit on a sheet of paper; with more roles, they are listed. */
const ROLES_ON_PAPER = 24;

/** A permission with the number of people who have it. */
interface Row {
  readonly name: string;
  readonly sensitive: boolean;
  readonly index: number;
  readonly before: number;
  readonly after: number;
}

/** Makes the heat map of roles: a row for each permission, a column for each role, a number of people in each cell. */
export function rolesPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { roles, permissions } = merchant;
  const [before, after] = [holdersAt(merchant, "before"), holdersAt(merchant, "after")];
  const grants = roles.map((role) => [granted(role, "before"), granted(role, "after")] as const);
  const largest = Math.max(1, ...[...before.byRole, ...after.byRole].map(({ length }) => length));
  const rows = permissions
    .map(
      (permission, index): Row => ({
        ...permission,
        index,
        before: before.byPermission[index]?.length ?? 0,
        after: after.byPermission[index]?.length ?? 0,
      }),
    )
    .sort((a, b) => Number(b.sensitive) - Number(a.sensitive) || b.after - a.after);
  const people = (title: string, about: string, indexes: readonly number[] = []): void =>
    openPeople(title, about, indexes, merchant, view.now);

  const cellOf = (column: number, { index }: Row): Cell | null => {
    const [had, has] = [grants[column]?.[0].has(index) ?? false, grants[column]?.[1].has(index) ?? false];
    const [holdersBefore, holdersAfter] = [before.byRole[column] ?? [], after.byRole[column] ?? []];
    if (has) return { kind: had ? "held" : "gained", sign: had ? "" : "+", people: holdersAfter };
    return had ? { kind: "lost", sign: "−", people: holdersBefore } : null;
  };
  const isWide = roles.length > ROLES_ON_PAPER;
  const listColumn: Column<Row> = {
    id: "roles",
    title: "Roles",
    text: (row) =>
      roles
        .flatMap((role, column) => {
          const cell = cellOf(column, row);
          return cell === null ? [] : `${cell.sign}${role.name} (${cell.people.length})`;
        })
        .join(", "),
    style: "list",
    only: "paper",
  };
  const roleColumns = roles.map(
    (role, column): Column<Row> => ({
      id: `role-${role.name}`,
      title: role.name,
      head: h("span", { class: "upright", title: role.name }, name(role.name)),
      number: (row) => cellOf(column, row)?.people.length ?? null,
      text: (row) => {
        if (role.after === "unknown") return "?";
        const cell = cellOf(column, row);
        return cell === null ? "" : `${cell.sign}${cell.people.length}`;
      },
      show: (row) => {
        if (role.after === "unknown")
          return [mark("unknown", "?", `the permissions of ${role.name} are unknown`)];
        const cell = cellOf(column, row);
        if (cell === null) return [];
        return [
          tintedCell(cell, { row, role: role.name, largest }, () =>
            people(row.name, `${CELL_WORDS[cell.kind]} ${role.name}`, cell.people),
          ),
        ];
      },
      ...(isWide && { only: "screen-and-file" }),
    }),
  );
  const table = dataTable<Row>({
    id: "roles",
    label: "Which role grants which permission, and to how many people",
    what: "permission",
    rows,
    sorted: "-sensitive",
    columns: [
      {
        id: "name",
        title: "Permission",
        isHead: true,
        text: (row) => row.name,
        show: (row) => [
          opener(row.name, () => openPermission(row, merchant, view.now, after.byPermission[row.index])),
        ],
        total: () => "People",
      },
      {
        id: "sensitive",
        title: "Sensitive",
        number: ({ sensitive }) => Number(sensitive),
        text: ({ sensitive }) => (sensitive ? "sensitive" : ""),
        show: ({ sensitive }) => [sensitive ? badge("sensitive", "sensitive") : ""],
        style: "wide",
      },
      {
        id: "people",
        title: "People",
        number: (row) => row.after,
        text: (row) => String(row.after),
        show: (row) => [peopleText(row)],
        style: "wide number",
      },
      ...(isWide ? [listColumn] : []),
      ...roleColumns.map((column, index) => ({
        ...column,
        total: () => roleTotal(merchant, index, after.byRole[index] ?? [], people),
      })),
    ],
    view,
    className: "matrix",
  });
  moveSideways(table.element);
  const { state } = view;
  const update = (): void => {
    const text = state.get("search").toLowerCase();
    table.filter((permission) => permission.name.toLowerCase().includes(text));
  };
  update();
  const silent = roles.filter((role) => role.after === "unknown").map((role) => role.name);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      search({ state, key: "search", label: "Search permissions", onChange: update }, "Part of a permission"),
    ),
    permissions.length === 0 ? null : legend(merchant.plan !== null),
    silent.length === 0
      ? null
      : h(
          "p",
          { class: "count" },
          "Roles with unknown permissions, not included in these numbers: ",
          ...silent.flatMap((role, index) => [index === 0 ? "" : ", ", name(role)]),
          ".",
        ),
    table.element,
  );
}

/** A cell of the map: who holds the role that grants, will grant, or no longer grants a permission. */
interface Cell {
  readonly kind: keyof typeof CELL_WORDS;
  readonly sign: string;
  readonly people: readonly number[];
}

const CELL_WORDS = {
  held: "Have it through",
  gained: "Will have it through",
  lost: "Will no longer have it through",
} as const;

function tintedCell(
  { kind, sign, people }: Cell,
  { row, role, largest }: { readonly row: Row; readonly role: string; readonly largest: number },
  onClick: () => void,
): HTMLElement {
  const words = `${pluralize(people.length, "person", "people")} ${kind === "held" ? "" : `(${kind}) `}through ${role}`;
  const tone =
    kind === "held" ? `${row.sensitive ? "hot" : "cool"} level-${level(people.length, largest)}` : kind;
  const cell = h(
    "button",
    { type: "button", class: `tint ${tone}`, tabindex: -1, "aria-label": words, title: words },
    `${sign}${people.length.toLocaleString("en-US")}`,
  );
  cell.addEventListener("click", onClick);
  return cell;
}

/** Returns one of four colour intensities, on a logarithmic scale: a tenfold number is about one level more. */
function level(count: number, largest: number): number {
  if (count === 0) return 0;
  return 1 + Math.round((3 * Math.log(count)) / Math.max(Math.log(largest), 1));
}

function peopleText({ before, after }: Row): HTMLElement | string {
  const text = after.toLocaleString("en-US");
  if (before === after) return text;
  const change = after - before;
  const sign = change > 0 ? "+" : "−";
  return h(
    "span",
    {},
    text,
    " ",
    h("span", { class: `diff ${change > 0 ? "gained" : "lost"}` }, `${sign}${Math.abs(change)}`),
  );
}

function opener(text: string, onClick: () => void): HTMLElement {
  const button = h("button", { type: "button", class: "open" }, name(text));
  button.addEventListener("click", onClick);
  return h("div", { class: "who" }, button);
}

function legend(planned: boolean): HTMLElement {
  const sample = (tone: string, words: string): HTMLElement =>
    h("span", {}, h("span", { class: `tint ${tone}`, "aria-hidden": "true" }, "3"), ` ${words}`);
  return h(
    "p",
    { class: "legend" },
    sample("hot level-3", "people with a sensitive permission through the role"),
    sample("cool level-3", "with another one"),
    planned ? sample("gained", "the role will grant it") : null,
    planned ? sample("lost", "it will no longer") : null,
  );
}

/** Moves the focus between the cells of a row with the left and right keys. */
function moveSideways(element: HTMLElement): void {
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    if (step === undefined || row === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...row.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(event.target as HTMLButtonElement) + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "center" });
  });
}

function granted(role: PageMerchant["roles"][number], side: Side): ReadonlySet<number> {
  const grants = grantsOf(role, side);
  return new Set(grants === null || grants === "unknown" ? [] : grants);
}

function openPermission(row: Row, merchant: PageMerchant, now: number, people: readonly number[] = []): void {
  const roles = merchant.roles
    .filter((role) => granted(role, "after").has(row.index))
    .map((role) => role.name);
  const through = roles.length === 0 ? "No role grants it." : `Granted by ${roles.join(", ")}.`;
  openPeople(row.name, row.sensitive ? `A sensitive permission. ${through}` : through, people, merchant, now);
}

/** Creates a button with the number of people with a role, which opens the details of the role. */
function roleTotal(
  { roles }: PageMerchant,
  index: number,
  holders: readonly number[],
  openList: (title: string, about: string, people: readonly number[]) => void,
): Child {
  const role = roles[index];
  if (role === undefined) return null;
  const about = [role.about, role.id].filter((text) => text !== "").join(" · ");
  const button = h(
    "button",
    {
      type: "button",
      class: "open",
      "aria-label": `About ${role.name}: ${pluralize(holders.length, "person", "people")}`,
    },
    holders.length.toLocaleString("en-US"),
  );
  button.addEventListener("click", () =>
    openList(role.name, about === "" ? "No description." : about, holders),
  );
  return button;
}

const IMPACTS_SHOWN = 12;

/** Makes a diverging bar for each permission that people gain or lose by the plan; `null` if nobody does. */
export function impactBars(merchant: PageMerchant, { now, paper }: PanelView): HTMLElement | null {
  const impacts = permissionImpacts(merchant);
  if (impacts.length === 0) return null;
  const largest = Math.max(...impacts.flatMap(({ gained, lost }) => [gained.length, lost.length]));
  const side = (people: readonly number[], kind: "gained" | "lost", permission: string): HTMLElement => {
    const cell = h("td", { class: "number" });
    if (people.length === 0) return cell;
    const words = kind === "gained" ? "gain" : "lose";
    const text = `${kind === "gained" ? "+" : "−"}${people.length.toLocaleString("en-US")}`;
    const title = namesOf(people, merchant);
    const button = h("button", { type: "button", class: `open diff ${kind}`, title }, text);
    button.addEventListener("click", () =>
      openPeople(
        permission,
        `${pluralize(people.length, "person", "people")} would ${words} it.`,
        people,
        merchant,
        now,
      ),
    );
    cell.append(button);
    return cell;
  };
  const rows = impacts.map(({ permission: index, gained, lost }, rank) => {
    const permission = merchant.permissions[index];
    const bar = (count: number, kind: string): HTMLElement => {
      const element = h("span", { class: `part ${kind}` });
      element.style.width = `${(count / largest) * 50}%`;
      return element;
    };
    return h(
      "tr",
      { hidden: !paper && rank >= IMPACTS_SHOWN },
      h(
        "th",
        { scope: "row" },
        h(
          "div",
          { class: permission?.sensitive ? "who is-sensitive" : "who" },
          name(permission?.name ?? ""),
          permission?.sensitive ? badge("sensitive", "sensitive") : null,
        ),
      ),
      side(lost, "lost", permission?.name ?? ""),
      h(
        "td",
        { class: "diverging", "aria-hidden": "true" },
        bar(lost.length, "lost"),
        bar(gained.length, "gained"),
      ),
      side(gained, "gained", permission?.name ?? ""),
    );
  });
  const more = impacts.length - IMPACTS_SHOWN;
  const showAll = h("button", { type: "button", class: "more" }, `Show all ${impacts.length} permissions`);
  showAll.addEventListener("click", () => {
    for (const row of rows) row.hidden = false;
    showAll.remove();
  });
  return h(
    "section",
    { class: "block impact" },
    h("h3", {}, "Permissions gained and lost"),
    h(
      "table",
      { class: "bars" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Permission"),
          h("th", { scope: "col", class: "number" }, "Lose it"),
          h("td", {}),
          h("th", { scope: "col", class: "number" }, "Gain it"),
        ),
      ),
      h("tbody", {}, ...rows),
    ),
    more > 0 && !paper ? showAll : null,
  );
}

const NAMES_SHOWN = 5;

function namesOf(indexes: readonly number[], { members }: PageMerchant): string {
  const names = indexes.slice(0, NAMES_SHOWN).map((index) => members[index]?.name ?? "");
  const more = indexes.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more.toLocaleString("en-US")} more` : names.join(", ");
}
