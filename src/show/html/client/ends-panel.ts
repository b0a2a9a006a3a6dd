import type { PageMember, PageMerchant } from "../page-data.ts";
import { type EndOfAccess, endingsOf, type TimeRange, timeRange } from "./access-model.ts";
import { dataTable } from "./data-table.ts";
import { badge, day, h, name, select } from "./dom.ts";
import { inDays, openMember } from "./member-dialog.ts";
import type { PanelView } from "./view-state.ts";

const DAY = 86_400_000;
const SOON = 30 * DAY;

/** Creates the panel of ends: grants, memberships and open invitations on one time axis, with a line for today. */
export function endsPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { now, about } = view;
  const endings = endingsOf(merchant);
  const unknown =
    about === "declared" ? h("p", { class: "count" }, "The files do not say when invitations expire.") : null;
  if (endings.length === 0) {
    const none =
      about === "declared"
        ? "No file sets an end date."
        : "No file sets an end date, and no invitation is open.";
    return h("div", {}, h("p", { class: "empty" }, none), unknown);
  }
  const range = timeRange(endings, now);
  const stateOf = ({ ends }: EndOfAccess): "ended" | "soon" | "later" =>
    ends <= now ? "ended" : ends - now <= SOON ? "soon" : "later";
  const table = dataTable<EndOfAccess>({
    id: "ends",
    label: "End dates",
    what: "end",
    rows: endings,
    columns: [
      {
        id: "ends",
        title: "Ends",
        style: "when",
        number: ({ ends }) => ends,
        text: ({ text }) => text,
        show: (row) => [row.text, " ", badge(BADGES[stateOf(row)], inDays(row.ends, now))],
      },
      {
        id: "name",
        title: "Member",
        isHead: true,
        text: ({ member }) => member.name,
        show: ({ member }) => [memberOpener(member, merchant, now)],
      },
      {
        id: "what",
        title: "What",
        text: (row) => whatOf(row),
        show: (row) => [row.kind === "grant" ? name(row.role) : whatOf(row)],
      },
      {
        id: "axis",
        title: "Time",
        head: axis(range, now),
        style: "track",
        number: ({ ends }) => ends,
        text: (row) => stateOf(row),
        show: (row) => track(row, range, now, stateOf(row)),
      },
    ],
    view,
    className: "timeline",
  });
  const counts = (["ended", "soon", "later"] as const).flatMap((when) => {
    const count = endings.filter((end) => stateOf(end) === when).length;
    return count === 0 ? [] : [badge(BADGES[when], `${count.toLocaleString("en-US")} ${WORDS[when]}`)];
  });
  const { state } = view;
  const update = (): void => {
    const [what, when] = [state.get("what"), state.get("when")];
    table.filter(
      (end) =>
        (what === "" || (what === "invitations") === (end.kind === "invitation")) &&
        (when === "" || (when === "ended") === (stateOf(end) === "ended")),
    );
  };
  update();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      select({ state, key: "what", label: "What", onChange: update }, [
        ["", "Everything"],
        ["access", "Access"],
        ["invitations", "Invitations"],
      ]),
      select({ state, key: "when", label: "When", onChange: update }, [
        ["", "Any time"],
        ["coming", "From today on"],
        ["ended", "Has ended"],
      ]),
    ),
    h("p", { class: "sums" }, ...counts),
    unknown,
    table.element,
  );
}

const BADGES = { ended: "lost", soon: "pending", later: "note" } as const;
const WORDS = { ended: "ended", soon: "within 30 days", later: "later" } as const;

function whatOf({ kind, role }: EndOfAccess): string {
  switch (kind) {
    case "grant":
      return role;
    case "membership":
      return "Whole membership";
    case "invitation":
      return "Invitation";
    default:
      return kind satisfies never;
  }
}

/** Returns the position of a time on an axis, in percent; a time outside the range is at its end. */
function positionOf(moment: number, { first, last }: TimeRange): number {
  return Math.min(Math.max(((moment - first) / (last - first)) * 100, 0), 100);
}

/** Creates the bar from today to an end, or from a past end to today, and the line of today. */
function track(
  { ends, kind }: EndOfAccess,
  range: TimeRange,
  now: number,
  state: string,
): readonly HTMLElement[] {
  const [today, end] = [positionOf(now, range), positionOf(ends, range)];
  const outside = ends > range.last ? "beyond" : ends < range.first ? "before" : "";
  const bar = h("span", { class: `bar ${state} ${kind} ${outside}` });
  bar.style.left = `${Math.min(today, end)}%`;
  bar.style.width = `${Math.max(Math.abs(end - today), 0.5)}%`;
  return [todayLine(today), bar];
}

