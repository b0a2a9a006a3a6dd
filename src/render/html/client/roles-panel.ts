import type { PageMerchant } from "../page-data.ts";
import { badge, h, mark, name, search } from "./dom.ts";
import { openDialog } from "./member-dialog.ts";
import { holders, upright } from "./members-panel.ts";
import { grantsOf, type Side } from "./page-access.ts";
import { type RowMaker, virtualTable } from "./virtual-table.ts";

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
                h("td", {}, role.after === "unknown" ? unknown(role.name) : cell(role.name, had, has)),
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

function cell(role: string, had: boolean, has: boolean): HTMLElement | string {
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
