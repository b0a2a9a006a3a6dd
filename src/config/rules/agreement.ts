import type { LocatedProblem, Path, Site } from "../diagnostics/problem.ts";
import {
  type Draft,
  type DraftGrant,
  type DraftMember,
  grantPath,
  memberSite,
  rolesByOtherNames,
  siteOf,
} from "../raw-file.ts";
import { keysAt } from "../schema/merchant-schema.ts";
import { fieldsOf, sameValue, valueAt } from "../values.ts";
import type { MerchantView } from "./rule-context.ts";

const FIELDS = ["id", "until", "metadata", "managed"];

/** What two files say of the same member is the same; their roles are joined. */
export function agreeingMembers({ members, drafts }: MerchantView): readonly LocatedProblem[] {
  if (drafts.length < 2) {
    return [];
  }
  const firsts = new Map<string, { readonly value: unknown; readonly site: Site }>();
  return members.flatMap((member) =>
    FIELDS.flatMap((field): readonly LocatedProblem[] => {
      const { email, address, file, fields } = member;
      if (email === null || !Object.hasOwn(fields, field)) {
        return [];
      }
      const site = memberSite(member, field);
      const key = JSON.stringify([address, field]);
      const first = firsts.get(key);
      if (first === undefined) {
        firsts.set(key, { value: fields[field], site });
        return [];
      }
      // In one file the whole entry is a repeat.
      return first.site.file === file || sameValue(first.value, fields[field])
        ? []
        : [{ code: "conflicting-member", email, field, place: site, first: first.site }];
    }),
  );
}

/** A member is given a role with one end, or with none, by whichever of its names. */
export function agreeingGrants({ roles, members, twice }: MerchantView): readonly LocatedProblem[] {
  const names = rolesByOtherNames(roles);
  const nameOf = (role: string): string => names.get(role) ?? role;
  const byAddress = new Map<string, DraftMember[]>();
  // Only whoever stands there twice, or is given a role twice, can be given it with two ends.
  for (const member of members) {
    const { address, grants, repeated } = member;
    const isGivenTwice = repeated || (grants.length > 1 && grants.some(({ role }) => names.has(role)));
    if (address !== null && (isGivenTwice || twice.has(address))) {
      const known = byAddress.get(address);
      if (known === undefined) {
        byAddress.set(address, [member]);
      } else {
        known.push(member);
      }
    }
  }
  return [...byAddress.values()].flatMap((entries) => conflicts(entries, nameOf));
}

/** A member is not told to have no roles in one file, and given some in another. */
export function agreeingRoles({ members, drafts, twice }: MerchantView): readonly LocatedProblem[] {
  if (drafts.length < 2) {
    return [];
  }
  const given = new Map<string, DraftMember>();
  for (const member of members) {
    const { address, grants } = member;
    if (address !== null && twice.has(address) && grants.length > 0 && !given.has(address)) {
      given.set(address, member);
    }
  }
  return members.flatMap((member): readonly LocatedProblem[] => {
    const { email, address, file, grants, rolesComplete } = member;
    const other = address === null ? undefined : given.get(address);
    const isEmpty = rolesComplete && grants.length === 0;
    return email === null || other === undefined || other.file === file || !isEmpty
      ? []
      : [
          {
            code: "conflicting-member",
            email,
            field: "roles",
            place: memberSite(member, "roles"),
            first: memberSite(other, "roles"),
          },
        ];
  });
}

function conflicts(
  entries: readonly DraftMember[],
  nameOf: (role: string) => string,
): readonly LocatedProblem[] {
  const firsts = new Map<string, GrantOf>();
  return entries.flatMap((member) =>
    member.grants.flatMap((grant): readonly LocatedProblem[] => {
      const { role } = grant;
      const first = firsts.get(nameOf(role));
      if (first === undefined) {
        firsts.set(nameOf(role), { member, grant });
        return [];
      }
      return endOf(first.grant) === endOf(grant)
        ? []
        : [{ code: "conflicting-grant", role, place: grantSite({ member, grant }), first: grantSite(first) }];
    }),
  );
}

interface GrantOf {
  readonly member: DraftMember;
  readonly grant: DraftGrant;
}

/** An end that cannot be read has been refused already, and conflicts with nothing. */
function endOf({ end }: DraftGrant): number | null {
  return end?.until?.ends ?? null;
}

function grantSite({ member, grant }: GrantOf): Site {
  return siteOf(member.file, grantPath(member, grant));
}

const SETTINGS: readonly Path[] = [
  ...keysAt(["sync"]).map((key) => ["sync", key]),
  ["guards", "max_removals"],
];

const MAPS: readonly Path[] = [
  ["guards", "min_holders"],
  ["policies", "max_holders"],
];

/** What two files set is set to the same. */
export function agreeingSettings({ drafts }: MerchantView): readonly LocatedProblem[] {
  if (drafts.length < 2) {
    return [];
  }
  const firsts = new Map<string, { readonly value: unknown; readonly site: Site }>();
  return drafts.flatMap((draft) =>
    settingsOf(draft).flatMap((path): readonly LocatedProblem[] => {
      const value = valueAt(draft.fields, path);
      const site = siteOf(draft.file, path);
      const first = firsts.get(JSON.stringify(path));
      if (first === undefined) {
        firsts.set(JSON.stringify(path), { value, site });
        return [];
      }
      return sameValue(first.value, value)
        ? []
        : [{ code: "conflicting-setting", path, place: site, first: first.site }];
    }),
  );
}

function settingsOf({ fields }: Draft): readonly Path[] {
  const keys = MAPS.flatMap((path) =>
    Object.keys(fieldsOf(valueAt(fields, path))).map((key) => [...path, key]),
  );
  return [...SETTINGS, ...keys].filter((path) => valueAt(fields, path) !== undefined);
}
