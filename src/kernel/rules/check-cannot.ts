import { sortedSet } from "../../lib/text.ts";
import { refusalRule } from "../problems/rule-table.ts";
import { type CheckForm, ungranted } from "./check.ts";
import { violationsOfPeople } from "./check-of-people.ts";
import { type CannotCheck, cannotSetting } from "./settings/cannot-setting.ts";

/** Lists permissions that a member must not have. */
export const cannotCheck: CheckForm<CannotCheck> = {
  ...cannotSetting,
  diagnostic: refusalRule("A member must not have a permission that a check forbids."),
  text: ({ member, cannot }, reach) => `${member} cannot${reach} ${sortedSet(cannot).join(", ")}`,
  subjects: ({ member }, _, { index, addressesOf }) =>
    addressesOf(member).flatMap((address) => index.byAddress.get(address) ?? []),
  judge: (check, context) =>
    violationsOfPeople(
      check,
      cannotCheck.subjects(check, [], context),
      check.cannot,
      {
        code: "check-cannot",
        sentence: "a check forbids this",
        subject: (permission) => ({ kind: "cannot", origin: check.origin, permission }),
      },
      context,
    ),
  looser({ member, cannot }, others, reach) {
    const still = new Set(others.flatMap((other) => other.cannot));
    const free = cannot.filter((permission) => !still.has(permission));
    return free.length === 0 ? [] : [`the check that ${member} cannot${reach} ${free.join(", ")} is gone`];
  },
  lint({ cannot }, { isUngranted }) {
    const index = cannot.findIndex(isUngranted);
    return index < 0 ? null : ungranted(cannot[index] ?? "", ["cannot", index]);
  },
};
