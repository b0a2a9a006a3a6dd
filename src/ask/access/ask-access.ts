import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { isLiteralGlob } from "../../lib/glob.ts";
import { byCodeUnit, sortedSet } from "../../lib/text.ts";
import type {
  AccessAnswer,
  AccessAnswers,
  AccessExplanation,
  AccessExplanations,
  AccessSnapshot,
  AccessWay,
  SnapshotMember,
  SnapshotRole,
  UnknownAnswer,
} from "../../model/questions.ts";

/** Returns who holds permissions, by a name or a glob, and through which roles; sorted by permission-holder and merchant. */
export function whoCan(
  snapshots: readonly AccessSnapshot[],
  permission: string,
  matches: GlobMatch,
): AccessAnswers {
  const isMeant = nameMatcher(permission, matches);
  return ask(snapshots, {
    granted: ({ permissions }) => permissions?.filter(isMeant).sort(byCodeUnit) ?? null,
    member: () => true,
    matched: ({ roles }) => roles.flatMap(({ permissions }) => permissions?.filter(isMeant) ?? []),
    unknown: unknownHolders,
  });
}

/** Returns who holds roles, by a name, a previous name, an id or a glob. */
export function whoHas(
  snapshots: readonly AccessSnapshot[],
  role: string,
  matches: GlobMatch,
): AccessAnswers {
  const isMeant = nameMatcher(role, matches);
  const isAsked = ({ name, id, previousNames }: SnapshotRole): boolean =>
    isMeant(name) || (id !== null && isMeant(id)) || (isLiteralGlob(role) && previousNames.some(isMeant));
  return ask(snapshots, {
    granted: (role) => (isAsked(role) ? (sortedOf(role) ?? NOTHING) : NOTHING),
    role: isAsked,
    member: () => true,
    matched: ({ roles }) => roles.filter(isAsked).map(({ name }) => name),
    unknown: (snapshot) => withoutRoles(snapshot.merchant, snapshot.members),
  });
}

/** Returns the roles that members hold, selected by address, id or glob. A member without roles has one answer, without a role. */
export function whoIs(
  snapshots: readonly AccessSnapshot[],
  member: string,
  matches: GlobMatch,
): AccessAnswers {
  const isAsked = memberMatcher(member, matches);
  return ask(snapshots, {
    granted: sortedOf,
    role: () => true,
    member: isAsked,
    withoutRole: true,
    matched: ({ members }) => members.filter(isAsked).map(({ name }) => name),
    unknown: ({ merchant, roles, members }) =>
      unknownHolders({ merchant, roles, members: members.filter(isAsked) }),
  });
}

/** A question, as tests of roles and members. */
interface Asked {
  /** Returns the permissions of a role that the question is about; `null` if unknown. */
  readonly granted: (role: SnapshotRole) => readonly string[] | null;
  /** Absent: the roles that grant something. */
  readonly role?: (role: SnapshotRole) => boolean;
  readonly member: (member: SnapshotMember) => boolean;
  /** True if members without any role are answers, too. */
  readonly withoutRole?: true;
  readonly matched: (snapshot: AccessSnapshot) => readonly string[];
  readonly unknown: (snapshot: AccessSnapshot) => readonly UnknownAnswer[];
}

const NOTHING: readonly string[] = [];

function sortedOf({ permissions }: SnapshotRole): readonly string[] | null {
  return permissions && [...permissions].sort(byCodeUnit);
}

function ask(snapshots: readonly AccessSnapshot[], asked: Asked): AccessAnswers {
  const answers = snapshots.flatMap((snapshot) => answersOf(snapshot, asked));
  return {
    answers: answers.sort(byMemberAndMerchant),
    unknown: snapshots.flatMap(asked.unknown),
    matched: sortedSet(snapshots.flatMap(asked.matched)),
  };
}

function answersOf(
  { merchant, environment, roles, members }: AccessSnapshot,
  { granted, role: isAsked, member: isMeant, withoutRole }: Asked,
): readonly AccessAnswer[] {
  const asked = new Map(
    roles.flatMap((role) => {
      const permissions = granted(role);
      const belongs = isAsked ? isAsked(role) : permissions !== null && permissions.length > 0;
      return belongs ? [[role.key, { role, permissions }] as const] : [];
    }),
  );
  return members.filter(isMeant).flatMap(({ held, ...member }): readonly AccessAnswer[] => {
    if (held.length === 0 && withoutRole) {
      return [
        {
          merchant,
          environment,
          member,
          role: null,
          held: null,
          permissions: member.rolesKnown ? NOTHING : null,
        },
      ];
    }
    return held.flatMap((heldRole) => {
      const askedRole = asked.get(heldRole.role);
      return askedRole === undefined ? [] : [{ merchant, environment, member, held: heldRole, ...askedRole }];
    });
  });
}

