import type { PageChange, PageMember, PageMerchant, PageNote, PagePlan } from "../page-data.ts";
import { NOT_IN_FILES } from "./access-model.ts";
import { dataTable } from "./data-table.ts";
import { badge, day, h, mark, name, pluralize, search, select } from "./dom.ts";
import { inDays, openDialog, openMember, personLink } from "./member-dialog.ts";
import type { PanelView } from "./view-state.ts";

const SYMBOLS: Readonly<Record<string, readonly [kind: string, symbol: string]>> = {
  create: ["gained", "+"],
  update: ["edited", "~"],
  replace: ["edited", "±"],
  delete: ["lost", "−"],
  deferred: ["waits", "…"],
};
const RISKS_SHOWN = 20;

/** Makes the panel of a plan: its totals unless it is the only one, then problems, refusals, risks and every change. */
export function changesPanel({ plan }: PageMerchant, alone: boolean, view: PanelView): HTMLElement {
  if (plan === null) return h("div");
  const { state } = view;
  const table = dataTable<PageChange>({
    id: "plan",
    label: "Changes",
    what: "change",
    rows: plan.changes,
    columns: [
      {
        id: "change",
        title: "Change",
        text: ({ kind, resource }) => `${kind} ${resource}`,
        show: (change) => {
          const [kind, symbol] = SYMBOLS[change.kind] ?? ["edited", "~"];
          return [mark(kind, symbol, change.kind), ` ${change.kind} ${change.resource}`];
        },
      },
      {
        id: "name",
        title: "Name",
        isHead: true,
        text: (change) => change.name,
        show: (change) => {
          const opener = h("button", { type: "button", class: "open" }, name(change.name));
          opener.addEventListener("click", () => openChange(change));
          return [
            h("div", { class: "who" }, opener, change.remark === "" ? null : badge("note", change.remark)),
          ];
        },
      },
      { id: "remark", title: "Remark", text: ({ remark }) => remark, only: "file" },
      {
        id: "details",
        title: "What changes",
        style: "clip",
        text: ({ details }) =>
          details
            .map(({ label, removed, added, plain }) =>
              [label, ...removed.map((one) => `− ${one}`), ...added.map((one) => `+ ${one}`), ...plain].join(
                " ",
              ),
            )
            .join("; "),
        show: ({ details }) => details.flatMap((detail) => [`${detail.label} `, ...brief(detail)]),
      },
    ],
    view,
  });
  let texts: readonly string[] | null = null;
  const textAt = (index: number): string => {
    texts ??= plan.changes.map((change) => JSON.stringify(change).toLowerCase());
    return texts[index] ?? "";
  };
  const update = (): void => {
    const [text, kind] = [state.get("search").toLowerCase(), state.get("kind")];
    table.filter(
      (change, index) =>
        (kind === "" || change.kind === kind) && (text === "" || textAt(index).includes(text)),
    );
  };
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
      search({ state, key: "search", label: "Search changes", onChange: update }, "Name, field or value"),
      select({ state, key: "kind", label: "Kind", onChange: update }, [
        ["", "Every kind"],
        ...kinds.map((kind) => [kind, kind] as const),
      ]),
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
    resource === "member" ? personLink(title) : null,
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
export function endsPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { now } = view;
  const ends = merchant.members
    .flatMap((member) => (member.ends ?? []).map((end) => ({ member, end })))
    .sort((a, b) => a.end.ends - b.end.ends);
  if (ends.length === 0) return h("p", { class: "empty" }, "No file sets an end date.");
  const first = Math.min(now, ends[0]?.end.ends ?? now);
  const last = Math.max(now + SOON, ends.at(-1)?.end.ends ?? now);
  const at = (moment: number): number => ((moment - first) / (last - first)) * 100;
  type Row = (typeof ends)[number];
  const stateOf = ({ end }: Row): string =>
    end.ends <= now ? "lost" : end.ends - now <= SOON ? "pending" : "note";
  return dataTable<Row>({
    id: "ends",
    label: "When access ends",
    what: "end",
    rows: ends,
    columns: [
      {
        id: "ends",
        title: "Ends",
        style: "when",
        number: ({ end }) => end.ends,
        text: ({ end }) => end.text,
        show: (row) => [row.end.text, " ", badge(stateOf(row), inDays(row.end.ends, now))],
      },
      {
        id: "name",
        title: "Member",
        isHead: true,
        text: ({ member }) => member.name,
        show: ({ member }) => [opener(member, merchant, now)],
      },
      {
        id: "what",
        title: "What",
        text: ({ end }) => end.role ?? "Whole membership",
        show: ({ end }) => [name(end.role ?? "Whole membership")],
      },
      {
        id: "axis",
        title: "From now until the end",
        head: axis(first, last, at),
        style: "track",
        only: "screen",
        number: ({ end }) => end.ends,
        text: () => "",
        show: (row) => {
          const { ends: moment } = row.end;
          const bar = h("span", { class: `bar ${stateOf(row)}` });
          bar.style.left = `${Math.min(at(now), at(moment))}%`;
          bar.style.width = `${Math.max(Math.abs(at(moment) - at(now)), 0.5)}%`;
          return [bar];
        },
      },
    ],
    view,
    className: "timeline",
  }).element;
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
export function invitationsPanel(merchant: PageMerchant, view: PanelView): HTMLElement {
  const { now, about } = view;
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
  type Row = (typeof open)[number];
  const statusText = ({ status }: Row): string => (status === "invited" ? "the plan sends it" : status);
  const isRenewed = ({ member }: Row): boolean =>
    member.before?.status === "expired" && member.after?.status === "invited";
  const rolesOf = ({ member }: Row): readonly string[] =>
    ((member.after ?? member.before)?.roles ?? []).map((index) => merchant.roles[index]?.name ?? "");
  return dataTable<Row>({
    id: "invitations",
    label: "Open invitations",
    what: "invitation",
    rows: open,
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
        show: ({ member }) => [opener(member, merchant, now)],
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
        show: (row) => rolesOf(row).flatMap((role, at) => [at === 0 ? "" : ", ", name(role)]),
      },
    ],
    view,
  }).element;
}
