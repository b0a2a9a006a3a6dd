import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { RowView } from "../view/change-view.ts";
import { equalGroups, equalText, fleetRiskTitle, messageAt, riskText } from "../view/equal-text.ts";
import { type FleetView, MIN_FLEET } from "../view/fleet-view.ts";

/** Escapes a text from a file or the service for an HTML element or attribute. */
export function escapeHtml(text: string): string {
  return oneLine(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/**
 * Returns the part that many merchants share: refusals, problems, equal changes, risks and who gains what; empty for a
 * few merchants.
 */
export function fleetSection(fleet: FleetView): string {
  if (fleet.views.length < MIN_FLEET) return "";
  const { refusals, errors, overrides, risks, impact } = fleet;
  const message = (group: (typeof refusals | typeof errors)[number]): string => {
    const { message: text, hint } = messageAt<typeof group.item>(fleet, group as never);
    return `<li><span>${escapeHtml(text)}</span><span class="hint">${escapeHtml(hint ?? "")}</span></li>`;
  };
  const commands = overrides.commands.map(
    (command) =>
      `<li><span>To override at all of them, for this run only:</span> <code>${escapeHtml(command)}</code></li>`,
  );
  const rows = equalGroups(fleet).flatMap((group) => group.rows);
  return [
    block("error", "Problems of several merchants", errors.map(message)),
    block("error", "Refused at several merchants", [...refusals.map(message), ...commands]),
    block("equal", "Equal changes of several merchants", rows.map(equalItem)),
    ...risks.map((risk) =>
      block(
        "risk",
        fleetRiskTitle(risk),
        shortened(risk.equal.map((group) => item(riskText(fleet, risk, group)))),
      ),
    ),
    impact.permissions.length === 0 ? "" : impactTable(fleet),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function block(kind: string, title: string, items: readonly string[]): string {
  if (items.length === 0) return "";
  return `<section class="block ${kind}"><h2>${escapeHtml(title)}</h2><ul>\n${items.join("\n")}\n</ul></section>`;
}

function item(text: string): string {
  return `<li>${escapeHtml(text)}</li>`;
}

const ITEMS_SHOWN = 20;

function shortened(items: readonly string[]): readonly string[] {
  const more = items.length - ITEMS_SHOWN;
  return more > 1
    ? [...items.slice(0, ITEMS_SHOWN), item(`and ${grouped(more)} more, at the merchants`)]
    : items;
}

const MARKS = {
  create: ["gained", "+"],
  update: ["edited", "~"],
  replace: ["edited", "±"],
  delete: ["lost", "−"],
} as const;

/** Returns a row of equal changes, with its details, merchants and names folded. */
function equalItem(row: RowView): string {
  const { kind, equal } = row;
  if (equal === undefined) return item(row.name);
  const { subject, where, effect, names, whole } = equalText(row, equal);
  const [tone, sign] = MARKS[kind];
  const mark = `<span class="mark ${tone}" role="img" aria-label="${kind}" title="${kind}">${sign}</span>`;
  const says = `<strong>${escapeHtml(subject)}</strong> in ${escapeHtml(where)}${effect === "" ? "" : `; ${escapeHtml(effect)}`}`;
  const details = whole
    ? []
    : row.details.flatMap(({ label, removed, added, plain }) => [
        ...removed.map((item) => `<span class="hint">${escapeHtml(`${label}: − ${item}`)}</span>`),
        ...added.map((item) => `<span class="hint">${escapeHtml(`${label}: + ${item}`)}</span>`),
        ...(plain.length === 0
          ? []
          : [`<span class="hint">${escapeHtml(`${label}: ${plain.join(", ")}`)}</span>`]),
      ]);
  const lists = [
    folded(counted(equal.merchants.length, "merchant"), equal.merchants),
    ...(names.length === 0 ? [] : [folded(counted(names.length, row.resource), names)]),
  ];
  return `<li>${mark} ${says}${details.join("")}<div>${lists.join("")}</div></li>`;
}

function folded(title: string, names: readonly string[]): string {
  return `<details><summary>${escapeHtml(title)}</summary><p>${escapeHtml(names.join(", "))}</p></details>`;
}

/** Returns a diverging bar for each permission: to the left who loses it, to the right who gains it. */
function impactTable({ impact }: FleetView): string {
  const largest = Math.max(...impact.permissions.flatMap(({ gained, lost }) => [gained, lost]));
  const count = (kind: "gained" | "lost", sign: string, number: number): string =>
    `<td class="number diff ${kind}">${number === 0 ? "" : `${sign}${grouped(number)}`}</td>`;
  const rows = impact.permissions.map(({ permission, gained, lost, merchants }) => {
    const cells = [
      `<th scope="row"><bdi>${escapeHtml(permission)}</bdi></th>`,
      count("lost", "−", lost),
      `<td aria-hidden="true">${bars(lost, gained, largest)}</td>`,
      count("gained", "+", gained),
      `<td class="number">${grouped(merchants)}</td>`,
    ];
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<section class="block impact"><h2>Permissions gained and lost</h2>
<table class="bars fleet-bars">
<thead><tr><th scope="col">Permission</th><th scope="col" class="number">Lose it</th><td></td><th scope="col" class="number">Gain it</th><th scope="col" class="number">Merchants</th></tr></thead>
<tbody>${rows.join("\n")}</tbody>
</table></section>`;
}

/** Draws in SVG: the page's policy allows no style attributes. */
function bars(lost: number, gained: number, largest: number): string {
  const width = (number: number): string => ((number / largest) * 50).toFixed(2);
  const bar = (kind: string, from: number, number: number): string =>
    number === 0
      ? ""
      : `<rect class="${kind}" x="${from.toFixed(2)}" y="2" width="${width(number)}" height="8"/>`;
  const start = 50 - Number(width(lost));
  return `<svg viewBox="0 0 100 12" preserveAspectRatio="none">${bar("lost", start, lost)}${bar("gained", 50, gained)}<path d="M50 0V12"/></svg>`;
}
