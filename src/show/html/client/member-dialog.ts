import type { PageMember, PageMerchant } from "../page-data.ts";
import { effective, holdingOf, isActiveHolding } from "./access-model.ts";
import { badge, type Child, day, h, mark, name, pluralize } from "./dom.ts";
import { linkTo, type PanelView } from "./view-state.ts";

let opened: HTMLDialogElement | null = null;

/** Opens a dialog, which Escape or its button closes; the focus then returns. */
export function openDialog(title: string, ...content: readonly (Node | null)[]): void {
  opened?.remove();
  const close = h("button", { type: "button", class: "close" }, "Close");
  const dialog = h(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    h("div", { class: "dialog-head" }, h("h2", { id: "dialog-title" }, name(title)), close),
    ...content,
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  // A link leads to another view, behind the dialog.
  for (const link of dialog.querySelectorAll("a")) link.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  opened = dialog;
  dialog.showModal();
}

/** Creates a link to the page of a person at all merchants, if there are several. */
export function personLink(person: string): HTMLElement | null {
  if (document.querySelector("#picker select") === null) return null;
  return h("p", {}, h("a", { href: linkTo({ person }) }, "At all merchants"));
}

/** Opens the details of a member: its permissions, and the roles that grant each. */
export function openMember(member: PageMember, merchant: PageMerchant, now: number): void {
  const [accessBefore, accessAfter] = [
    effective(member, merchant, "before"),
    effective(member, merchant, "after"),
  ];
  const [before, after] = [holdingOf(member, "before"), holdingOf(member, "after")];
  const roleName = (index: number): string => merchant.roles[index]?.name ?? "";
  const permissions = [
    ...new Set([...accessBefore.permissions.keys(), ...accessAfter.permissions.keys()]),
  ].sort((a, b) => a - b);
  const rows = permissions.map((index) => {
    const permission = merchant.permissions[index];
    const [old, current] = [accessBefore.permissions.get(index), accessAfter.permissions.get(index)];
    const sources = (current ?? old ?? []).map(roleName);
    return h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        old === undefined
          ? mark("gained", "+", "gains")
          : current === undefined
            ? mark("lost", "−", "loses")
            : "",
        " ",
        name(permission?.name ?? ""),
        permission?.sensitive ? badge("sensitive", "sensitive") : null,
      ),
      h("td", {}, ...separated(sources)),
    );
  });
  const unknown = [...new Set([...accessBefore.unknown, ...accessAfter.unknown])].map(roleName);
  const status = after?.status ?? before?.status ?? "";
  const ends = member.ends ?? [];
  openDialog(
    member.name,
    status === "" ? null : personLink(member.name),
    h("p", { class: "who" }, ...badgesOf(member)),
    status === "" || isActiveHolding(after ?? before)
      ? null
      : h("p", { class: "notice plain" }, "The roles grant nothing in this status."),
    h("h3", {}, "Roles"),
    roleList(before?.roles ?? [], after?.roles ?? [], roleName),
    ends.length === 0 ? null : h("h3", {}, "Ends"),
    ends.length === 0
      ? null
      : h(
          "ul",
          {},
          ...ends.map((end) =>
            h("li", {}, name(end.role ?? "Whole membership"), `: ${end.text} (${inDays(end.ends, now)})`),
          ),
        ),
    member.invitedUntil === undefined ? null : h("p", {}, `Invitation until ${day(member.invitedUntil)}.`),
    member.mfa === undefined ? null : h("p", {}, `MFA on login: ${member.mfa ? "yes" : "no"}.`),
    h("h3", {}, "Effective permissions"),
    rows.length === 0
      ? h("p", {}, "None known.")
      : h(
          "table",
          { class: "plain-table" },
          h(
            "thead",
            {},
            h("tr", {}, h("th", { scope: "col" }, "Permission"), h("th", { scope: "col" }, "Granted by")),
          ),
          h("tbody", {}, ...rows),
        ),
    unknown.length === 0 ? null : h("p", {}, "Unknown: the permissions of ", ...separated(unknown), "."),
  );
}

