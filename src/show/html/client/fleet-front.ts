import type { PageData, PageMerchant, PagePlan } from "../page-data.ts";
import { countGroup, countText, type MemberGroup, memberGroups, NOT_IN_FILES } from "./access-model.ts";
import { type Column, dataTable } from "./data-table.ts";
import { h, name, search } from "./dom.ts";
import { linkTo, type PanelView } from "./view-state.ts";

/** Groups with a column of their own. */
const COLUMNS = ["all", "administrators", "sensitive", "mfa", "expired", "ending"];
const STEPS = 5;

interface Row {
  readonly merchant: PageMerchant;
  /** In the order of the columns; `null` if it is not known. */
  readonly counts: readonly (number | null)[];
  /** In the order of the columns: whether there could be more. */
  readonly atLeast: readonly boolean[];
}

/**
 * Creates the table of all merchants, with the numbers of members that deserve attention; higher numbers are darker.
 */
export function fleetFront(data: PageData, view: PanelView): HTMLElement {
  const groups = groupsOf(data.merchants[0], data);
  const rows = data.merchants.map((merchant): Row => {
    const groupCounts = groupsOf(merchant, data).map((group) => countGroup(group, merchant.members));
    return {
      merchant,
      counts: groupCounts.map(({ count }) => count),
      atLeast: groupCounts.map(({ isAtLeast }) => isAtLeast),
    };
  });
  const countsByGroup = groups.map((_, index) => rows.map(({ counts }) => counts[index] ?? 0));
  const columns = groups.map(({ id, title }, index): Column<Row> => {
    const columnCounts = countsByGroup[index] ?? [];
    const most = Math.max(1, ...columnCounts);
    // A column of equal numbers does not distinguish the merchants.
    const steps = columnCounts.every((count) => count === most) ? 1 : STEPS;
    return {
      id,
      title,
      style: "heat",
      number: ({ counts }) => counts[index] ?? null,
      text: ({ counts, atLeast }) => `${atLeast[index] ? "at least " : ""}${counts[index] ?? NOT_IN_FILES}`,
      show: ({ merchant, counts, atLeast }) => {
        const count = counts[index] ?? null;
        if (count === null) return [h("span", { class: "unknown", title: NOT_IN_FILES }, NOT_IN_FILES)];
        const only = id === "all" ? "" : id;
        const step = id === "all" ? 0 : Math.ceil((count / most) * steps);
        // Members whom the plan removes are also in the table initially.
        const show = data.about === "plan" && only === "" ? "after" : "";
        const href = linkTo({ merchant: merchant.code, tab: "members", only, show });
        const text = countText(count, atLeast[index] ?? false);
        const words = `${merchant.code}, ${title}: ${text}`;
        return [h("a", { href, class: `heat-${step}`, "aria-label": words }, text)];
      },
    };
  });
  const planned: readonly Column<Row>[] =
    data.about !== "plan"
      ? []
      : [
          {
            id: "plan",
            title: "Plan",
            text: ({ merchant }) => merchant.plan?.summary ?? "",
            show: ({ merchant: { code, plan } }) => [plan && planCell(code, plan)],
            number: ({ merchant }) => merchant.plan?.changes.length ?? null,
          },
          countColumn("refusals", "Refusals", ({ plan }) => plan?.refusals.length ?? null),
          countColumn("problems", "Problems", ({ plan }) => plan?.errors.length ?? null),
        ];
  const sums = countsByGroup.map((counts, index) =>
    groups[index]?.is === null
      ? NOT_IN_FILES
      : countText(
          counts.reduce((sum, count) => sum + count, 0),
          rows.some(({ atLeast }) => atLeast[index]),
        ),
  );
  const table = dataTable<Row>({
    id: "merchants",
    label: "Merchants",
    what: "merchant",
    rows,
    columns: [
      {
        id: "name",
        title: "Merchant",
        isHead: true,
        total: () => `All ${rows.length.toLocaleString("en-US")}`,
        text: ({ merchant }) => merchant.code,
        show: ({ merchant: { code } }) => [h("a", { href: linkTo({ merchant: code }) }, name(code))],
      },
      ...columns.map((column, index) => ({ ...column, total: () => sums[index] ?? "" })),
      ...planned,
    ],
    view,
    className: "fleet",
  });
  const { state } = view;
  const update = (): void => {
    const text = state.get("search").toLowerCase();
    table.filter(({ merchant: { code } }) => code.toLowerCase().includes(text));
  };
  update();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      search(
        { state, key: "search", label: "Search merchants", onChange: update },
        "Part of a merchant code",
      ),
    ),
    table.element,
    h(
      "p",
      { class: "legend" },
      data.about === "plan" ? "The numbers are those after the plan. " : null,
      "Higher numbers have a darker background: ",
      h(
        "span",
        { class: "scale", "aria-hidden": "true" },
        ...Array.from({ length: STEPS + 1 }, (_, step) => h("span", { class: `heat-${step}` })),
      ),
    ),
  );
}

function groupsOf(merchant: PageMerchant | undefined, data: PageData): readonly MemberGroup[] {
  if (merchant === undefined) return [];
  return memberGroups(merchant, data).filter(({ id }) => COLUMNS.includes(id));
}

const SIGNS = { create: "+", update: "~", replace: "±", delete: "−", deferred: "…" } as const;

/** Creates a short link to a plan with the numbers of its changes: "+3 ~5 −2". */
function planCell(code: string, { changes, summary }: PagePlan): HTMLElement {
  const counts = Object.entries(SIGNS).flatMap(([kind, sign]) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : [`${sign}${count.toLocaleString("en-US")}`];
  });
  const href = linkTo({ merchant: code, tab: "plan" });
  return h("a", { href, title: summary }, counts.length === 0 ? "no changes" : counts.join(" "));
}

function countColumn(
  id: string,
  title: string,
  countOf: (merchant: PageMerchant) => number | null,
): Column<Row> {
  const number = ({ merchant }: Row): number | null => countOf(merchant);
  return { id, title, number, text: (row) => String(number(row) ?? ""), style: "number" };
}
