import type { PageMember, PageMerchant } from "../page-data.ts";
import { effective, grantsOf, holdingOf, isMemberChanged, type Side } from "./access-model.ts";
import { badge, h, mark, name, pluralize, type RowMaker, search, select, virtualTable } from "./dom.ts";
import { openDialog, openMember } from "./member-dialog.ts";

type Show = "both" | Side;

/** Makes the panel of members: a row for each member, a column for each role. */
export function membersPanel(merchant: PageMerchant, now: number): HTMLElement {
  const filter = { text: "", status: "", role: "", permission: "", show: "both" as Show, changed: false };
  const table = virtualTable({
    label: "Who holds which role",
    heads: ["Member", ...merchant.roles.map((role) => upright(role.name))],
    what: "member",
    className: "matrix",
  });
  const texts = merchant.members.map((member) => textOf(member, merchant));
  const planned = merchant.plan !== null;
  const sides = (): readonly Side[] =>
    !planned ? ["after"] : filter.show === "both" ? ["before", "after"] : [filter.show];
  const matches = (member: PageMember, index: number): boolean => {
    const holdings = sides().map((side) => holdingOf(member, side));
    if (holdings.every((holding) => holding === null)) return false;
    if (filter.changed && !isMemberChanged(member, merchant)) return false;
    if (filter.text !== "" && !filter.text.split(/\s+/).every((word) => texts[index]?.includes(word)))
      return false;
    if (filter.status !== "" && !holdings.some((holding) => holding?.status === filter.status)) return false;
    if (filter.role !== "" && !holdings.some((holding) => holding?.roles.includes(Number(filter.role))))
      return false;
    if (filter.permission === "") return true;
    return sides().some((side) =>
      effective(member, merchant, side).permissions.has(Number(filter.permission)),
    );
  };
  const update = (): void => {
    const rows = merchant.members.filter(matches).map(
      (member): RowMaker =>
        () =>
          memberRow(member, merchant, filter.show, now),
    );
    table.show(rows);
  };
  const set = (change: Partial<typeof filter>): void => {
    Object.assign(filter, change);
    update();
  };
  const statuses = new Set(
    merchant.members.flatMap(({ before, after }) => [before?.status ?? "", after?.status ?? ""]),
  );
  const controls = h(
    "div",
    { class: "filters" },
    search("Search members", "Name, role or permission", (text) => set({ text })),
    select(
      "Role",
      [["", "Any role"], ...merchant.roles.map((role, index) => [String(index), role.name] as const)],
      (role) => set({ role }),
    ),
    select(
      "Permission",
      [
        ["", "Any permission"],
        ...merchant.permissions.map((one, index) => [String(index), one.name] as const),
      ],
      (permission) => set({ permission }),
    ),
    select(
      "Status",
      [
        ["", "Any status"],
        ...[...statuses]
          .filter((one) => one !== "")
          .sort()
          .map((one) => [one, one] as const),
      ],
      (status) => set({ status }),
    ),
    planned
      ? select(
          "Show",
          [
            ["both", "Differences marked"],
            ["before", "Before"],
            ["after", "After"],
          ],
          (show) => set({ show: show as Show }),
        )
      : null,
    planned ? onlyChanged((changed) => set({ changed })) : null,
  );
  update();
  return h("div", {}, controls, planned ? legend() : null, table.element);
}

function onlyChanged(onChange: (checked: boolean) => void): HTMLElement {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => onChange(box.checked));
  return h("label", { class: "check" }, box, "Only changed members");
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

function memberRow(member: PageMember, merchant: PageMerchant, show: Show, now: number): HTMLTableRowElement {
  const [before, after] = [
    holdingOf(member, show === "after" ? "after" : "before"),
    holdingOf(member, show === "before" ? "before" : "after"),
  ];
  const opener = h("button", { type: "button", class: "open" }, name(member.name));
  opener.addEventListener("click", () => openMember(member, merchant, now));
  const status = after?.status ?? before?.status ?? "unknown";
  const head = h(
    "th",
    { scope: "row" },
    h(
      "div",
      { class: "who" },
      opener,
      before === null ? badge("gained", "new") : null,
      after === null ? badge("lost", "removed") : null,
      status === "accepted" || status === "declared" ? null : badge(status, status),
      ...member.notes.map((note) => badge("note", note)),
    ),
  );
  const row = h("tr", {}, head);
  merchant.roles.forEach((role, index) => {
    const [had, has] = [before?.roles.includes(index) ?? false, after?.roles.includes(index) ?? false];
    row.append(h("td", {}, holdingCell(role.name, had, has, show === "both" && role.before !== undefined)));
  });
  return row;
}

function holdingCell(role: string, had: boolean, has: boolean, edited: boolean): HTMLElement | string {
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
export function rolesPanel(merchant: PageMerchant): HTMLElement {
  const table = virtualTable({
    label: "Which role grants which permission",
    heads: ["Permission", ...merchant.roles.map((_, index) => roleHead(merchant, index))],
    what: "permission",
    className: "matrix",
  });
  const grants = merchant.roles.map((role) => [granted(role, "before"), granted(role, "after")] as const);
  const update = (text: string): void => {
    const rows = merchant.permissions
      .map((permission, index) => ({ permission, index }))
      .filter(({ permission }) => permission.name.toLowerCase().includes(text))
      .map(
        ({ permission, index }): RowMaker =>
          () => {
            const head = h(
              "th",
              { scope: "row" },
              h(
                "div",
                { class: "who" },
                name(permission.name),
                permission.sensitive ? badge("sensitive", "sensitive") : null,
              ),
            );
            const row = h("tr", {}, head);
            merchant.roles.forEach((role, column) => {
              const [had, has] = [
                grants[column]?.[0].has(index) ?? false,
                grants[column]?.[1].has(index) ?? false,
              ];
              row.append(
                h("td", {}, role.after === "unknown" ? unknown(role.name) : grantCell(role.name, had, has)),
              );
            });
            return row;
          },
      );
    table.show(rows);
  };
  update("");
  const silent = merchant.roles.filter((role) => role.after === "unknown").map((role) => role.name);
  return h(
    "div",
    {},
    h("div", { class: "filters" }, search("Search permissions", "Part of a permission", update)),
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

function grantCell(role: string, had: boolean, has: boolean): HTMLElement | string {
  if (had && has) return mark("held", "●", `granted by ${role}`);
  if (has) return mark("gained", "+", `${role} will grant it`);
  return had ? mark("lost", "−", `${role} will no longer grant it`) : "";
}

function roleHead(merchant: PageMerchant, index: number): Node {
  const role = merchant.roles[index];
  if (role === undefined) return document.createTextNode("");
  const opener = h("button", { type: "button", class: "open" }, upright(role.name));
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
