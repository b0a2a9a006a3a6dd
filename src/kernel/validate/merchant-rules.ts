import { groupByKey } from "../../lib/text.ts";
import { COMMON_FIELDS } from "../fields/member.ts";
import type { FileLocation, LocatedProblem, Path } from "../problems/problem.ts";
import { limitsInFile } from "../rules/settings/every-setting.ts";
import { HOLDERS, type SettingLimit } from "../rules/settings/setting-kinds.ts";
import { merchantSchema } from "../schema/merchant-schema.ts";
import {
  grantPath,
  locationOf,
  memberLocation,
  type RawFile,
  type RawGrant,
  type RawMember,
  rolesByOtherNames,
} from "../schema/raw-file.ts";
import { keysAt } from "../schema/schema-keys.ts";
import { sameValue, valueAt } from "../values/values.ts";
import { soundAdjustments, strictLimits } from "./adjustments.ts";
import {
  noDuplicateMembers,
  noDuplicateRoles,
  noIgnoredEntries,
  previousAddresses,
  previousNames,
} from "./identity.ts";
import {
  assignableGrants,
  currentRoleNames,
  heldRoles,
  knownMembers,
  knownProtectedRoles,
  knownRoles,
  noLeavers,
  usualPermissions,
  usualRoleIds,
} from "./references.ts";
import type { RuleContext } from "./rule-context.ts";

/** A rule for the files of one merchant together. */
type MerchantRule = (merchant: RuleContext) => readonly LocatedProblem[];

const RULES: readonly MerchantRule[] = [
  noDuplicateRoles,
  noDuplicateMembers,
  noIgnoredEntries,
  previousNames,
  previousAddresses,
  soundAdjustments,
  agreeingMembers,
  agreeingGrants,
  agreeingRoles,
  agreeingSettings,
  strictLimits,
  currentRoleNames,
  knownRoles,
  knownProtectedRoles,
  knownMembers,
  assignableGrants,
  noLeavers,
  heldRoles,
  usualPermissions,
  usualRoleIds,
  possibleHolders,
];

/** Returns the problems between the files of one merchant, without violations of policies and checks. */
export function checkMerchant(merchant: RuleContext): readonly LocatedProblem[] {
  return RULES.flatMap((rule) => rule(merchant));
}

/** The keys of a member's entry on which files have to agree. */
const AGREED = [
  "id",
  "previously",
  "from",
  "until",
  "suspended",
  "reinvite",
  ...Object.keys(COMMON_FIELDS),
  "managed",
].filter((key) => key !== "roles");

/** Requires that files agree on a member, except for its roles, which are combined. */
function agreeingMembers({ members, rawFiles }: RuleContext): readonly LocatedProblem[] {
  if (rawFiles.length < 2) {
    return [];
  }
  const firsts = new Map<string, { readonly value: unknown; readonly location: FileLocation }>();
  return members.flatMap((member) =>
    AGREED.flatMap((field): readonly LocatedProblem[] => {
      const { email, address, file, fields } = member;
      if (email === null || !Object.hasOwn(fields, field)) {
        return [];
      }
      const location = memberLocation(member, field);
      const key = JSON.stringify([address, field]);
      const first = firsts.get(key);
      if (first === undefined) {
        firsts.set(key, { value: fields[field], location });
        return [];
      }
      // Within one file, the whole entry is a duplicate.
      return first.location.file === file || sameValue(first.value, fields[field])
        ? []
        : [{ code: "conflicting-member", email, field, location, first: first.location }];
    }),
  );
}

/** Requires that all grants of a role to a member have the same dates. */
function agreeingGrants({ roles, members, duplicateAddresses }: RuleContext): readonly LocatedProblem[] {
  const names = rolesByOtherNames(roles);
  const nameOf = (role: string): string => names.get(role) ?? role;
  // Only a repeated member, or one with a repeated role, can have conflicting dates.
  const suspects = members.filter(({ address, grants, repeated }) => {
    const isGivenTwice = repeated || (grants.length > 1 && grants.some(({ role }) => names.has(role)));
    return address !== null && (isGivenTwice || duplicateAddresses.has(address));
  });
  return groupByKey(suspects, ({ address }) => address).flatMap((entries) => conflicts(entries, nameOf));
}

