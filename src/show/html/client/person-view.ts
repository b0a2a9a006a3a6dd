import { sortNaturally } from "../../../lib/text.ts";
import type { PageData, PageMember, PageMerchant } from "../page-data.ts";
import { effective, holdingOf, type MfaState, memberGroups, mfaOf } from "./access-model.ts";
import { dataTable } from "./data-table.ts";
import { badge, h, name, pluralize, search } from "./dom.ts";
import { inDays, openMember } from "./member-dialog.ts";
import { linkTo, type PanelView } from "./view-state.ts";

/** A person, by address, with its memberships at all merchants. */
export interface Person {
  readonly name: string;
  readonly at: readonly { readonly merchant: PageMerchant; readonly member: PageMember }[];
}

/** Returns all people of all merchants, in natural order, by address in lower case. */
export function peopleOf({ merchants }: PageData): ReadonlyMap<string, Person> {
  const people = new Map<string, { name: string; at: { merchant: PageMerchant; member: PageMember }[] }>();
  for (const merchant of merchants) {
    for (const member of merchant.members) {
      // The access in the files has ended.
      if (holdingOf(member, "before") === null && member.after === null) continue;
      const key = member.name.toLowerCase();
      const person = people.get(key);
      if (person) person.at.push({ merchant, member });
      else people.set(key, { name: member.name, at: [{ merchant, member }] });
    }
  }
  return new Map(sortNaturally([...people], ([key]) => key));
}

/** Makes the list of all people, with a search. */
export function peoplePanel(
  people: ReadonlyMap<string, Person>,
  data: PageData,
  view: PanelView,
): HTMLElement {
  const { state } = view;
  const administrators = new Map(
    data.merchants.map((merchant) => [
      merchant,
      memberGroups(merchant, data).find(({ id }) => id === "administrators")?.is ?? (() => false),
    ]),
  );
  const rows = [...people].map(([key, person]) => ({
    ...person,
    roles: [...new Set(person.at.flatMap((membership) => rolesOf(membership)))],
    runs: person.at.filter(({ merchant, member }) => administrators.get(merchant)?.(member)).length,
    text: "",
    key,
  }));
  type Row = (typeof rows)[number];
  const table = dataTable<Row>({
    id: "people",
    label: "People",
    what: "person",
    many: "people",
    rows,
    columns: [
      {
        id: "name",
        title: "Person",
        isHead: true,
        text: (person) => person.name,
        show: (person) => [h("a", { href: linkTo({ person: person.name }) }, name(person.name))],
      },
      {
        id: "merchants",
        title: "Merchants",
        style: "number",
        number: ({ at }) => at.length,
        text: ({ at }) => String(at.length),
      },
      {
        id: "administrator",
        title: "Administrator at",
        style: "number",
        number: ({ runs }) => runs,
        text: ({ runs }) => (runs === 0 ? "" : String(runs)),
      },
      {
        id: "roles",
        title: "Roles",
        style: "clip",
        text: ({ roles }) => roles.join(", "),
      },
    ],
    view,
  });
  const texts = rows.map(({ key, roles }) => `${key}\n${roles.join("\n").toLowerCase()}`);
  const update = (): void => {
    const words = state.get("search").toLowerCase().split(/\s+/).filter(Boolean);
    table.filter((_, index) => words.every((word) => texts[index]?.includes(word)));
  };
  update();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      search({ state, key: "search", label: "Search people", onChange: update }, "Name or role"),
    ),
    table.element,
  );
}

function rolesOf({ merchant, member }: Person["at"][number]): readonly string[] {
  return ((member.after ?? member.before)?.roles ?? []).map((index) => merchant.roles[index]?.name ?? "");
}

const MFA: Readonly<Record<MfaState, string>> = { yes: "yes", no: "no", none: "", unknown: "unknown" };

