import { counted, groupByKey } from "../../lib/text.ts";
import type { CheckStatus, HealthGroup, HealthReport, NeededPermissions } from "../../model/reports.ts";
import {
  type Block,
  type Document,
  type Fold,
  fold,
  type Mark,
  sentence,
  type Text,
} from "../blocks/block.ts";

/** Returns all checks, the permissions to grant, and what to do next. */
export function healthDocument({ groups, needed, next }: HealthReport): Document {
  const lengths = groups.flatMap(({ checks }) => checks.map(({ name }) => name.length));
  const width = Math.max(0, ...lengths) + 1;
  return [
    ...groups.map((group) => [
      fold(titleOf(group), [
        {
          kind: "facts",
          rows: group.checks.map(({ name, status, detail }) => ({
            label: name,
            text: detail,
            mark: MARKS[status],
          })),
          width,
          isPlain: true,
        },
      ]),
    ]),
    needed.length > 0 ? [fold("Least permissions to grant", neededBlocks(needed))] : [],
    [end(groups, next)],
  ];
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

function titleOf({ about, names }: HealthGroup): string {
  const title = about === "merchant" && names.length > 1 ? `${names.length} merchants:` : TITLES[about];
  const more = names.length > MAX_NAMED ? ["…"] : [];
  return [title, [...names.slice(0, MAX_NAMED), ...more].join(", ")].join(" ").trim();
}

const MARKS: Readonly<Record<CheckStatus, Mark>> = { ok: "ok", failed: "failed", unknown: "unknown" };

/** Returns the permissions of each command; commands of a key that need the same ones share their lines. */
function neededBlocks(needed: readonly NeededPermissions[]): readonly Block[] {
  const keys = new Set(needed.map(({ keySource }) => keySource));
  const alike = groupByKey(needed, ({ keySource, permissions }) => JSON.stringify([keySource, permissions]));
  return alike.flatMap((equalNeeds) => {
    const [{ keySource, permissions, missing }] = equalNeeds;
    const commands = equalNeeds.map(({ command }) => command).join(", ");
    const listed = permissions.flatMap(
      (text, index): Exclude<Text, string> => [
        ...(index === 0 ? [] : [", "]),
        missing.includes(text) ? { text, tone: "red" } : text,
      ],
    );
    return sentence(keys.size > 1 ? `${commands}, with ${keySource}` : commands, {
      below: [sentence(listed, { isProse: true })],
    });
  });
}

function end(groups: readonly HealthGroup[], next: readonly string[]): Fold {
  const steps = (texts: readonly string[]): readonly Block[] =>
    texts.map((text) => sentence(text, { mark: "next" }));
  const count = (wantedStatus: CheckStatus): number =>
    groups.flatMap(({ checks }) => checks.filter(({ status }) => status === wantedStatus)).length;
  const [failed, unknown] = [count("failed"), count("unknown")];
  const rest = unknown > 0 ? `, ${unknown} unknown` : "";
  if (failed > 0) return fold(`${counted(failed, "check")} failed${rest}.`, steps(next), "red");
  return unknown > 0
    ? fold(`Nothing failed${rest}.`, steps(["rolecall plan"]), "yellow")
    : fold("No problems found.", steps(["rolecall plan"]), "green");
}
