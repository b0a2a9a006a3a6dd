import type { PageMember, PageMerchant } from "../page-data.ts";
import { effective, grantsOf, holdingOf, isMemberChanged, memberGroups, type Side } from "./access-model.ts";
import { type Column, dataTable } from "./data-table.ts";
import { badge, type Child, checkbox, h, mark, name, pluralize, search, select } from "./dom.ts";
import { openDialog, openMember } from "./member-dialog.ts";
import type { PanelView } from "./view-state.ts";

type Show = "both" | Side;

/** Makes the panel of members: a row for each member, a column for each role. */
export function membersPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { state } = view;
  const planned = merchant.plan !== null;
  const show = (): Show => (planned ? ((state.get("show") || "both") as Show) : "after");
  const sides = (): readonly Side[] => {
    const shown = show();
    return shown === "both" ? ["before", "after"] : [shown];
  };
  const table = dataTable({
    id: "members",
    label: "Members",
    what: "member",
    rows: merchant.members,
    columns: memberColumns(merchant, view, show),
    view,
    className: "matrix",
  });
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= merchant.members.map((member) => textOf(member, merchant));
    return texts[index] ?? "";
  };
  const groups = memberGroups(merchant, view).filter(({ is }) => is !== null);
  const indexOf = (all: readonly { readonly name: string }[], key: string): number =>
    all.findIndex(({ name }) => name === state.get(key));
  const update = (): void => {
    const words = state.get("search").toLowerCase().split(/\s+/).filter(Boolean);
    const status = state.get("status");
    const [role, permission] = [indexOf(merchant.roles, "role"), indexOf(merchant.permissions, "permission")];
    const group = groups.find(({ id }) => id === state.get("only"))?.is ?? null;
    const holdings = (member: PageMember) => sides().map((side) => holdingOf(member, side));
    const isChosen = [
      (member: PageMember) => holdings(member).some((holding) => holding !== null),
      state.get("changed") !== "" && ((member: PageMember) => isMemberChanged(member, merchant)),
      group ?? false,
      status !== "" && ((member: PageMember) => holdings(member).some((one) => one?.status === status)),
      role >= 0 && ((member: PageMember) => holdings(member).some((one) => one?.roles.includes(role))),
      permission >= 0 &&
        ((member: PageMember) =>
          sides().some((side) => effective(member, merchant, side).permissions.has(permission))),
      words.length > 0 &&
        ((_: PageMember, index: number) => words.every((word) => textAt(index).includes(word))),
    ].filter((one) => typeof one === "function");
    table.filter((member, index) => isChosen.every((is) => is(member, index)));
  };
  const control = (key: string, label: string) => ({ state, key, label, onChange: update });
  const named = (any: string, all: readonly { readonly name: string }[]) =>
    [["", any], ...all.map(({ name }) => [name, name] as const)] as const;
  const statuses = new Set(
    merchant.members.flatMap(({ before, after }) => [before?.status ?? "", after?.status ?? ""]),
  );
  statuses.delete("");
  const shows = [
    ["both", "Differences marked"],
    ["before", "Before"],
    ["after", "After"],
  ] as const;
  const controls = h(
    "div",
    { class: "filters" },
    search(control("search", "Search members"), "Name, role or permission"),
    select(
      control("only", "Only"),
      groups.map(({ id, title }) => [id, id === "all" ? "All members" : title] as const),
    ),
    select(control("role", "Role"), named("Any role", merchant.roles)),
    select(control("permission", "Permission"), named("Any permission", merchant.permissions)),
    select(
      control("status", "Status"),
      named(
        "Any status",
        [...statuses].sort().map((name) => ({ name })),
      ),
    ),
    planned ? select(control("show", "Show"), shows) : null,
    planned ? checkbox(control("changed", "Only changed members")) : null,
  );
  update();
  return h("div", {}, controls, planned ? legend() : null, table.element);
}

