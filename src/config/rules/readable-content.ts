import type { ValidFile } from "../desired-settings.ts";
import type { RawEnd, RawFile, RawMember } from "../raw-file.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import { countOf, fieldsOf, listOf, textOf } from "../values.ts";

/**
 * Returns the readable content of a file with errors, for its policies and checks; leaves out access whose end date is
 * unreadable.
 */
export function readableContent({ file, fields, roles, adjustments, members }: RawFile): ValidFile {
  const content: MerchantFile = {
    version: 1,
    // Never shown.
    merchant: "-",
    policies: readablePolicies(fieldsOf(fields["policies"])),
    checks: listOf(fields["checks"]).map((check) => readableCheck(fieldsOf(check))),
    roles: [
      ...roles.flatMap(({ name, id, previously, permissions }) =>
        name === null
          ? []
          : [
              {
                name,
                ...(id !== null && { id }),
                ...(previously !== null && { previously }),
                permissions: texts(permissions),
              },
            ],
      ),
      ...adjustments.flatMap(({ name, add, remove }) =>
        name === null ? [] : [{ name, adjust: { add: texts(add), remove: texts(remove) } }],
      ),
    ],
    members: members.flatMap(readableMember),
  };
  return { file, content };
}

function readablePolicies(fields: Readonly<Record<string, unknown>>): NonNullable<MerchantFile["policies"]> {
  const { email_domains: domains, separate, max_holders, require_until, forbid_permissions } = fields;
  const most = Object.entries(fieldsOf(max_holders)).flatMap(([role, value]) => {
    const count = countOf(value);
    return count === null ? [] : [[role, count] as const];
  });
  return {
    ...(Array.isArray(domains) && domains.every(isText) && { email_domains: domains }),
    separate: listOf(separate).map((roles) => texts(listOf(roles))),
    max_holders: Object.fromEntries(most),
    require_until: texts(listOf(require_until)),
    forbid_permissions: texts(listOf(forbid_permissions)),
  };
}

/** Returns a check; one that is unreadable forbids nothing, but keeps its index. */
function readableCheck(
  fields: Readonly<Record<string, unknown>>,
): NonNullable<MerchantFile["checks"]>[number] {
  const { only, cannot } = fields;
  const can = textOf(fields["can"]);
  const atMost = countOf(fields["at_most"]);
  if (can !== null && Array.isArray(only) && only.every((entry) => typeof entry === "string")) {
    return { can, only };
  }
  if (can !== null && atMost !== null) return { can, at_most: atMost };
  return { member: textOf(fields["member"]) ?? "", cannot: texts(listOf(cannot)) };
}

function readableMember(member: RawMember): NonNullable<MerchantFile["members"]> {
  const { email, end, grants, fields } = member;
  const readable = grants.filter((grant) => isReadable(grant.end));
  const isLost = grants.length > 0 && readable.length === 0;
  if (email === null || !isReadable(end) || isLost) return [];
  return [
    {
      email,
      ...(Object.hasOwn(fields, "roles") && {
        roles: readable.map(({ role, end: last }) => (last?.until ? { role, until: last.until.text } : role)),
      }),
      ...(end?.until && { until: end.until.text }),
      ...(Object.hasOwn(fields, "managed") && { managed: { password_env: "-" } }),
    },
  ];
}

function isReadable(end: RawEnd | null): boolean {
  return end === null || end.until !== null;
}

function isText(value: unknown): value is string {
  return textOf(value) !== null;
}

function texts(values: readonly unknown[]): string[] {
  return values.filter(isText);
}
