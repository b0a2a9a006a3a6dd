import type { PageData, PageMerchant } from "../page-data.ts";
import { measuresOf, NOT_IN_FILES } from "./access-model.ts";
import { membersPanel, rolesPanel } from "./access-panels.ts";
import { h, name, tabs } from "./dom.ts";
import { changesPanel, endsPanel, invitationsPanel } from "./plan-panels.ts";
import { rulesPanel } from "./rules-panel.ts";
import { linkParams, linkTo, makeState, type PanelView, replaceLink } from "./view-state.ts";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
const app = document.getElementById("app");
const isFleet = data.merchants.length > 1;

/** A part of what is told about a merchant. */
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
            make: (one, view) => changesPanel(one, !isFleet, view),
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

/** Shows a merchant: the tab of the link with its search, filters and order, the others as they are at first. */
function showMerchant(merchant: PageMerchant, params: URLSearchParams): void {
  const { code } = merchant;
  let current = params.get("tab") ?? "";
  const states = new Map<string, URLSearchParams>();
  const stateOf = (id: string): URLSearchParams => {
    const known = states.get(id) ?? new URLSearchParams(id === current ? params : {});
    for (const key of ["merchant", "tab"]) known.delete(key);
    states.set(id, known);
    return known;
  };
  const write = (): void =>
    replaceLink({
      ...(isFleet && { merchant: code }),
      tab: current,
      ...Object.fromEntries(stateOf(current)),
    });
  const all = panelsOf(merchant).map(({ id, title, make }) => ({
    id,
    title,
    make: () => make(merchant, viewOf(code, makeState(stateOf(id), write))),
  }));
  if (!all.some(({ id }) => id === current)) current = all[0]?.id ?? "";
  const parts = tabs(all, current, (id) => {
    current = id;
    write();
  });
  app?.replaceChildren(tiles(merchant), parts);
}

function tiles(merchant: PageMerchant): HTMLElement {
  return h(
    "dl",
    { class: "tiles" },
    ...measuresOf(merchant, data).map(({ title, count }) =>
      h(
        "div",
        {},
        h("dt", {}, title),
        count === null
          ? h("dd", { class: "unknown" }, NOT_IN_FILES)
          : h("dd", {}, count.toLocaleString("en-US")),
      ),
    ),
  );
}

/** Shows what the link says; without one, or with one that is not of this page, the first merchant. */
function show(): void {
  const params = linkParams();
  const merchant = data.merchants.find(({ code }) => code === params.get("merchant")) ?? data.merchants[0];
  if (picker) picker.value = merchant?.code ?? "";
  if (merchant === undefined)
    app?.replaceChildren(h("p", { class: "empty" }, "There is no merchant to show."));
  else showMerchant(merchant, params);
}

let paper: HTMLElement | null = null;

/** Makes all that is printed, of all merchants; what is on the screen stays as it is. */
function makePaper(): void {
  if (paper !== null) return;
  const view = (merchant: PageMerchant): PanelView => ({ ...viewOf(merchant.code), paper: true });
  paper = h(
    "div",
    { id: "paper" },
    ...data.merchants.map((merchant) =>
      h(
        "section",
        {},
        isFleet ? h("h2", {}, name(merchant.code)) : null,
        tiles(merchant),
        ...panelsOf(merchant).flatMap(({ title, make }) => [
          h("h3", {}, title),
          make(merchant, view(merchant)),
        ]),
      ),
    ),
  );
  app?.after(paper);
}

function dropPaper(): void {
  paper?.remove();
  paper = null;
}

const printing = matchMedia("print");
printing.addEventListener("change", () => (printing.matches ? makePaper() : dropPaper()));
addEventListener("beforeprint", makePaper);
addEventListener("afterprint", dropPaper);
addEventListener("hashchange", show);

let picker: HTMLSelectElement | null = null;
if (isFleet) {
  const options = data.merchants.map(({ code }) => h("option", { value: code }, code));
  const control = h("select", {}, ...options);
  control.addEventListener("change", () => {
    location.hash = linkTo({ merchant: control.value });
  });
  picker = control;
  document
    .getElementById("picker")
    ?.append(h("label", { class: "field" }, h("span", {}, "Merchant"), control));
}
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // Its link is not one to a view.
  event.preventDefault();
  document.getElementById("content")?.focus();
});
show();
