import type { Path, Problem } from "../diagnostics/problem.ts";
import { type Draft, type DraftMember, memberPath } from "../raw-file.ts";
import { MAX_ADDRESS, MAX_NICKNAME, MAX_ROLES } from "../schema/limits.ts";
import { fieldsOf, textOf } from "../values.ts";

/** Members stay within the known limits of the service, which has the last word. */
export function withinLimits({ members }: Draft): readonly Problem[] {
  return members
    .filter(mayExceed)
    .flatMap((member) => [
      ...tooMany("address", lengthOf(member.email), MAX_ADDRESS, memberPath(member, "email")),
      ...tooMany("nickname", lengthOf(nicknameOf(member)), MAX_NICKNAME, [
        ...memberPath(member, "managed"),
        "nickname",
      ]),
      ...tooMany("roles", roleCount(member), MAX_ROLES, memberPath(member, "roles")),
    ]);
}

/** Most members are within every limit. */
function mayExceed({ email, grants, fields: { managed } }: DraftMember): boolean {
  return managed !== undefined || lengthOf(email) > MAX_ADDRESS || grants.length > MAX_ROLES;
}

function tooMany(
  what: "address" | "nickname" | "roles",
  count: number,
  limit: number,
  path: Path,
): readonly Problem[] {
  return count > limit ? [{ code: "service-limit", what, count, limit, place: { at: "value", path } }] : [];
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}

function nicknameOf({ fields: { managed } }: DraftMember): string | null {
  return managed === undefined ? null : textOf(fieldsOf(managed)["nickname"]);
}

function roleCount({ grants }: DraftMember): number {
  return grants.length > MAX_ROLES ? new Set(grants.map(({ role }) => role)).size : grants.length;
}
