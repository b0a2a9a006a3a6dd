import type { PageData, PageMerchant, PagePlan } from "../page-data.ts";
import {
  countGroup,
  countText,
  isFailed,
  type MemberGroup,
  memberGroups,
  NOT_IN_FILES,
} from "./access-model.ts";
import { type Column, dataTable } from "./data-table.ts";
import { h, name, search } from "./dom.ts";
import { linkTo, type PanelView } from "./view-state.ts";

/** Groups with a column of their own. */
const COLUMNS = ["all", "administrators", "sensitive", "mfa", "expired", "ending"];
const STEPS = 5;

interface Row {
  readonly merchant: PageMerchant;
  /** In the order of the columns. */
  readonly groups: readonly MemberGroup[];
  /** In the order of the columns; `null` if it is not known. */
  readonly counts: readonly (number | null)[];
  /** In the order of the columns: whether there could be more. */
  readonly atLeast: readonly boolean[];
}

const TITLE: Column<Row> = {
  id: "title",
  title: "Name",
  text: ({ merchant }) => merchant.name ?? "",
  show: ({ merchant }) => [name(merchant.name ?? "")],
  style: "title",
};

/**
 * Creates the table of all merchants, with the numbers of members that deserve attention; higher numbers are darker.
 */
export function fleetFront(data: PageData, view: PanelView): HTMLElement {
  const groups = groupsOf(data.merchants[0], data);
  const rows = data.merchants.map((merchant): Row => {
    const ownGroups = groupsOf(merchant, data);
    const groupCounts = ownGroups.map((group) => countGroup(group, merchant.members));
    return {
      merchant,
      groups: ownGroups,
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
  const people = groups.map(({ is }, index) =>
    is === null
      ? NOT_IN_FILES
      : countText(
          countPeople(rows, index),
          rows.some(({ atLeast }) => atLeast[index]),
        ),
  );
  const failed: Column<Row> = {
    id: "failed",
    title: "Failed rules",
    number: ({ merchant }) => failedRules(merchant),
    text: ({ merchant }) => String(failedRules(merchant) ?? ""),
    show: ({ merchant }) => {
      const count = failedRules(merchant);
      if (count === null) return [];
      const href = linkTo({ merchant: merchant.code, tab: "rules" });
      return [count === 0 ? "0" : h("a", { href, class: "failed" }, count.toLocaleString("en-US"))];
    },
    style: "number",
    total: () =>
      rows.reduce((sum, { merchant }) => sum + (failedRules(merchant) ?? 0), 0).toLocaleString("en-US"),
  };
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
      ...(rows.some(({ merchant }) => merchant.name !== undefined) ? [TITLE] : []),
      ...(rows.some(({ merchant }) => merchant.rules !== undefined) ? [failed] : []),
      ...columns.map((column, index) => ({ ...column, total: () => people[index] ?? "" })),
      ...planned,
    ],
    view,
    className: "fleet",
  });
  const { state } = view;
  const update = (): void => {
    const text = state.get("search").toLowerCase();
    table.filter(({ merchant: { code, name: title = "" } }) =>
      [code, title].some((part) => part.toLowerCase().includes(text)),
    );
  };
  update();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "filters" },
      search({ state, key: "search", label: "Search merchants", onChange: update }, "Part of a code or name"),
    ),
    table.element,
    h(
      "p",
      { class: "legend" },
      data.about === "plan" ? "The numbers are those after the plan. " : null,
      "The last row counts each person once. ",
      "Higher numbers have a darker background: ",
      h(
        "span",
        { class: "scale", "aria-hidden": "true" },
        ...Array.from({ length: STEPS + 1 }, (_, step) => h("span", { class: `heat-${step}` })),
      ),
    ),
  );
}

/** Returns how many people are in a group of members, each person once, whatever the number of merchants. */
function countPeople(rows: readonly Row[], index: number): number {
  const people = rows.flatMap(({ merchant, groups }) =>
    merchant.members
      .filter((member) => groups[index]?.is?.(member))
      .map((member) => member.name.toLowerCase()),
  );
  return new Set(people).size;
}

function failedRules({ rules }: PageMerchant): number | null {
  return rules?.filter(isFailed).length ?? null;
}

function groupsOf(merchant: PageMerchant | undefined, data: PageData): readonly MemberGroup[] {
  if (merchant === undefined) return [];
  // A plan has numbers of its own.
  const shown = data.about === "plan" ? COLUMNS.filter((id) => id !== "expired") : COLUMNS;
  return memberGroups(merchant, data).filter(({ id }) => shown.includes(id));
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