/** Requires that a member without roles in one file has none in another. */
function agreeingRoles({ members, rawFiles, duplicateAddresses }: RuleContext): readonly LocatedProblem[] {
  if (rawFiles.length < 2) {
    return [];
  }
  const given = new Map<string, RawMember>();
  for (const member of members) {
    const { address, grants } = member;
    if (address !== null && duplicateAddresses.has(address) && grants.length > 0 && !given.has(address)) {
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
            location: memberLocation(member, "roles"),
            first: memberLocation(other, "roles"),
          },
        ];
  });
}

function conflicts(
  entries: readonly RawMember[],
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
      return datesOf(first.grant) === datesOf(grant)
        ? []
        : [
            {
              code: "conflicting-grant",
              role,
              location: grantSite({ member, grant }),
              first: grantSite(first),
            },
          ];
    }),
  );
}

interface GrantOf {
  readonly member: RawMember;
  readonly grant: RawGrant;
}

/** Returns the dates, for comparison; an unreadable one has been reported and conflicts with none. */
function datesOf({ begin, end }: RawGrant): string {
  return `${begin?.from?.starts ?? ""} ${end?.until?.ends ?? ""}`;
}

function grantSite({ member, grant }: GrantOf): FileLocation {
  return locationOf(member.file, grantPath(member, grant));
}

const SETTINGS: readonly Path[] = [
  ["environment"],
  ...keysAt(["sync"], merchantSchema).map((key) => ["sync", key]),
];

/** Requires that files agree on a setting. */
function agreeingSettings({ rawFiles }: RuleContext): readonly LocatedProblem[] {
  if (rawFiles.length < 2) {
    return [];
  }
  const firsts = new Map<string, { readonly value: unknown; readonly location: FileLocation }>();
  return rawFiles.flatMap((raw) =>
    settingsOf(raw).flatMap((path): readonly LocatedProblem[] => {
      const value = valueAt(raw.fields, path);
      const location = locationOf(raw.file, path);
      const first = firsts.get(JSON.stringify(path));
      if (first === undefined) {
        firsts.set(JSON.stringify(path), { value, location });
        return [];
      }
      return sameValue(first.value, value)
        ? []
        : [{ code: "conflicting-setting", path, location, first: first.location }];
    }),
  );
}

/** Requires that the minimum number of holders of a role does not exceed its maximum. */
function possibleHolders({ rawFiles, renamed }: RuleContext): readonly LocatedProblem[] {
  const strictest = (direction: SettingLimit["stricter"]) => {
    const limits = new Map<string, SettingLimit & { readonly location: FileLocation }>();
    for (const { file, fields } of rawFiles) {
      for (const limit of limitsInFile(fields)) {
        if (limit.role === null || limit.unit !== HOLDERS || limit.stricter !== direction) continue;
        const role = renamed.get(limit.role) ?? limit.role;
        const earlier = limits.get(role);
        if (earlier === undefined || limit.strictness > earlier.strictness)
          limits.set(role, { ...limit, location: locationOf(file, limit.path) });
      }
    }
    return limits;
  };
  const most = strictest("less");
  return [...strictest("more")].flatMap(([role, min]): readonly LocatedProblem[] => {
    const max = most.get(role);
    if (max === undefined || Number(min.value) <= Number(max.value)) return [];
    return [
      {
        code: "holders-contradiction",
        role,
        min: Number(min.value),
        max: Number(max.value),
        keys: { min: String(min.path[1]), max: String(max.path[1]) },
        location: max.location,
        first: min.location,
      },
    ];
  });
}

function settingsOf({ fields }: RawFile): readonly Path[] {
  return SETTINGS.filter((path) => valueAt(fields, path) !== undefined);
}
