import { isLiteralGlob } from "../../lib/glob.ts";
import { isSlip, openSuggester } from "../../lib/suggest.ts";
import { groupByKey } from "../../lib/text.ts";
import { isLikeRoleId, PREDEFINED_ROLES, predefinedRole, UNASSIGNABLE_ROLES } from "../../model/live.ts";
import type { FileLocation, LocatedProblem, Path } from "../problems/problem.ts";
import { grantPath, locationOf, memberLocation, type RawLeaver } from "../schema/raw-file.ts";
import type { LocatedName, RuleContext } from "./rule-context.ts";

interface Reference {
  readonly text: string;
  readonly location: FileLocation;
}

/** Requires that referenced roles are declared, if no others can exist; a shared rule may mean another merchant's. */
export function knownRoles(merchant: RuleContext): readonly LocatedProblem[] {
  const open = !merchant.rolesComplete;
  const names = new Set(merchant.roles.flatMap(({ name }) => name ?? []));
  const suggest = openSuggester([...names, ...PREDEFINED_ROLES]);
  const mayBeIgnored = openIgnored(merchant, "roles");
  const isKnown = (role: string) =>
    isLikeRoleId(role) || names.has(role) || merchant.renamed.has(role) || mayBeIgnored(role);
  const rules = namesOf("role", merchant);
  const isOwn = ({ location }: Reference) => location.file === merchant.main;
  const unknown = (references: readonly Reference[]) =>
    references.flatMap(({ text: role, location }) => {
      if (isKnown(role)) {
        return [];
      }
      return [{ role, near: suggest(role) ?? predefinedRole(role), location }];
    });
  const ownReferences = open ? [] : [...grantReferences(merchant, isKnown), ...rules.filter(isOwn)];
  return [
    ...unknown(ownReferences).map(
      (unknownRole): LocatedProblem => ({ code: "unknown-role", ...unknownRole }),
    ),
    ...unknown(rules.filter((rule) => !isOwn(rule))).map(
      (unknownRole): LocatedProblem => ({ code: "unknown-shared-role", open, ...unknownRole }),
    ),
  ];
}

/**
 * Warns of ids that resemble the id of a predefined role, unless a declared role has them: only the service knows all
 * ids.
 */
export function usualRoleIds(merchant: RuleContext): readonly LocatedProblem[] {
  const known = new Set([
    ...PREDEFINED_ROLES,
    ...merchant.roles.flatMap(({ name, id, previously }) => [name, id, ...previously]),
  ]);
  const suggest = openSuggester(PREDEFINED_ROLES);
  const isUsual = (role: string) => !isLikeRoleId(role) || known.has(role);
  return [...grantReferences(merchant, isUsual), ...namesOf("role", merchant)].flatMap(
    ({ text: role, location }): readonly LocatedProblem[] => {
      const near = isUsual(role) ? null : suggest(role);
      return near === null ? [] : [{ code: "similar-role-id", role, near, location }];
    },
  );
}

/** Warns once in each file of references to a role by its previous name, which still works. */
export function currentRoleNames(merchant: RuleContext): readonly LocatedProblem[] {
  const { renamed } = merchant;
  if (renamed.size === 0) {
    return [];
  }
  const references = [
    ...grantReferences(merchant, (role) => !renamed.has(role)),
    ...namesOf("role", merchant),
    ...namesOf("role-pattern", merchant),
    ...merchant.adjustments.flatMap(({ file, path, name }) =>
      name === null ? [] : [{ text: name, location: locationOf(file, [...path, "name"]) }],
    ),
  ];
  const former = references.filter(({ text }) => renamed.has(text));
  return groupByKey(former, ({ text, location }) => JSON.stringify([location.file, text])).map(
    (group): LocatedProblem => {
      const [{ text: role, location }] = group;
      const places = group.map((reference) => reference.location);
      return { code: "previous-role-name", role, name: renamed.get(role) ?? role, places, location };
    },
  );
}

