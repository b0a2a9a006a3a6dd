import type { PageData, PageMerchant } from "../page-data.ts";
import { measuresOf, NOT_IN_FILES } from "./access-model.ts";
import { membersPanel } from "./access-panels.ts";
import { h, name, tabs } from "./dom.ts";
import { endsPanel, invitationsPanel } from "./ends-panel.ts";
import { fleetFront } from "./fleet-front.ts";
import { rolesPanel } from "./permission-charts.ts";
import { type Person, peopleOf, peoplePanel, personPanel } from "./person-view.ts";
import { changesPanel } from "./plan-panels.ts";
import { rulesPanel } from "./rules-panel.ts";
import { linkParams, linkTo, makeState, type PanelView, replaceLink } from "./view-state.ts";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const app = document.getElementById("app");
const isFleet = data.merchants.length > 1;

/** A part of the page of a merchant. */
interface Panel {
  readonly id: string;
  readonly title: string;
  readonly make: (merchant: PageMerchant, view: PanelView) => HTMLElement;
}

function panelsOf(merchant: PageMerchant): readonly Panel[] {
  return [
    ...(merchant.plan === null
      ? []
      : [
          {
            id: "plan",
            title: "Plan",
            make: (chosen, view) => changesPanel(chosen, !isFleet, view),
          } satisfies Panel,
        ]),
    { id: "members", title: "Members", make: membersPanel },
    { id: "roles", title: "Roles", make: rolesPanel },
    ...(merchant.rules === undefined ? [] : [{ id: "rules", title: "Rules", make: rulesPanel }]),
    { id: "ends", title: "End dates", make: endsPanel },
    { id: "invitations", title: "Invitations", make: invitationsPanel },
  ];
}

function viewOf(title: string, state = makeState(new URLSearchParams(), () => undefined)): PanelView {
  return { now: data.now, about: data.about, title, state, paper: false };
}

/** Shows a merchant: the tab of the link with its search, filters and order, the others in their initial state. */
function showMerchant(merchant: PageMerchant, params: URLSearchParams): void {
  const { code } = merchant;
  let current = params.get("tab") ?? "";
  const states = new Map<string, URLSearchParams>();
  const stateOf = (id: string): URLSearchParams => {
    const state = states.get(id) ?? new URLSearchParams(id === current ? params : {});
    for (const key of ["merchant", "tab"]) state.delete(key);
    states.set(id, state);
    return state;
  };
  const write = (): void =>
    replaceLink({
      ...(isFleet && { merchant: code }),
      tab: current,
      ...Object.fromEntries(stateOf(current)),
    });
  const tabList = panelsOf(merchant).map(({ id, title, make }) => ({
    id,
    title,
    make: () => make(merchant, viewOf(code, makeState(stateOf(id), write))),
  }));
  if (!tabList.some(({ id }) => id === current)) current = tabList[0]?.id ?? "";
  const parts = tabs(tabList, current, (id) => {
    current = id;
    write();
  });
  render(isFleet ? code : "", tiles(merchant), parts);
}

function tiles(merchant: PageMerchant): HTMLElement {
  return h(
    "dl",
    { class: "tiles" },
    ...measuresOf(merchant, data).map(({ title, count, isAtLeast = false }) =>
      h(
        "div",
        {},
        h("dt", {}, title),
        count === null
          ? h("dd", { class: "unknown" }, NOT_IN_FILES)
          : h(
              "dd",
              {},
              isAtLeast ? h("span", { class: "at-least" }, "at least ") : null,
              count.toLocaleString("en-US"),
            ),
      ),
    ),
  );
}

const shared = document.getElementById("shared");
const title = document.title;
const MERCHANTS = "Merchants";
const PEOPLE = "People";

