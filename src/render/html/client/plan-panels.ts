import type { PageChange, PageData, PageMember, PageMerchant, PageNote, PagePlan } from "../page-data.ts";
import { NOT_IN_FILES } from "./access-model.ts";
import { badge, day, h, mark, name, pluralize, type RowMaker, search, select, virtualTable } from "./dom.ts";
import { inDays, openDialog, openMember } from "./member-dialog.ts";

const SYMBOLS: Readonly<Record<string, readonly [kind: string, symbol: string]>> = {
  create: ["gained", "+"],
  update: ["edited", "~"],
  replace: ["edited", "±"],
  delete: ["lost", "−"],
  deferred: ["waits", "…"],
};
const RISKS_SHOWN = 20;

/** Makes the panel of a plan: its totals unless it is the only one, then problems, refusals, risks and every change. */
export function changesPanel({ plan }: PageMerchant, alone: boolean): HTMLElement {
  if (plan === null) return h("div");
  const filter = { text: "", kind: "" };
  const table = virtualTable({ label: "Changes", heads: ["Change", "Name", "What changes"], what: "change" });
  const texts = plan.changes.map((change) => JSON.stringify(change).toLowerCase());
  const update = (): void =>
    table.show(
      plan.changes
        .filter(
          ({ kind }, index) =>
            (filter.kind === "" || kind === filter.kind) && texts[index]?.includes(filter.text),
        )
        .map(
          (change): RowMaker =>
            () =>
              changeRow(change),
        ),
    );
  update();
  const kinds = [...new Set(plan.changes.map(({ kind }) => kind))];
  return h(
    "div",
    {},
    alone ? null : h("p", { class: "verdict" }, `Plan: ${plan.summary}.`),
    ...notesOf(plan),
    h(
      "div",
      { class: "filters" },
      search("Search changes", "Name, field or value", (text) => {
        filter.text = text;
        update();
      }),
      select("Kind", [["", "Every kind"], ...kinds.map((kind) => [kind, kind] as const)], (kind) => {
        filter.kind = kind;
        update();
      }),
    ),
    table.element,
  );
}

function notesOf(plan: PagePlan): readonly HTMLElement[] {
  const { errors, refusals, overrides, overridden, risks, warnings } = plan;
  const note = ({ message, hint }: PageNote): HTMLElement =>
    h("li", {}, h("span", {}, message), hint === "" ? null : h("span", { class: "hint" }, hint));
  const block = (kind: string, title: string, items: readonly HTMLElement[]): readonly HTMLElement[] =>
    items.length === 0
      ? []
      : [h("section", { class: `block ${kind}` }, h("h3", {}, title), h("ul", {}, ...items))];
  return [
    ...block("error", `${pluralize(errors.length, "problem")} to fix first`, errors.map(note)),
    ...block("error", `An apply would be refused, for ${pluralize(refusals.length, "reason")}`, [
      ...refusals.map(note),
      ...(overrides === null ? [] : [note({ message: IN_FILE, hint: overrides })]),
    ]),
    ...block(
      "warning",
      `${pluralize(overridden.length, "refusal")} overridden in the file`,
      overridden.map(note),
    ),
    ...risks.flatMap(({ title, items }) => {
      const more = items.length - RISKS_SHOWN;
      return block("risk", title, [
        ...items.slice(0, RISKS_SHOWN).map((item) => h("li", {}, name(item))),
        ...(more > 0
          ? [h("li", {}, `and ${more.toLocaleString("en-US")} more, among the changes below`)]
          : []),
      ]);
    }),
    ...block("warning", pluralize(warnings.length, "warning"), warnings.map(note)),
  ];
}

const IN_FILE = "To override in git, for this plan alone, add under guards in the file:";

function changeRow(change: PageChange): HTMLTableRowElement {
  const [kind, symbol] = SYMBOLS[change.kind] ?? ["edited", "~"];
  const opener = h("button", { type: "button", class: "open" }, name(change.name));
  opener.addEventListener("click", () => openChange(change));
  return h(
    "tr",
    {},
    h("td", {}, mark(kind, symbol, change.kind), ` ${change.kind} ${change.resource}`),
    h(
      "th",
      { scope: "row" },
      h("div", { class: "who" }, opener, change.remark === "" ? null : badge("note", change.remark)),
    ),
    h("td", { class: "clip" }, ...change.details.flatMap((detail) => [`${detail.label} `, ...brief(detail)])),
  );
}

function brief({ removed, added, plain }: PageChange["details"][number]): readonly HTMLElement[] {
  const part = (kind: string, sign: string, items: readonly string[]): readonly HTMLElement[] =>
    items.length === 0 ? [] : [h("span", { class: `diff ${kind}` }, `${sign}${items.join(", ")} `)];
  return [...part("lost", "− ", removed), ...part("gained", "+ ", added), ...part("", "", plain)];
}

function openChange({ kind, resource, name: title, remark, details }: PageChange): void {
  const line = (
    sign: string,
    words: string,
    items: readonly string[],
    style: string,
  ): readonly HTMLElement[] =>
    items.map((item) =>
      h("li", { class: `diff ${style}` }, sign === "" ? "" : mark(style, sign, words), " ", name(item)),
    );
  openDialog(
    title,
    h("p", {}, `${kind} ${resource}`, remark === "" ? "" : ` (${remark})`),
    ...details.map(({ label, removed, added, plain }) =>
      h(
        "section",
        {},
        h("h3", {}, label),
        h(
          "ul",
          { class: "roles" },
          ...line("−", "goes", removed, "lost"),
          ...line("+", "comes", added, "gained"),
          ...line("", "", plain, ""),
        ),
      ),
    ),
  );
}

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
export function invitationsPanel(
  merchant: PageMerchant,
  { now, about }: Pick<PageData, "now" | "about">,
): HTMLElement {
  if (about === "declared")
    return h(
      "p",
      { class: "empty" },
      `Who has accepted an invitation is ${NOT_IN_FILES}: the service knows it.`,
    );
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