/** Returns the literal names under `guards.protect` that no declared role has. */
export function knownProtectedRoles(merchant: RuleContext): readonly LocatedProblem[] {
  const open = !merchant.rolesComplete;
  const isOwn = ({ location }: Reference) => location.file === merchant.main;
  const references = namesOf("role-pattern", merchant).filter((reference) => !open || !isOwn(reference));
  if (references.length === 0) {
    return [];
  }
  const names = merchant.roles.flatMap(({ name }) => name ?? []);
  const lowerNames = new Set([...names, ...merchant.renamed.keys()].map((name) => name.toLowerCase()));
  const suggest = openSuggester([...new Set(names)]);
  const mayBeIgnored = openIgnored(merchant, "roles");
  const isKnown = (role: string) =>
    !isLiteralGlob(role) ||
    isLikeRoleId(role.toLowerCase()) ||
    lowerNames.has(role.toLowerCase()) ||
    mayBeIgnored(role);
  return references
    .filter(({ text }) => !isKnown(text))
    .map((reference): LocatedProblem => {
      const { text: role, location } = reference;
      const problem = { role, near: suggest(role), location };
      return isOwn(reference)
        ? { code: "unknown-protected-role", ...problem }
        : { code: "unknown-shared-role", open, protects: true, ...problem };
    });
}

/** Returns the grants of unknown roles. */
function grantReferences(
  { members, referencedRoles }: RuleContext,
  isKnown: (role: string) => boolean,
): readonly Reference[] {
  const strange = new Set([...referencedRoles].filter((role) => !isKnown(role)));
  if (strange.size === 0) {
    return [];
  }
  return members.flatMap((member) =>
    member.grants
      .filter(({ role }) => strange.has(role))
      .map((grant) => ({ text: grant.role, location: locationOf(member.file, grantPath(member, grant)) })),
  );
}

/** Returns the names in policies, guards and checks of all files that stand for the same thing. */
function namesOf(what: LocatedName["what"], { names }: RuleContext): readonly Reference[] {
  return names.filter((name) => name.what === what);
}

/** Requires that checks name declared members, if all members are declared. */
export function knownMembers(merchant: RuleContext): readonly LocatedProblem[] {
  if (!merchant.membersComplete) {
    return [];
  }
  const references = namesOf("member", merchant).filter(({ location }) => location.file === merchant.main);
  if (references.length === 0) {
    return [];
  }
  const emails = merchant.members.flatMap(({ email }) => email ?? []);
  const lowerAddresses = new Set(emails.map((email) => email.toLowerCase()));
  const suggest = openSuggester([...new Set(emails)]);
  const mayBeIgnored = openIgnored(merchant, "members");
  return references.flatMap(({ text: email, location }): readonly LocatedProblem[] =>
    !email.includes("@") || lowerAddresses.has(email.toLowerCase()) || mayBeIgnored(email)
      ? []
      : [{ code: "unknown-member", email, near: suggest(email), location }],
  );
}

/** Warns wherever a file still has the address of somebody who has left. */
export function noLeavers(merchant: RuleContext): readonly LocatedProblem[] {
  const { leavers, members, ignored, rawFiles, now } = merchant;
  const leaversByAddress = new Map<string, RawLeaver>();
  for (const leaver of leavers) {
    const { address, from } = leaver;
    const earliest = leaversByAddress.get(address ?? "")?.from?.starts ?? Number.POSITIVE_INFINITY;
    if (address !== null && from !== null && from.starts <= now && from.starts < earliest)
      leaversByAddress.set(address, leaver);
  }
  if (leaversByAddress.size === 0) {
    return [];
  }
  const ownFiles = new Set(rawFiles.map(({ file }) => file));
  const addresses = [
    ...members.flatMap((member) => [
      ...(member.email === null ? [] : [{ text: member.email, location: memberLocation(member, "email") }]),
      ...member.previously.map((text) => ({ text, location: memberLocation(member, "previously") })),
    ]),
    ...namesOf("member", merchant),
    ...namesOf("member-pattern", merchant),
    ...ignored.members.flatMap(({ value, location }) =>
      typeof value === "string" && ownFiles.has(location.file) ? [{ text: value, location }] : [],
    ),
  ];
  return addresses.flatMap(({ text, location }): readonly LocatedProblem[] => {
    const leaver = leaversByAddress.get(text.toLowerCase());
    if (leaver === undefined) return [];
    const first = locationOf(leaver.file, [...leaver.path, "email"]);
    return [{ code: "leaver-listed", email: text, from: leaver.from?.text ?? "", location, first }];
  });
}

/** Warns of roles that the service may refuse to assign, where a date requires it to assign them. */
export function assignableGrants({ members, now }: RuleContext): readonly LocatedProblem[] {
  return members.flatMap((member) =>
    member.grants.flatMap((grant): readonly LocatedProblem[] => {
      const { role } = grant;
      if (!UNASSIGNABLE_ROLES.includes(role)) return [];
      const begins = [grant.begin, member.begin].some((begin) => (begin?.from?.starts ?? now) > now);
      const end = member.suspended?.end?.until?.ends;
      const returns = member.suspended !== null && (end === undefined || end > now);
      if (!begins && !returns) return [];
      const when = begins ? "begins" : "returns";
      return [
        {
          code: "unassignable-role",
          role,
          when,
          location: locationOf(member.file, grantPath(member, grant)),
        },
      ];
    }),
  );
}

