import type { PageMember, PageMerchant } from "../page-data.ts";
import { badge, day, h, name, type RowMaker, virtualTable } from "./dom.ts";
import { inDays, openMember } from "./member-dialog.ts";

const DAY = 86_400_000;
const SOON = 30 * DAY;

/** Makes the panel of end dates, the next first, on one shared time axis. */
export function endsPanel(merchant: PageMerchant, now: number): HTMLElement {
  const ends = merchant.members
    .flatMap((member) => (member.ends ?? []).map((end) => ({ member, end })))
    .sort((a, b) => a.end.ends - b.end.ends);
  if (ends.length === 0) return h("p", { class: "empty" }, "No file sets an end date.");
  const first = Math.min(now, ends[0]?.end.ends ?? now);
  const last = Math.max(now + SOON, ends.at(-1)?.end.ends ?? now);
  const at = (moment: number): number => ((moment - first) / (last - first)) * 100;
  const table = virtualTable({
    label: "When access ends",
    heads: ["Ends", "Member", "What", axis(first, last, at)],
    what: "end",
    className: "timeline",
  });
  table.show(
    ends.map(
      ({ member, end }): RowMaker =>
        () => {
          const state = end.ends <= now ? "lost" : end.ends - now <= SOON ? "pending" : "note";
          const bar = h("span", { class: `bar ${state}` });
          bar.style.left = `${Math.min(at(now), at(end.ends))}%`;
          bar.style.width = `${Math.max(Math.abs(at(end.ends) - at(now)), 0.5)}%`;
          return h(
            "tr",
            {},
            h("td", { class: "when" }, end.text, " ", badge(state, inDays(end.ends, now))),
            h("th", { scope: "row" }, opener(member, merchant, now)),
            h("td", {}, name(end.role ?? "Whole membership")),
            h("td", { class: "track" }, bar),
          );
        },
    ),
  );
  return table.element;
}

/** Makes a button with a member's name, which opens its details. */
function opener(member: PageMember, merchant: PageMerchant, now: number): HTMLElement {
  const button = h("button", { type: "button", class: "open" }, name(member.name));
  button.addEventListener("click", () => openMember(member, merchant, now));
  return button;
}

/** Makes the time axis, with as many months or years as there is room for. */
function axis(first: number, last: number, at: (moment: number) => number): HTMLElement {
  const start = new Date(first);
  const months = (last - first) / (30 * DAY);
  const step = [1, 2, 3, 6, 12, 24, 60, 120].find((one) => months / one <= 6) ?? 600;
  const ticks: HTMLElement[] = [];
  for (let month = 1; ticks.length < 8; month += 1) {
    const moment = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + month, 1);
    if (moment > last || Number.isNaN(moment)) break;
    const number = new Date(moment).getUTCFullYear() * 12 + new Date(moment).getUTCMonth();
    if (number % step !== 0 || at(moment) > 90) continue;
    const tick = h("span", { class: "tick" }, day(moment).slice(0, 7));
    tick.style.left = `${at(moment)}%`;
    ticks.push(tick);
  }
  return h("span", { class: "axis" }, h("span", { class: "hidden" }, "From now until the end"), ...ticks);
}

const ORDER = ["expired", "pending", "invited"];

/** Makes the panel of open invitations, the expired first. */
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
