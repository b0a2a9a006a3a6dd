import { oneLine } from "../../lib/escape.ts";
import { counted, groupByKey } from "../../lib/text.ts";
import type { IgnoredAccess } from "../../model/questions.ts";

/**
 * Says what files ignore, one sentence for merchants that ignore the same; `advice` says how to see the access of
 * patterns, and is empty for what is live.
 */
export function ignoredTexts(ignored: readonly IgnoredAccess[], advice: string): readonly string[] {
  const groups = groupByKey(ignored, ({ roles, members }) => JSON.stringify([roles, members]));
  const shown = groups.slice(0, MAX_GROUPS).map((group) => {
    const [{ roles, members }] = group;
    const what = [...some("role", roles), ...some("member", members)].join(" and ");
    const where = listed(group.map(({ merchant }) => merchant));
    return advice === ""
      ? `Left alone by plans, because the files ignore them (${where}): ${what}.`
      : `Not in this answer, because the files ignore them (${where}): ${what}. ${advice}`;
  });
  const more = groups.slice(MAX_GROUPS).flat().length;
  return more === 0 ? shown : [...shown, `${counted(more, "more merchant")} ignore roles or members, too.`];
}

const MAX_GROUPS = 5;
const MAX_NAMES = 10;

function some(what: "role" | "member", names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`${names.length === 1 ? what : `${what}s`} ${listed(names)}`];
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const shown = names.slice(0, MAX_NAMES).map(oneLine).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