/** Returns the texts of the list at a path, as far as they are wanted. */
function textsIn(
  list: readonly unknown[],
  file: string,
  path: Path,
  isWanted: IsWanted,
): readonly Reference[] {
  return list.flatMap((text, index) =>
    isWanted(text) ? [{ text, location: locationOf(file, [...path, index]) }] : [],
  );
}

/** Warns of roles without a holder, if all members and their roles are declared. */
export function heldRoles(merchant: RuleContext): readonly LocatedProblem[] {
  const { membersComplete, roles, members, main, referencedRoles } = merchant;
  const declaredNames = new Set(roles.flatMap(({ name, id, previously }) => [name, id, ...previously]));
  // An unknown role may be a misspelling of the unheld one.
  const clear =
    !merchant.rolesComplete ||
    [...referencedRoles].every((role) => isLikeRoleId(role) || declaredNames.has(role));
  if (!membersComplete || !clear || !members.every(({ rolesComplete }) => rolesComplete)) {
    return [];
  }
  const unheld = roles.flatMap(({ name, id, previously, file, path }) =>
    name === null ||
    file !== main ||
    [name, id, ...previously].some((each) => each !== null && referencedRoles.has(each))
      ? []
      : [{ name, location: locationOf(file, [...path, "name"]) }],
  );
  const [first] = unheld;
  if (first === undefined) return [];
  return unheld.length > MAX_UNHELD
    ? [{ code: "unheld-role", names: unheld.map(({ name }) => name), location: first.location }]
    : unheld.map(({ name, location }): LocatedProblem => ({ code: "unheld-role", names: [name], location }));
}

// If there are more, they share one warning, at the first of them.
const MAX_UNHELD = 3;

// Number of uses from which a similar permission that is used once counts as a misspelling.
const MIN_COMMON_USES = 3;

/** Warns of a permission used once that resembles a frequent one. */
export function usualPermissions(merchant: RuleContext): readonly LocatedProblem[] {
  const { roles, adjustments } = merchant;
  const rulePermissions = namesOf("permission", merchant);
  const counts = new Map<unknown, number>();
  const lists = [
    ...roles.map(({ permissions }) => permissions),
    ...adjustments.map(({ add }) => add),
    rulePermissions.map(({ text }) => text),
  ];
  for (const list of lists) for (const text of list) counts.set(text, (counts.get(text) ?? 0) + 1);
  const often = [...counts].flatMap(([text, uses]) =>
    typeof text === "string" && uses >= MIN_COMMON_USES ? [text] : [],
  );
  // Most permissions are used more than once, and need no location.
  const isRare: IsWanted = (text): text is string => typeof text === "string" && counts.get(text) === 1;
  const once = [
    ...roles.flatMap(({ file, path, permissions }) =>
      textsIn(permissions, file, [...path, "permissions"], isRare),
    ),
    ...adjustments.flatMap(({ file, path, add }) => textsIn(add, file, [...path, "adjust", "add"], isRare)),
    ...rulePermissions.filter(({ text }) => isRare(text)),
  ];
  if (often.join("").length * once.reduce((sum, { text }) => sum + text.length, 0) > MAX_COMPARED) {
    return [];
  }
  return once.flatMap(({ text: permission, location }): readonly LocatedProblem[] => {
    const near = often.find((each) => isSlip(permission, each));
    return near === undefined ? [] : [{ code: "rare-permission", permission, near, location }];
  });
}

// Longer names are not typed by hand.
const MAX_COMPARED = 100_000_000;

type IsWanted = (text: unknown) => text is string;

/**
 * Returns a function that tests whether an ignore pattern may match: only the literal prefix counts, to avoid false
 * warnings.
 */
function openIgnored(merchant: RuleContext, key: "roles" | "members"): (text: string) => boolean {
  const beginnings = new Set(
    merchant.ignored[key].map(({ value }) => (/^[^*?[{(!\\]*/.exec(String(value))?.[0] ?? "").toLowerCase()),
  );
  return (text) => {
    const lower = text.slice(0, MAX_NAME).toLowerCase();
    return (
      beginnings.size > 0 &&
      Array.from({ length: lower.length + 1 }, (_, end) => end).some((end) =>
        beginnings.has(lower.slice(0, end)),
      )
    );
  };
}

const MAX_NAME = 500;
