import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey } from "../../lib/text.ts";
import type {
  CheckStatus,
  HealthCheck,
  HealthGroup,
  HealthReport,
  NeededPermissions,
} from "../../model/reports.ts";
import type { Paint, Style } from "../style.ts";
import { hangingLines, padTo, wrapList } from "./wrap.ts";

/** Formats all checks, the permissions to grant, and what to do next. */
export function renderHealth(report: HealthReport, style: Style): string {
  const { groups, needed, next } = report;
  const names = groups.flatMap(({ checks }) => checks.map(({ name }) => name.length));
  const width = Math.max(0, ...names);
  const sections = [
    ...groups.map((group) => [...headingOf(group, style), ...checksOf(group.checks, width, style)]),
    ...(needed.length > 0 ? [neededLines(needed, style)] : []),
    nextLines(groups, next, style),
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const TITLES: Readonly<Record<HealthGroup["about"], string>> = {
  machine: "This machine",
  service: "Service",
  key: "Key in",
  merchant: "Merchant",
  github: "GitHub:",
};

/** Maximum number of merchants in a heading. */
const MAX_NAMED = 5;

function headingOf({ about, names }: HealthGroup, style: Style): readonly string[] {
  const title = about === "merchant" && names.length > 1 ? `${names.length} merchants:` : TITLES[about];
  const shown = names.slice(0, MAX_NAMED).map((name) => oneLine(name));
  const more = names.length > MAX_NAMED ? ["…"] : [];
  return hangingLines([title, [...shown, ...more].join(", ")].join(" ").trim(), style.columns, "", "  ").map(
    (line) => style.bold(line),
  );
}

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "✓", failed: "✗", unknown: "?" };

const PAINTS: Readonly<Record<CheckStatus, (style: Style) => Paint>> = {
  ok: ({ green }) => green,
  failed: ({ red }) => red,
  unknown: ({ yellow }) => yellow,
};

/**
 * Minimum width of the column of details beside the names; on a narrower terminal, they follow the name on a separate
 * line.
 */
const MIN_DETAIL = 30;

function checksOf(checks: readonly HealthCheck[], width: number, style: Style): readonly string[] {
  const beside = style.columns - width - 6 >= MIN_DETAIL;
  return checks.flatMap(({ name, status, detail }) => {
    const paint = PAINTS[status](style);
    const mark = paint(MARKS[status]);
    const text = oneLine(detail);
    if (beside) {
      return hangingLines(text, style.columns, `  ${mark} ${padTo(name, width)}  `, " ".repeat(width + 6));
    }
    return [`  ${mark} ${name}`, ...hangingLines(text, style.columns, "      ", "      ")];
  });
}

/** Formats the permissions of each command; commands of a key that need the same ones share their lines. */
function neededLines(needed: readonly NeededPermissions[], style: Style): readonly string[] {
  const keys = new Set(needed.map(({ keySource }) => keySource));
  const alike = groupByKey(needed, ({ keySource, permissions }) => JSON.stringify([keySource, permissions]));
  return [
    style.bold("Least permissions to grant"),
    ...alike.flatMap((equalNeeds) => {
      const [{ keySource, permissions, missing }] = equalNeeds;
      const commands = equalNeeds.map(({ command }) => command).join(", ");
      const head = keys.size > 1 ? `${commands}, with ${oneLine(keySource)}` : commands;
      const lines = wrapList(permissions, style.columns - 4).map((line) =>
        line.replaceAll(/[\w.]+/g, (permission) =>
          missing.includes(permission) ? style.red(permission) : permission,
        ),
      );
      return [`  ${head}`, ...lines.map((line) => `    ${line}`)];
    }),
  ];
}

function nextLines(groups: readonly HealthGroup[], next: readonly string[], style: Style): readonly string[] {
  const steps = next.flatMap((step) =>
    hangingLines(oneLine(step), style.columns, `  ${style.cyan("→")} `, "    "),
  );
  const count = (wantedStatus: CheckStatus): number =>
    groups.flatMap(({ checks }) => checks.filter(({ status }) => status === wantedStatus)).length;
  const [failed, unknown] = [count("failed"), count("unknown")];
  const rest = unknown > 0 ? `, ${unknown} unknown` : "";
  if (failed > 0) return [style.red(`${counted(failed, "check")} failed${rest}.`), ...steps];
  const summary = unknown > 0 ? style.yellow(`Nothing failed${rest}.`) : style.green("No problems found.");
  return [summary, `  ${style.cyan("→")} rolecall plan`];
}