/** Returns the columns of members: on the screen one for each role, elsewhere one of all roles. */
function memberColumns(
  merchant: PageMerchant,
  { now }: PanelView,
  show: () => Show,
): readonly Column<PageMember>[] {
  const sidesOf = (member: PageMember) =>
    [
      holdingOf(member, show() === "after" ? "after" : "before"),
      holdingOf(member, show() === "before" ? "before" : "after"),
    ] as const;
  const statusOf = (member: PageMember): string => {
    const [before, after] = sidesOf(member);
    return after?.status ?? before?.status ?? "unknown";
  };
  const rolesOf = (member: PageMember): readonly (readonly [kind: string, sign: string, role: string])[] => {
    const [before, after] = sidesOf(member);
    const [had, has] = [new Set(before?.roles), new Set(after?.roles)];
    return [...new Set([...had, ...has])].map((index) => {
      const role = merchant.roles[index]?.name ?? "";
      if (!had.has(index)) return ["gained", "+", role];
      return has.has(index) ? ["held", "", role] : ["lost", "−", role];
    });
  };
  return [
    {
      id: "name",
      title: "Member",
      isHead: true,
      text: (member) => member.name,
      show: (member) => {
        const [before, after] = sidesOf(member);
        const status = statusOf(member);
        const opener = h("button", { type: "button", class: "open" }, name(member.name));
        opener.addEventListener("click", () => openMember(member, merchant, now));
        const badges = [
          before === null ? badge("gained", "new") : null,
          after === null ? badge("lost", "removed") : null,
          status === "accepted" || status === "declared" ? null : badge(status, status),
          ...member.notes.map((note) => badge("note", note)),
        ];
        return [h("div", { class: "who" }, opener, ...badges)];
      },
    },
    { id: "status", title: "Status", text: statusOf, only: "paper-and-file" },
    {
      id: "roles",
      title: "Roles",
      text: (member) =>
        rolesOf(member)
          .map(([, sign, role]) => (sign === "" ? role : `${sign} ${role}`))
          .join(", "),
      show: (member) =>
        rolesOf(member).flatMap(([kind, sign, role], at) => [
          at === 0 ? "" : ", ",
          sign === "" ? "" : mark(kind, sign, kind),
          name(role),
        ]),
      only: "paper-and-file",
    },
    ...merchant.roles.map(
      (role, index): Column<PageMember> => ({
        id: `role-${role.name}`,
        title: role.name,
        head: upright(role.name),
        // Those who hold it come first.
        text: (member) => (sidesOf(member).some((side) => side?.roles.includes(index)) ? "0" : "1"),
        show: (member) => {
          const [had, has] = sidesOf(member).map((side) => side?.roles.includes(index) ?? false);
          return [holdingCell(role.name, had, has, show() === "both" && role.before !== undefined)];
        },
        only: "screen",
      }),
    ),
  ];
}

function legend(): HTMLElement {
  const entry = (kind: string, symbol: string, words: string): HTMLElement =>
    h("span", {}, mark(kind, symbol, words), ` ${words}`);
  return h(
    "p",
    { class: "legend" },
    entry("held", "●", "holds"),
    entry("gained", "+", "gains"),
    entry("lost", "−", "loses"),
    entry("edited", "~", "holds; the role changes"),
  );
}

function textOf(member: PageMember, merchant: PageMerchant): string {
  const roles = new Set([...(member.before?.roles ?? []), ...(member.after?.roles ?? [])]);
  const permissions = [...roles].flatMap((index) => {
    const role = merchant.roles[index];
    const grants = role === undefined ? null : grantsOf(role, "after");
    return grants === null || grants === "unknown"
      ? []
      : grants.map((one) => merchant.permissions[one]?.name ?? "");
  });
  const names = [...roles].map((index) => merchant.roles[index]?.name ?? "");
  return [member.name, member.nickname ?? "", ...member.notes, ...names, ...permissions]
    .join("\n")
    .toLowerCase();
}

/** Makes a vertical column heading, so that many columns fit. */
function upright(text: string): HTMLElement {
  return h("span", { class: "upright", title: text }, name(text));
}

function holdingCell(role: string, had = false, has = false, edited = false): HTMLElement | string {
  if (had && has)
    return edited ? mark("edited", "~", `holds ${role}, which changes`) : mark("held", "●", `holds ${role}`);
  if (has) return mark("gained", "+", `gains ${role}`);
  return had ? mark("lost", "−", `loses ${role}`) : "";
}

