import type { PageMember, PageMerchant } from "../page-data.ts";
import {
  effective,
  grantsOf,
  holdingOf,
  isMemberChanged,
  type MemberReach,
  type MfaState,
  memberGroups,
  mfaOf,
  NOT_IN_FILES,
  type Side,
  sensitivities,
} from "./access-model.ts";
import { type Column, dataTable } from "./data-table.ts";
import { badge, checkbox, h, mark, name, search, select } from "./dom.ts";
import { openMember } from "./member-dialog.ts";
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
    // On paper it has one column of all roles.
    className: view.paper ? "" : "matrix",
  });
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= searchTexts(merchant);
    return texts[index] ?? "";
  };
  const groups = memberGroups(merchant, view).filter(({ is }) => is !== null);
  const indexOf = (items: readonly { readonly name: string }[], key: string): number =>
    items.findIndex(({ name }) => name === state.get(key));
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
      status !== "" &&
        ((member: PageMember) => holdings(member).some((holding) => holding?.status === status)),
      role >= 0 &&
        ((member: PageMember) => holdings(member).some((holding) => holding?.roles.includes(role))),
      permission >= 0 &&
        ((member: PageMember) =>
          sides().some((side) => effective(member, merchant, side).permissions.has(permission))),
      words.length > 0 &&
        ((_: PageMember, index: number) => words.every((word) => textAt(index).includes(word))),
    ].filter((condition) => typeof condition === "function");
    table.filter((member, index) => isChosen.every((condition) => condition(member, index)));
  };
  const control = (key: string, label: string) => ({ state, key, label, onChange: update });
  const nameOptions = (any: string, items: readonly { readonly name: string }[]) =>
    [["", any], ...items.map(({ name }) => [name, name] as const)] as const;
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
    select(control("role", "Role"), nameOptions("Any role", merchant.roles)),
    select(control("permission", "Permission"), nameOptions("Any permission", merchant.permissions)),
    select(
      control("status", "Status"),
      nameOptions(
        "Any status",
        [...statuses].sort().map((name) => ({ name })),
      ),
    ),
    planned ? select(control("show", "Show"), shows) : null,
    planned ? checkbox(control("changed", "Only changed members")) : null,
  );
  // Before the first key press, which then does not have to wait for them.
  controls.addEventListener("focusin", () => textAt(0));
  update();
  return h("div", {}, controls, planned ? legend() : null, table.element);
}

/** Returns the columns of members: on the screen, one for each role; elsewhere, one for all roles. */
function memberColumns(
  merchant: PageMerchant,
  { now, about }: PanelView,
  show: () => Show,
): readonly Column<PageMember>[] {
  const sensitivityAt = {
    before: sensitivities(merchant, "before"),
    after: sensitivities(merchant, "after"),
  };
  const sensitivity = (member: PageMember): MemberReach =>
    sensitivityAt[show() === "before" || holdingOf(member, "after") === null ? "before" : "after"](member);
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
          ...(member.notes ?? []).map((note) => badge("note", note)),
        ];
        return [h("div", { class: "who" }, opener, ...badges)];
      },
    },
    { id: "status", title: "Status", text: statusOf, style: "wide", only: "paper-and-file" },
    {
      id: "mfa",
      title: "MFA",
      text: (member) => MFA_WORDS[mfaOf(member)],
      show: (member) => [mfaBadge(mfaOf(member), about)],
      style: "wide",
    },
    {
      id: "sensitive",
      title: "Sensitive",
      number: (member) => rankOf(sensitivity(member)),
      text: (member) => sensitivityText(sensitivity(member)),
      show: (member) => {
        const much = sensitivity(member);
        const kind = much.administrator ? "expired" : much.sensitive > 0 ? "sensitive" : "";
        const text = sensitivityText(much);
        return [kind === "" ? h("span", { class: "soft" }, text) : badge(kind, text)];
      },
      style: "wide",
    },
    {
      id: "roles",
      title: "Roles",
      text: (member) =>
        rolesOf(member)
          .map(([, sign, role]) => (sign === "" ? role : `${sign} ${role}`))
          .join(", "),
      show: (member) =>
        rolesOf(member).flatMap(([kind, sign, role], index) => [
          index === 0 ? "" : ", ",
          sign === "" ? "" : mark(kind, sign, kind),
          name(role),
        ]),
      style: "list",
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

const MFA_WORDS = { yes: "yes", no: "no", unknown: "not known", none: "no login" } as const;

function mfaBadge(mfa: MfaState, about: PanelView["about"]): HTMLElement {
  if (mfa === "no") return badge("lost", "no");
  if (mfa !== "unknown") return h("span", { class: "soft" }, MFA_WORDS[mfa]);
  return mark("unknown", "?", about === "declared" ? NOT_IN_FILES : "not known");
}

/** "administrator", "at least 3", "none"; it is unknown what a role with unknown permissions grants. */
function sensitivityText({ administrator, sensitive, unknown }: MemberReach): string {
  if (administrator) return "administrator";
  if (sensitive === 0) return unknown ? "not known" : "none";
  return `${unknown ? "at least " : ""}${sensitive}`;
}

function rankOf({ administrator, sensitive, unknown }: MemberReach): number {
  return administrator ? Number.MAX_SAFE_INTEGER : sensitive + (unknown ? 0.5 : 0);
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

/** Returns the searchable texts of members, in lower case: their names, details, notes, roles and permissions. */
function searchTexts({ members, roles, permissions }: PageMerchant): readonly string[] {
  const roleTexts = roles.map((role) => {
    const grants = grantsOf(role, "after");
    const granted = grants === null || grants === "unknown" ? [] : grants;
    return [role.name, ...granted.map((permission) => permissions[permission]?.name ?? "")]
      .join("\n")
      .toLowerCase();
  });
  return members.map(({ name: text, about = [], notes = [], before, after }) => {
    const held = new Set([...(before?.roles ?? []), ...(after?.roles ?? [])]);
    const memberText = [text, ...about, ...notes].join("\n").toLowerCase();
    return [memberText, ...[...held].map((index) => roleTexts[index] ?? "")].join("\n");
  });
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