/** Returns who holds roles of unknown permissions, and whose roles are unknown. */
function unknownHolders({
  merchant,
  roles,
  members,
}: Pick<AccessSnapshot, "merchant" | "roles" | "members">): readonly UnknownAnswer[] {
  const unclear = new Map(
    roles.flatMap(({ key, name, permissions }) => (permissions === null ? [[key, name] as const] : [])),
  );
  const holders = new Map<string, string[]>();
  for (const { name, held } of members) {
    for (const { role, effective } of held) {
      if (!effective || !unclear.has(role)) continue;
      const names = holders.get(role) ?? [];
      names.push(name);
      holders.set(role, names);
    }
  }
  return [
    ...[...holders].map(
      ([key, names]): UnknownAnswer => ({
        merchant,
        reason: "role-permissions",
        role: unclear.get(key) ?? key,
        members: names,
      }),
    ),
    ...withoutRoles(merchant, members),
  ];
}

function withoutRoles(merchant: string, members: readonly SnapshotMember[]): readonly UnknownAnswer[] {
  const names = members.flatMap(({ name, rolesKnown }) => (rolesKnown ? [] : [name]));
  return names.length === 0 ? [] : [{ merchant, reason: "member-roles", role: null, members: names }];
}

/**
 * Explains whether and why members can use permissions, both by a name or a glob; a permission that no role grants is
 * explained if it is a name.
 */
export function explainAccess(
  snapshots: readonly AccessSnapshot[],
  { member, permission }: { readonly member: string; readonly permission: string },
  matches: GlobMatch,
): AccessExplanations {
  const isMember = memberMatcher(member, matches);
  const isMeant = nameMatcher(permission, matches);
  const granted = sortedSet(
    snapshots.flatMap(({ roles }) => roles.flatMap(({ permissions }) => permissions?.filter(isMeant) ?? [])),
  );
  const asked = granted.length > 0 || !isLiteralGlob(permission) ? granted : [permission];
  return {
    explanations: snapshots
      .flatMap((snapshot) => explanationsAt(snapshot, snapshot.members.filter(isMember), asked))
      .sort(byMemberAndMerchant),
    members: sortedSet(snapshots.flatMap(({ members }) => members.filter(isMember).map(({ name }) => name))),
    permissions: granted,
  };
}

function explanationsAt(
  { merchant, environment, roles, members }: AccessSnapshot,
  asked: readonly SnapshotMember[],
  permissions: readonly string[],
): readonly AccessExplanation[] {
  if (asked.length === 0) return [];
  const byKey = new Map(roles.map((role) => [role.key, role]));
  const holders = new Map<string, Set<string>>();
  for (const { name, held } of members) {
    for (const { role, effective } of held) {
      if (effective) holders.set(role, (holders.get(role) ?? new Set()).add(name.toLowerCase()));
    }
  }
  return asked.flatMap(({ held, ...member }) => {
    const ways = held.flatMap((heldRole): readonly AccessWay[] => {
      const role = byKey.get(heldRole.role);
      return role === undefined
        ? []
        : [{ role, held: heldRole, holders: holders.get(heldRole.role) ?? new Set() }];
    });
    return permissions.map((permission): AccessExplanation => {
      const granting = ways.filter(({ role }) => role.permissions?.includes(permission));
      return {
        merchant,
        environment,
        member,
        permission,
        ways: granting.filter((way) => way.held.effective),
        without: granting.filter((way) => !way.held.effective),
        unclear: ways.flatMap(({ role, held: { effective } }) =>
          effective && role.permissions === null ? role.name : [],
        ),
      };
    });
  });
}

function byMemberAndMerchant(
  a: Pick<AccessAnswer, "member" | "merchant">,
  b: Pick<AccessAnswer, "member" | "merchant">,
): number {
  return (
    byCodeUnit(a.member.name.toLowerCase(), b.member.name.toLowerCase()) || byCodeUnit(a.merchant, b.merchant)
  );
}

/** Returns a matcher of members by one of their addresses, their id or a glob. */
function memberMatcher(
  pattern: string,
  matches: GlobMatch,
): (member: Pick<SnapshotMember, "name" | "id" | "otherAddresses">) => boolean {
  const isMeant = nameMatcher(pattern, matches);
  return ({ name, id, otherAddresses }) =>
    isMeant(name) || (id !== null && isMeant(id)) || (isLiteralGlob(pattern) && otherAddresses.some(isMeant));
}

/** Returns a matcher of names by their text or a glob, ignoring case; matching is remembered, as names repeat. */
function nameMatcher(pattern: string, matches: GlobMatch): (text: string) => boolean {
  const glob = pattern.toLowerCase();
  const matchesByText = new Map<string, boolean>();
  return (text) => {
    const cached = matchesByText.get(text);
    if (cached !== undefined) return cached;
    const lower = text.toLowerCase();
    const isMeant = lower === glob || (!isLiteralGlob(glob) && matches(glob, lower));
    matchesByText.set(text, isMeant);
    return isMeant;
  };
}
