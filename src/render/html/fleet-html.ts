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

/** Returns what many merchants share: refusals, problems, equal changes, risks and who gains what; empty for a few. */
export function fleetSection(fleet: FleetView): string {
  if (fleet.views.length < MIN_FLEET) return "";
  const { refusals, errors, overrides, risks, impact } = fleet;
  const message = (group: (typeof refusals | typeof errors)[number]): string => {
    const { message: text, hint } = messageAt<typeof group.item>(fleet, group as never);
    return `<li><span>${escapeHtml(text)}</span><span class="hint">${escapeHtml(hint ?? "")}</span></li>`;
  };
  const commands = overrides.commands.map(
    (one) =>
      `<li><span>To override at all of them, in this run alone:</span> <code>${escapeHtml(one)}</code></li>`,
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
        ...removed.map((one) => `<span class="hint">${escapeHtml(`${label}: − ${one}`)}</span>`),
        ...added.map((one) => `<span class="hint">${escapeHtml(`${label}: + ${one}`)}</span>`),
        ...(plain.length === 0
          ? []
          : [`<span class="hint">${escapeHtml(`${label}: ${plain.join(", ")}`)}</span>`]),
      ]);
  const lists = [
    folded(counted(equal.merchants.length, "merchant"), equal.merchants),
    ...(names.length === 0 ? [] : [folded(counted(names.length, row.resource), names)]),
  ];
  return `<li>${mark} ${says}${details.join("")}${lists.join("")}</li>`;
}

function folded(title: string, names: readonly string[]): string {
  return `<details><summary>${escapeHtml(title)}</summary><p>${escapeHtml(names.join(", "))}</p></details>`;
}

function impactTable({ impact }: FleetView): string {
  const rows = impact.permissions.map(({ permission, gained, lost, merchants }) => {
    const cells = [gained, lost, merchants].map((one) => `<td>${grouped(one)}</td>`).join("");
    return `<tr><th scope="row"><bdi>${escapeHtml(permission)}</bdi></th>${cells}</tr>`;
  });
  const heads = ["Permission", "Members who gain it", "Members who lose it", "Merchants"];
  return `<section class="block"><h2>Who gains and loses what</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Permissions gained and lost"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${rows.join("\n")}</tbody>
</table></div></section>`;
}
