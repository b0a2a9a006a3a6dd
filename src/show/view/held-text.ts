import { MEMBER_FIELDS, memberValues } from "../../kernel/fields/member.ts";
import { shownValues } from "../../kernel/fields/show.ts";
import type { MemberImage } from "../../model/plan.ts";

/** Describes what a member holds: its roles, and each other field that has a value. */
export function heldText(image: MemberImage): string {
  const fields = shownValues(MEMBER_FIELDS, memberValues(image)).map(
    ({ label, plain }) => `${label} ${plain.join(", ")}`,
  );
  return fields.join("; ") || "nothing";
}