function todayLine(percent: number): HTMLElement {
  const line = h("span", { class: "today" });
  line.style.left = `${percent}%`;
  return line;
}

/** Creates the axis, with today and as many months or years as there is space for. */
function axis(range: TimeRange, now: number): HTMLElement {
  const { first, last } = range;
  const today = positionOf(now, range);
  const start = new Date(first);
  const months = (last - first) / (30 * DAY);
  const step = [1, 2, 3, 6, 12, 24, 60, 120].find((candidate) => months / candidate <= 6) ?? 600;
  const tick = (percent: number, text: string, kind: string): HTMLElement => {
    const element = h("span", { class: `tick ${kind}` }, text);
    element.style.left = `${percent}%`;
    return element;
  };
  const ticks = [tick(today, "today", "now")];
  for (let month = 1; ticks.length < 9; month += 1) {
    const moment = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + month, 1);
    if (moment > last || Number.isNaN(moment)) break;
    const percent = positionOf(moment, range);
    const number = new Date(moment).getUTCFullYear() * 12 + new Date(moment).getUTCMonth();
    // Two labels must not overlap.
    if (number % step !== 0 || percent > 86 || Math.abs(percent - today) < 14) continue;
    ticks.push(tick(percent, day(moment).slice(0, 7), ""));
  }
  return h("span", { class: "axis" }, ...ticks);
}

/** Creates a button with a member's name that opens its details. */
function memberOpener(member: PageMember, merchant: PageMerchant, now: number): HTMLElement {
  const button = h("button", { type: "button", class: "open" }, name(member.name));
  button.addEventListener("click", () => openMember(member, merchant, now));
  return button;
}

const ORDER = ["expired", "pending", "invited"];

/** Makes the panel of open invitations, the expired first. */
export function invitationsPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { now, about } = view;
  if (about === "declared")
    return h(
      "p",
      { class: "empty" },
      "The files do not say who has accepted an invitation; only the service knows.",
    );
  const invitations = merchant.members
    .map((member) => ({ member, status: member.before?.status ?? member.after?.status ?? "" }))
    .filter(({ status }) => ORDER.includes(status))
    .sort(
      (a, b) =>
        ORDER.indexOf(a.status) - ORDER.indexOf(b.status) ||
        (a.member.invitedUntil ?? 0) - (b.member.invitedUntil ?? 0),
    );
  if (invitations.length === 0) return h("p", { class: "empty" }, "Nobody has an open invitation.");
  type Row = (typeof invitations)[number];
  const statusText = ({ status }: Row): string => (status === "invited" ? "the plan sends it" : status);
  const isRenewed = ({ member }: Row): boolean =>
    member.before?.status === "expired" && member.after?.status === "invited";
  const rolesOf = ({ member }: Row): readonly string[] =>
    ((member.after ?? member.before)?.roles ?? []).map((index) => merchant.roles[index]?.name ?? "");
  return dataTable<Row>({
    id: "invitations",
    label: "Open invitations",
    what: "invitation",
    rows: invitations,
    columns: [
      {
        id: "status",
        title: "Invitation",
        number: ({ status }) => ORDER.indexOf(status),
        text: statusText,
        show: (row) => [
          badge(row.status, statusText(row)),
          isRenewed(row) ? badge("gained", "the plan sends a new one") : null,
        ],
      },
      {
        id: "name",
        title: "Member",
        isHead: true,
        text: ({ member }) => member.name,
        show: ({ member }) => [memberOpener(member, merchant, now)],
      },
      {
        id: "expires",
        title: "Expires",
        number: ({ member }) => member.invitedUntil ?? null,
        text: ({ member: { invitedUntil: until } }) => (until === undefined ? "" : day(until)),
        show: ({ member: { invitedUntil: until } }) => [
          until === undefined ? "" : `${day(until)} (${inDays(until, now)})`,
        ],
      },
      {
        id: "roles",
        title: "Roles",
        text: (row) => rolesOf(row).join(", "),
        show: (row) => rolesOf(row).flatMap((role, index) => [index === 0 ? "" : ", ", name(role)]),
      },
    ],
    view,
  }).element;
}