/** Returns the number of holders of a role at a moment. */
function holders(merchant: PageMerchant, role: number, side: Side): string {
  return pluralize(
    merchant.members.filter((member) => holdingOf(member, side)?.roles.includes(role)).length,
    "holder",
  );
}

/** Makes the panel of roles: a row for each permission, a column for each role. */
export function rolesPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const grants = merchant.roles.map((role) => [granted(role, "before"), granted(role, "after")] as const);
  const rows = merchant.permissions.map((permission, index) => ({ ...permission, index }));
  type Row = (typeof rows)[number];
  const holds = (column: number, { index }: Row): readonly boolean[] =>
    (grants[column] ?? []).map((side) => side.has(index));
  const table = dataTable<Row>({
    id: "roles",
    label: "Which role grants which permission",
    what: "permission",
    rows,
    columns: [
      {
        id: "name",
        title: "Permission",
        isHead: true,
        text: (permission) => permission.name,
        show: (permission) => [
          h(
            "div",
            { class: "who" },
            name(permission.name),
            permission.sensitive ? badge("sensitive", "sensitive") : null,
          ),
        ],
      },
      ...merchant.roles.map(
        (role, column): Column<Row> => ({
          id: `role-${role.name}`,
          title: role.name,
          head: upright(role.name),
          text: (row) => {
            if (role.after === "unknown") return "?";
            const [had, has] = holds(column, row);
            return had ? (has ? "granted" : "− granted") : has ? "+ granted" : "";
          },
          show: (row): readonly Child[] => {
            if (role.after === "unknown") return [unknown(role.name)];
            const [had, has] = holds(column, row);
            return [grantCell(role.name, had, has)];
          },
        }),
      ),
    ],
    view,
    className: "matrix",
  });
  const { state } = view;
  const update = (): void => {
    const text = state.get("search").toLowerCase();
    table.filter((permission) => permission.name.toLowerCase().includes(text));
  };
  update();
  const silent = merchant.roles.filter((role) => role.after === "unknown").map((role) => role.name);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      search({ state, key: "search", label: "Search permissions", onChange: update }, "Part of a permission"),
    ),
    h(
      "p",
      { class: "openers" },
      "About: ",
      ...merchant.roles.flatMap((_, index) => [index === 0 ? "" : ", ", roleOpener(merchant, index)]),
    ),
    silent.length === 0
      ? null
      : h(
          "p",
          { class: "count" },
          "Roles of unknown permissions: ",
          ...silent.flatMap((one, index) => [index === 0 ? "" : ", ", name(one)]),
          ".",
        ),
    table.element,
  );
}

function granted(role: PageMerchant["roles"][number], side: Side): ReadonlySet<number> {
  const grants = grantsOf(role, side);
  return new Set(grants === null || grants === "unknown" ? [] : grants);
}

function unknown(role: string): HTMLElement {
  return mark("unknown", "?", `the permissions of ${role} are unknown`);
}

function grantCell(role: string, had = false, has = false): HTMLElement | string {
  if (had && has) return mark("held", "●", `granted by ${role}`);
  if (has) return mark("gained", "+", `${role} will grant it`);
  return had ? mark("lost", "−", `${role} will no longer grant it`) : "";
}

/** Makes a button with a role's name, which opens what is known of it. */
function roleOpener(merchant: PageMerchant, index: number): Child {
  const role = merchant.roles[index];
  if (role === undefined) return null;
  const opener = h("button", { type: "button", class: "open" }, name(role.name));
  opener.addEventListener("click", () =>
    openDialog(
      role.name,
      h("p", {}, role.about === "" ? "No description." : role.about),
      role.id === "" ? null : h("p", {}, h("code", {}, role.id)),
      h(
        "p",
        {},
        role.before !== undefined || merchant.plan !== null
          ? `${holders(merchant, index, "before")} before, ${holders(merchant, index, "after")} after.`
          : `${holders(merchant, index, "after")}.`,
      ),
    ),
  );
  return opener;
}