/** Creates the badges of a member; one without a status is still in the files, but its access has ended. */
function badgesOf(member: PageMember): readonly HTMLElement[] {
  const [before, after] = [holdingOf(member, "before"), holdingOf(member, "after")];
  const { status } = after ?? before ?? { status: "" };
  return [
    status === "" ? badge("lost", "ended") : badge(status, status),
    ...[...(member.about ?? []), ...(member.notes ?? [])].map((note) => badge("note", note)),
    ...(before === null && after !== null ? [badge("gained", "new")] : []),
    ...(before !== null && after === null ? [badge("lost", "removed by the plan")] : []),
  ];
}

const membersByName = new WeakMap<PageMerchant, ReadonlyMap<string, PageMember>>();

/** Returns a text in which each name of a member is a button that opens its details. */
export function withMembers(
  text: string,
  merchant: PageMerchant,
  { now, paper }: PanelView,
): readonly Child[] {
  if (paper) return [h("bdi", {}, text)];
  const members =
    membersByName.get(merchant) ??
    new Map(merchant.members.map((member) => [member.name.toLowerCase(), member]));
  membersByName.set(merchant, members);
  const parts = text.split(/([^\s"(),:;]+@[^\s"(),:;]*[^\s"(),:;.])/).map((part): Child => {
    const member = members.get(part.toLowerCase());
    if (member === undefined) return part;
    const button = h("button", { type: "button", class: "open" }, h("bdi", {}, part));
    button.addEventListener("click", () => openMember(member, merchant, now));
    return button;
  });
  return [h("bdi", {}, ...parts.filter((part) => part !== ""))];
}

const PEOPLE_SHOWN = 500;

/** Opens a list of people, by index; each entry opens its details. */
export function openPeople(
  title: string,
  about: string,
  people: readonly number[],
  merchant: PageMerchant,
  now: number,
): void {
  const more = people.length - PEOPLE_SHOWN;
  const item = (index: number): HTMLElement | null => {
    const member = merchant.members[index];
    if (member === undefined) return null;
    const button = h("button", { type: "button", class: "open" }, name(member.name));
    button.addEventListener("click", () => openMember(member, merchant, now));
    return h("li", {}, button);
  };
  openDialog(
    title,
    h("p", {}, about),
    h("h3", {}, pluralize(people.length, "person", "people")),
    people.length === 0
      ? null
      : h("ul", { class: "roles people" }, ...people.slice(0, PEOPLE_SHOWN).map(item)),
    more > 0 ? h("p", {}, `and ${more.toLocaleString("en-US")} more, in the table of members`) : null,
  );
}

function roleList(
  before: readonly number[],
  after: readonly number[],
  roleName: (index: number) => string,
): HTMLElement {
  const indexes = [...new Set([...before, ...after])].sort((a, b) => a - b);
  if (indexes.length === 0) return h("p", {}, "None.");
  return h(
    "ul",
    { class: "roles" },
    ...indexes.map((index) => {
      const [had, has] = [before.includes(index), after.includes(index)];
      const sign =
        had && has
          ? mark("held", "●", "holds")
          : has
            ? mark("gained", "+", "gains")
            : mark("lost", "−", "loses");
      return h("li", {}, sign, " ", name(roleName(index)));
    }),
  );
}

function separated(texts: readonly string[]): readonly (HTMLElement | string)[] {
  return texts.flatMap((text, index) => (index === 0 ? [name(text)] : [", ", name(text)]));
}

/** "in 12 days", "12 days ago". */
export function inDays(moment: number, now: number): string {
  // An end is the first moment without access, so one at midnight is shown as the day before.
  const days = Math.floor((moment - 1) / 86_400_000) - Math.floor(now / 86_400_000);
  if (days === 0) return "today";
  const text = `${Math.abs(days).toLocaleString("en-US")} ${Math.abs(days) === 1 ? "day" : "days"}`;
  return days > 0 ? `in ${text}` : `${text} ago`;
}
