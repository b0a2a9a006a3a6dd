import { quoted, sortedSet } from "../../lib/text.ts";
import { refusalRule } from "../problems/rule-table.ts";
import { type CheckForm, ungranted } from "./check.ts";
import { violationsOfPeople } from "./check-of-people.ts";
import { countWork, peopleWith } from "./judged.ts";
import { type OnlyCheck, onlySetting, roleOfHolder } from "./settings/only-setting.ts";

/** Lists the only people and roles that may have a permission. */
export const onlyCheck: CheckForm<OnlyCheck> = {
  ...onlySetting,
  diagnostic: refusalRule("Only members that a check allows may have a permission."),
  text: ({ can, only }, reach) => `can${reach} ${can}: only ${sortedSet(only).join(", ") || "nobody"}`,
  subjects({ only }, people, { find, addressesOf }) {
    const roles = new Set(
      only.flatMap((holder) => {
        const role = roleOfHolder(holder);
        return role === null ? [] : (find(role) ?? []);
      }),
    );
    const allowed = new Set(only.flatMap(addressesOf));
    return people.filter(
      ({ email, roles: held }) =>
        !allowed.has(email?.toLowerCase() ?? "") && !held.some((role) => roles.has(role)),
    );
  },
  judge(check, context) {
    const people = check.reach ? context.index.people : peopleWith(context.index, check.can);
    countWork(context, people.length);
    return violationsOfPeople(
      check,
      onlyCheck.subjects(check, people, context),
      [check.can],
      {
        code: "check-only",
        sentence: "a check does not allow this",
        isShared: true,
        subject: () => ({ kind: "check", origin: check.origin, key: "only" }),
      },
      context,
    );
  },
  looser({ can, only }, others, reach) {
    const [added] = others
      .map((other) => other.only.filter((holder) => !hasHolder(only, holder)))
      .sort((a, b) => a.length - b.length);
    const what = `the check that only ${only.map(holderText).join(", ") || "nobody"} can${reach} ${can}`;
    if (added === undefined) return [`${what} is gone`];
    return added.length === 0 ? [] : [`${what} also allows ${added.map(holderText).join(", ")}`];
  },
  lint({ can, only }, { isLive, isUngranted, isHeldByAll }) {
    // Permissions of predefined roles are not in the files, and nobody has to hold these roles.
    if (isLive && isUngranted(can)) return ungranted(can, ["can"]);
    const roles = only.map(roleOfHolder);
    const index = roles.findIndex((role) => role !== null && isHeldByAll(role));
    if (index < 0) return null;
    return {
      path: ["only", index],
      message: `Everybody holds ${quoted(roles[index] ?? "")}, so everybody may use ${can}.`,
      hint: "List the roles or people who should have it.",
    };
  },
};

function hasHolder(holders: readonly string[], holder: string): boolean {
  const isRole = roleOfHolder(holder) !== null;
  return holders.some(
    (allowed) => allowed === holder || (!isRole && allowed.toLowerCase() === holder.toLowerCase()),
  );
}

function holderText(holder: string): string {
  const role = roleOfHolder(holder);
  return role === null ? holder : `holders of "${role}"`;
}