/** Makes the view of a person at all merchants: the roles, their ends, and the permissions. */
export function personPanel({ at: memberships }: Person, view: PanelView): HTMLElement {
  const { now } = view;
  type Row = Person["at"][number];
  const endsOf = ({ member: { ends = [] } }: Row): string =>
    ends
      .map((end) => `${end.role === null ? "" : `${end.role}: `}${end.text} (${inDays(end.ends, now)})`)
      .join(", ");
  const statusOf = ({ member: { before, after } }: Row): string =>
    after?.status ?? `removed by the plan; ${before?.status ?? "unknown"}`;
  const table = dataTable<Row>({
    id: "memberships",
    label: "Memberships",
    what: "merchant",
    rows: memberships,
    columns: [
      {
        id: "name",
        title: "Merchant",
        isHead: true,
        text: ({ merchant }) => merchant.code,
        show: ({ merchant, member }) => {
          const href = linkTo({ merchant: merchant.code, tab: "members", search: member.name });
          return [h("a", { href }, name(merchant.code))];
        },
      },
      { id: "status", title: "Status", text: statusOf },
      {
        id: "roles",
        title: "Roles",
        text: (row) => rolesOf(row).join(", "),
        show: (row) => rolesOf(row).flatMap((role, index) => [index === 0 ? "" : ", ", name(role)]),
      },
      {
        id: "ends",
        title: "Until",
        number: ({ member: { ends = [] } }) =>
          ends.length === 0 ? null : Math.min(...ends.map((end) => end.ends)),
        text: endsOf,
      },
      { id: "mfa", title: "MFA", text: ({ member }) => MFA[mfaOf(member)] },
      {
        id: "details",
        title: "Details",
        only: "screen",
        text: () => "",
        show: ({ merchant, member }) => {
          const button = h("button", { type: "button", class: "open" }, "Why");
          button.setAttribute("aria-label", `What ${member.name} may do at ${merchant.code}, and why`);
          button.addEventListener("click", () => openMember(member, merchant, now));
          return [button];
        },
      },
    ],
    view,
  });
  return h(
    "div",
    {},
    h("p", { class: "facts" }, `A member of ${pluralize(memberships.length, "merchant")}`),
    table.element,
    h("h3", {}, "Permissions from roles"),
    permissionsTable(memberships, view),
  );
}

/** Makes the table of a person's permissions, with the merchants and roles that grant them. */
function permissionsTable(memberships: Person["at"], view: PanelView): HTMLElement {
  const permissions = new Map<string, { sensitive: boolean; merchants: string[]; roles: Set<string> }>();
  for (const { merchant, member } of memberships) {
    for (const [index, roles] of effective(member, merchant, "after").permissions) {
      const { name: permission = "", sensitive = false } = merchant.permissions[index] ?? {};
      const permit = permissions.get(permission) ?? { sensitive, merchants: [], roles: new Set<string>() };
      permit.merchants.push(merchant.code);
      for (const role of roles) permit.roles.add(merchant.roles[role]?.name ?? "");
      permissions.set(permission, permit);
    }
  }
  const rows = sortNaturally([...permissions], ([permission]) => permission).map(([permission, permit]) => ({
    permission,
    ...permit,
  }));
  type Row = (typeof rows)[number];
  const everywhere = ({ merchants }: Row): boolean =>
    memberships.length > 1 && merchants.length === memberships.length;
  return dataTable<Row>({
    id: "permissions",
    label: "Permissions",
    what: "permission",
    rows,
    columns: [
      {
        id: "name",
        title: "Permission",
        isHead: true,
        text: ({ permission }) => permission,
        show: ({ permission, sensitive }) => [
          h("div", { class: "who" }, name(permission), sensitive ? badge("sensitive", "sensitive") : null),
        ],
      },
      {
        id: "sensitive",
        title: "Sensitive",
        only: "file",
        text: ({ sensitive }) => (sensitive ? "yes" : ""),
      },
      {
        id: "merchants",
        title: "Merchants",
        style: "clip",
        number: ({ merchants }) => merchants.length,
        text: ({ merchants }) => merchants.join(", "),
        show: (row) => [everywhere(row) ? `all ${row.merchants.length}` : row.merchants.join(", ")],
      },
      { id: "roles", title: "Through", text: ({ roles }) => [...roles].join(", ") },
    ],
    view,
  }).element;
}
