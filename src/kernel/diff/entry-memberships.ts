import { groupByKey } from "../../lib/text.ts";
import type { DesiredMember } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import { type Match, matchAll } from "./match.ts";
import type { Scope } from "./scope.ts";

/** An entry with the live memberships that belong to it. */
export interface EntryMemberships {
  readonly entry: DesiredMember;
  /**
   * The previous address if the entry is pinned to that address's membership, so that the pin has no effect; else
   * `null`.
   */
  readonly pinnedFormer: string | null;
  readonly match: Match<LiveMember>;
  /** The memberships of the entry's previous addresses. */
  readonly formers: readonly LiveMember[];
  /** The membership for which the service would refuse to invite the entry's address; `null` if there is none. */
  readonly holder: AddressHolder | null;
}

/** A membership that is ignored or pinned, and has an address. */
interface AddressHolder {
  readonly id: string;
  /** The address of the entry that is pinned to it; `null` if the file ignores it. */
  readonly by: string | null;
}

/** The live memberships, divided by what they belong to. */
export interface DividedMemberships {
  /** Pinned entries first, then by address. */
  readonly entries: readonly EntryMemberships[];
  /** The memberships of people who have left, whatever else the files say about them. */
  readonly leaving: readonly LiveMember[];
  /** Entries of other people that are pinned to these memberships, and have no effect. */
  readonly pinnedToLeavers: readonly DesiredMember[];
  /** The memberships that belong to no entry. */
  readonly unlisted: readonly LiveMember[];
}

/**
 * Divides the live memberships among the entries. People who have left, with their addresses in `leftBy` in lower
 * case, have the memberships of these addresses and those to which entries with these addresses are pinned.
 */
export function divideMemberships(
  declared: readonly DesiredMember[],
  { members, ignoredMembers }: Pick<Scope, "members" | "ignoredMembers">,
  leftBy: ReadonlySet<string>,
): DividedMemberships {
  const hasLeft = ({ email }: DesiredMember): boolean => leftBy.has(email.toLowerCase());
  const leaverPins = new Set(declared.filter(hasLeft).flatMap(({ id }) => id ?? []));
  const isLeaving = (member: LiveMember): boolean =>
    leaverPins.has(member.id) || addressKeysOf(member).some((address) => leftBy.has(address));
  const leaving = leftBy.size === 0 ? [] : members.filter(isLeaving);
  const gone = new Set(leaving.map(({ id }) => id));
  const isPinnedToLeaver = ({ id = "" }: DesiredMember): boolean => gone.has(id);
  const staying = declared.filter((entry) => !hasLeft(entry));
  const entries = staying.filter((entry) => !isPinnedToLeaver(entry));

  const live = members.filter(({ id }) => !gone.has(id));
  const byId = new Map(live.map((member) => [member.id, member]));
  const pinnedFormer = ({ id = "", email, previously }: DesiredMember): string | null => {
    const pinned = byId.get(id);
    // An expired invitation is renewed to the new address.
    if (previously === undefined || pinned === undefined || isExpired(pinned)) return null;
    const keys = addressKeysOf(pinned);
    if (keys.includes(email.toLowerCase())) return null;
    return previously.find((address) => keys.includes(address.toLowerCase())) ?? null;
  };
  const idOf = (entry: DesiredMember): string | undefined =>
    pinnedFormer(entry) === null ? entry.id : undefined;
  const { results, unclaimed } = matchAll(
    entries,
    { idOf, keyOf: ({ email }) => email.toLowerCase(), nameOf: ({ email }) => email },
    {
      live,
      keysOf: addressKeysOf,
      isLeftover: isExpired,
      endedAt: ({ invite }) => invite?.expiresAt ?? "",
      isRenewal: ({ status }) => status === "pending",
    },
  );

  const pinned = results.map(({ entry }) => ({ member: byId.get(idOf(entry) ?? ""), by: entry.email }));
  const holders = new Map<string, AddressHolder>(
    [...ignoredMembers.map((member) => ({ member, by: null })), ...pinned].flatMap(({ member, by }) =>
      member === undefined || isExpired(member)
        ? []
        : addressKeysOf(member).map((address) => [address, { id: member.id, by }] as const),
    ),
  );
  const byFormerAddress = new Map(
    entries.flatMap((entry) =>
      (entry.previously ?? []).map((address) => [address.toLowerCase(), entry] as const),
    ),
  );
  const ownerOf = (member: LiveMember): DesiredMember | undefined =>
    addressKeysOf(member).flatMap((address) => byFormerAddress.get(address) ?? [])[0];
  const formers = new Map(groupByKey(unclaimed, ownerOf).map((group) => [ownerOf(group[0]), group]));
  return {
    entries: results.map(({ entry, match }) => ({
      entry,
      pinnedFormer: pinnedFormer(entry),
      match,
      formers: formers.get(entry) ?? [],
      holder: holders.get(entry.email.toLowerCase()) ?? null,
    })),
    leaving,
    pinnedToLeavers: staying.filter(isPinnedToLeaver),
    unlisted: formers.get(undefined) ?? [],
  };
}

/** Returns the distinct addresses of a live member, in lower case. */
export function addressKeysOf(live: LiveMember): readonly string[] {
  const [userEmail, other] = [live.user?.email?.toLowerCase(), live.invite?.email.toLowerCase()];
  if (userEmail === undefined) return other === undefined ? [] : [other];
  return other === undefined || other === userEmail ? [userEmail] : [userEmail, other];
}

/** Returns whether a live member is an expired invitation. */
export function isExpired({ status }: LiveMember): boolean {
  return status === "expired";
}

/** Returns whether a membership is disabled; no plan enables it. */
export function isDisabled({ status }: LiveMember): boolean {
  return status === "disabled";
}
