import {
  addressesOf,
  type GlobMatch,
  hasAddress,
  isServiceAccount,
  matchesAny,
} from "../../kernel/diff/scope.ts";
import { sortedSet } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveMember, LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import type { AccessReport, OffboardedPerson, OffboardStay, SoleAccess } from "../../model/reports.ts";

/** A merchant from whose files somebody is removed. */
export interface OffboardedMerchant {
  readonly before: DesiredState;
  /** The files without them. */
  readonly after: DesiredState;
  /** The live state, and the plan of the files without them; `null` if it was not read. */
  readonly read: { readonly live: LiveState; readonly plan: Plan } | null;
}

/** Answers of the service about merchants other than those of the files. */
export interface OffboardedElsewhere {
  /** True if nothing was asked of the service. */
  readonly declared: boolean;
  /** The merchants without a file where the person is live. */
  readonly live: readonly string[];
  /** The merchants without a file that could not be read. */
  readonly unread: readonly string[];
}

/** Returns where somebody is listed or live and, as far as known, stays; the address is in lower case. */
export function offboardedPerson(
  email: string,
  files: Pick<OffboardedPerson, "files" | "elsewhere">,
  merchants: readonly OffboardedMerchant[],
  { declared, live, unread }: OffboardedElsewhere,
  { matches, now }: { readonly matches: GlobMatch; readonly now: number },
): OffboardedPerson {
  const codesOf = (some: readonly OffboardedMerchant[]): readonly string[] =>
    some.map(({ after: { merchant } }) => merchant);
  const present = merchants.filter(({ read }) => read !== null && memberOf(email, read.live) !== undefined);
  const unknown = merchants.filter(({ read }) => read === null);
  return {
    email,
    ...files,
    live: declared ? null : [...codesOf(present), ...live].sort(),
    unknown: declared ? [] : [...codesOf(unknown), ...unread].sort(),
    stays: [
      ...merchants.flatMap((merchant) => stayOf(email, merchant, matches, now) ?? []),
      ...live.map((merchant): OffboardStay => ({ merchant, because: "no-file", live: true })),
    ],
    listed: codesOf(merchants.filter(({ after }) => isListed(email, after))),
  };
}

function memberOf(email: string, { members }: LiveState): LiveMember | undefined {
  return members.find((member) => hasAddress(member, email));
}

function isListed(email: string, { members = [] }: DesiredState): boolean {
  return members.some((member) => member.email.toLowerCase() === email);
}

/** Returns why the next plan leaves somebody at a merchant; `null` if it does not, or if they are not there. */
function stayOf(
  email: string,
  { before, after, read }: OffboardedMerchant,
  matches: GlobMatch,
  now: number,
): OffboardStay | null {
  const { merchant } = after;
  if (isListed(email, after)) return null;
  if (read === null) {
    // Nothing shows that anybody else is a member.
    const because = isListed(email, before) ? reasonInFiles([email], after, matches, now) : null;
    return because === null ? null : { merchant, because, live: null };
  }
  const member = memberOf(email, read.live);
  if (member === undefined || isRemoved(email, read.plan)) return null;
  const names = [email, ...addressesOf(member), member.id];
  const because =
    reasonInFiles(names, after, matches, now) ??
    (isServiceAccount(member) === false ? "unplanned" : "service-account");
  return { merchant, because, live: true };
}

function isRemoved(email: string, { changes, deferred }: Plan): boolean {
  return [...changes, ...deferred.map(({ change }) => change)].some(
    ({ kind, name }) => kind === "delete" && name.toLowerCase() === email,
  );
}

/** Returns why files that do not list a member keep it anyway; `null` if they do not. */
function reasonInFiles(
  names: readonly string[],
  { ignore, members, sync, leavers = [] }: DesiredState,
  matches: GlobMatch,
  now: number,
): OffboardStay["because"] | null {
  const leaver = leavers.find(({ email }) =>
    names.some((name) => name.toLowerCase() === email.toLowerCase()),
  );
  if (leaver !== undefined) return leaver.from.starts > now ? "leaves-later" : null;
  if (matchesAny(ignore.members, names, matches)) return "ignored";
  return members === undefined || sync.members === "additive" ? "unlisted" : null;
}

/**
 * Returns what only these people have, by address in lower case; pending and disabled members count as holders, too.
 */
export function soleAccess(
  { merchant, service, roles, members }: AccessReport,
  addresses: ReadonlySet<string>,
): SoleAccess {
  const byKey = new Map(roles.map((role) => [role.key, role]));
  const held = (isOne: boolean): ReadonlySet<string> =>
    new Set(
      members
        .filter(({ name }) => addresses.has(name.toLowerCase()) === isOne)
        .flatMap(({ before }) => before?.roles ?? []),
    );
  const permissionsOf = (keys: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...keys].flatMap((key) => byKey.get(key)?.before?.permissions ?? []));
  const [ownRoles, otherRoles] = [held(true), held(false)];
  const otherPermissions = permissionsOf(otherRoles);
  return {
    merchant,
    source: service === null ? "declared" : "live",
    permissions: sortedSet(
      [...permissionsOf(ownRoles)].filter((permission) => !otherPermissions.has(permission)),
    ),
    roles: sortedSet(
      [...ownRoles].filter((key) => !otherRoles.has(key)).map((key) => byKey.get(key)?.name ?? key),
    ),
  };
}
