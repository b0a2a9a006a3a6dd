import type { PageMerchant } from "../page-data.ts";
import { badge, day, h, name } from "./dom.ts";
import { opener } from "./ends-panel.ts";
import { inDays } from "./member-dialog.ts";
import { type RowMaker, virtualTable } from "./virtual-table.ts";

const ORDER = ["expired", "pending", "invited"];

/** Who has been invited and has not accepted: the expired first. */
export function invitationsPanel(merchant: PageMerchant, now: number): HTMLElement {
  const open = merchant.members
    .map((member) => ({ member, status: member.before?.status ?? member.after?.status ?? "" }))
    .filter(({ status }) => ORDER.includes(status))
    .sort(
      (a, b) =>
        ORDER.indexOf(a.status) - ORDER.indexOf(b.status) ||
        (a.member.invitedUntil ?? 0) - (b.member.invitedUntil ?? 0),
    );
  if (open.length === 0) return h("p", { class: "empty" }, "Nobody has an open invitation.");
  const table = virtualTable({
    label: "Open invitations",
    heads: ["Member", "Invitation", "Expires", "Roles"],
    what: "invitation",
  });
  table.show(
    open.map(
      ({ member, status }): RowMaker =>
        () => {
          const until = member.invitedUntil;
          const roles = (member.after ?? member.before)?.roles ?? [];
          const renewed = member.before?.status === "expired" && member.after?.status === "invited";
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, opener(member, merchant, now)),
            h(
              "td",
              {},
              badge(status, status === "invited" ? "the plan sends it" : status),
              renewed ? badge("gained", "the plan sends a new one") : null,
            ),
            h("td", {}, until === undefined ? "" : `${day(until)} (${inDays(until, now)})`),
            h(
              "td",
              {},
              ...roles.flatMap((index, at) => [
                at === 0 ? "" : ", ",
                name(merchant.roles[index]?.name ?? ""),
              ]),
            ),
          );
        },
    ),
  );
  return table.element;
}