/** Shows a view below its heading; content that all merchants share is only on the front page. */
function render(heading: string, ...content: readonly Node[]): void {
  if (shared) shared.hidden = isFleet && heading !== MERCHANTS;
  const head = h("h2", { class: "view", tabindex: -1 }, name(heading));
  app?.replaceChildren(...(heading === "" ? [] : [head]), ...content);
  document.title = heading === "" ? title : `${heading} · ${title}`;
  for (const link of document.querySelectorAll("#picker a")) {
    if (link.textContent === heading) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

let people: ReadonlyMap<string, Person> | null = null;

/** Shows the view of the link; without a link, or with one of another page, the front page. */
function show(): void {
  const params = linkParams();
  const only = data.merchants.length === 1 ? data.merchants[0] : undefined;
  const merchant = data.merchants.find(({ code }) => code === params.get("merchant")) ?? only;
  if (picker) picker.value = merchant?.code ?? "";
  if (merchant !== undefined) {
    showMerchant(merchant, params);
    return;
  }
  if (!isFleet) {
    app?.replaceChildren(h("p", { class: "empty" }, "There are no merchants to show."));
    return;
  }
  people ??= peopleOf(data);
  const person = people.get((params.get("person") ?? "").toLowerCase());
  const isPeople = params.has("people");
  const fixed = person === undefined ? (isPeople ? { people: "yes" } : {}) : { person: person.name };
  for (const key of ["people", "person"]) params.delete(key);
  const state = makeState(params, () => replaceLink({ ...fixed, ...Object.fromEntries(params) }));
  if (person !== undefined) render(person.name, personPanel(person, viewOf(person.name, state)));
  else if (isPeople) render(PEOPLE, peoplePanel(people, data, viewOf("all", state)));
  else render(MERCHANTS, fleetFront(data, viewOf("all", state)));
}

let paper: HTMLElement | null = null;

/** The number of members that a browser prints in about half a minute. */
const PRINTED_FAST = 5000;

/** Makes all that is printed, of the selected merchant or of all; what is on the screen stays as it is. */
function makePaper(): void {
  if (paper !== null) return;
  const selected = data.merchants.filter(({ code }) => code === picker?.value);
  const onPaper = (title: string): PanelView => ({ ...viewOf(title), paper: true });
  const sections = (selected.length > 0 ? selected : data.merchants).map((merchant, index) => {
    const { code } = merchant;
    const section = h(
      "section",
      {},
      h("h2", {}, name(code)),
      tiles(merchant),
      ...panelsOf(merchant).flatMap(({ title, make }) => [h("h3", {}, title), make(merchant, onPaper(code))]),
      signOff(code),
    );
    runningHead(section, `merchant-${index}`, code);
    return section;
  });
  const front =
    isFleet && selected.length === 0
      ? [
          h(
            "section",
            { class: "front" },
            h("h2", {}, MERCHANTS),
            fleetFront(data, onPaper("All")),
            signOff("All"),
          ),
        ]
      : [];
  const origin = document.querySelector(".origin")?.cloneNode(true) ?? null;
  paper = h("div", { id: "paper" }, origin, ...front, ...sections);
  app?.after(paper);
}

/**
 * Prints a merchant's code in the margin of each of its pages; Firefox, which cannot, shows it in the headers of
 * tables.
 */
function runningHead(section: HTMLElement, page: string, code: string): void {
  const sheet = document.styleSheets[0];
  if (!sheet) return;
  const text = code.replaceAll(/["\\]/g, "\\$&");
  const rule = `@page ${page} { @top-left { content: "${text}"; font: 600 9px sans-serif; } }`;
  if (!heads.has(page)) heads.set(page, sheet.insertRule(rule, sheet.cssRules.length));
  // Firefox would only add an empty page at the end.
  if (sheet.cssRules[heads.get(page) ?? 0]?.cssText.includes("@top-left")) {
    section.style.setProperty("page", page);
  }
}

/** The rule of each named page. */
const heads = new Map<string, number>();

/** Creates the lines for the signature of the reviewer. */
function signOff(what: string): HTMLElement {
  const line = (label: string): HTMLElement => h("p", {}, label);
  return h(
    "div",
    { class: "sign" },
    h("p", { class: "what" }, "Access reviewed: ", name(what)),
    line("Name"),
    line("Date"),
    line("Signature"),
  );
}

function dropPaper(): void {
  paper?.remove();
  paper = null;
}

const printing = matchMedia("print");
printing.addEventListener("change", () => (printing.matches ? makePaper() : dropPaper()));
addEventListener("beforeprint", makePaper);
addEventListener("afterprint", dropPaper);
addEventListener("hashchange", () => {
  show();
  scrollTo(0, 0);
  // A keyboard user who followed the link continues from the heading.
  document.querySelector<HTMLElement>(".view")?.focus({ preventScroll: true });
});

let picker: HTMLSelectElement | null = null;
if (isFleet) {
  const options = data.merchants.map(({ code }) => h("option", { value: code }, code));
  const control = h("select", {}, h("option", { value: "" }, "All merchants"), ...options);
  control.addEventListener("change", () => {
    location.hash = linkTo({ merchant: control.value });
  });
  picker = control;
  const link = (text: string, params: Readonly<Record<string, string>>): HTMLElement =>
    h("a", { href: linkTo(params) }, text);
  const nav = h(
    "nav",
    { "aria-label": "Views" },
    link(MERCHANTS, {}),
    link(PEOPLE, { people: "yes" }),
    h("label", { class: "field" }, h("span", {}, "Merchant"), control),
  );
  if (data.merchants.reduce((sum, { members }) => sum + members.length, 0) > PRINTED_FAST) {
    nav.append(h("p", { class: "hint" }, "Printing all merchants takes minutes. To print one, select it."));
  }
  document.getElementById("picker")?.append(nav);
}
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // Its link is not one to a view.
  event.preventDefault();
  document.getElementById("content")?.focus();
});
show();
