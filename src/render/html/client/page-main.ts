import type { PageData, PageMerchant } from "../page-data.ts";
import { changesPanel } from "./changes-panel.ts";
import { h, select } from "./dom.ts";
import { endsPanel } from "./ends-panel.ts";
import { invitationsPanel } from "./invitations-panel.ts";
import { membersPanel } from "./members-panel.ts";
import { holdingOf } from "./page-access.ts";
import { rolesPanel } from "./roles-panel.ts";
import { tabs } from "./tabs.ts";

const MONTH = 30 * 86_400_000;

const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const app = document.getElementById("app");
let current = "";

function show(merchant: PageMerchant | undefined): void {
  if (merchant === undefined) {
    app?.replaceChildren(h("p", { class: "empty" }, "There is no merchant to show."));
    return;
  }
  const { now } = data;
  const planned =
    merchant.plan === null
      ? []
      : [{ id: "plan", title: "Plan", make: () => changesPanel(merchant, data.merchants.length === 1) }];
  const parts = tabs(
    [
      ...planned,
      { id: "members", title: "Members", make: () => membersPanel(merchant, now) },
      { id: "roles", title: "Roles", make: () => rolesPanel(merchant) },
      { id: "ends", title: "End dates", make: () => endsPanel(merchant, now) },
      { id: "invitations", title: "Invitations", make: () => invitationsPanel(merchant, now) },
    ],
    current,
    (id) => {
      current = id;
    },
  );
  app?.replaceChildren(tiles(merchant, now), parts);
}

function tiles(merchant: PageMerchant, now: number): HTMLElement {
  const { members, roles } = merchant;
  const count = (is: (member: PageMerchant["members"][number]) => boolean): string =>
    members.filter(is).length.toLocaleString("en-US");
  const administrators = new Set(
    roles.flatMap(({ id }, index) => (id === "role_owner" || id === "role_admin" ? [index] : [])),
  );
  const tile = (title: string, number: string): HTMLElement =>
    h("div", {}, h("dt", {}, title), h("dd", {}, number));
  return h(
    "dl",
    { class: "tiles" },
    tile(
      "Members",
      count(({ after }) => after !== null),
    ),
    tile("Roles", roles.filter(({ after }) => after !== null).length.toLocaleString("en-US")),
    tile(
      "Administrators",
      count((member) => holdingOf(member, "after")?.roles.some((role) => administrators.has(role)) ?? false),
    ),
    tile(
      "Open invitations",
      count(({ after }) => after?.status === "pending" || after?.status === "invited"),
    ),
    tile(
      "Expired invitations",
      count(({ after }) => after?.status === "expired"),
    ),
    tile(
      "Ending within 30 days",
      count(
        ({ after, ends = [] }) =>
          after !== null && ends.some((end) => end.ends > now && end.ends - now <= MONTH),
      ),
    ),
  );
}

if (data.merchants.length > 1) {
  const options = data.merchants.map(({ code }, index) => [String(index), code] as const);
  document
    .getElementById("picker")
    ?.append(select("Merchant", options, (index) => show(data.merchants[Number(index)])));
}
show(data.merchants[0]);
