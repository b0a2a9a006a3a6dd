import type { DesiredMember, DesiredState } from "../../model/desired.ts";

/** Returns the addresses of an entry's person in lower case: the current one, then the previous ones. */
export function addressesOfPerson({
  email,
  previously = [],
}: Pick<DesiredMember, "email" | "previously">): readonly string[] {
  return [email, ...previously].map((address) => address.toLowerCase());
}

/** Returns the entries of people by each of their addresses, in lower case; a current address comes before a previous one. */
export function entriesByAddress(members: readonly DesiredMember[] = []): ReadonlyMap<string, DesiredMember> {
  const entries = new Map(members.map((entry) => [entry.email.toLowerCase(), entry]));
  for (const entry of members) {
    if (entry.previously === undefined) continue;
    for (const address of addressesOfPerson(entry)) if (!entries.has(address)) entries.set(address, entry);
  }
  return entries;
}

/** Returns addresses, in lower case, with all other addresses of the same people; lists may be chained. */
export function withOtherAddresses(
  addresses: ReadonlySet<string>,
  members: readonly DesiredMember[],
): ReadonlySet<string> {
  const people = members.filter(({ previously }) => previously !== undefined).map(addressesOfPerson);
  const found = new Set(addresses);
  const related = people.filter((person) => person.some((address) => found.has(address)));
  for (const address of related.flat()) found.add(address);
  return found.size === addresses.size ? addresses : withOtherAddresses(found, members);
}

/** Returns a function that gives the addresses of a person, in lower case, by one of them. */
export function openAddresses(
  members: readonly DesiredMember[] = [],
): (address: string) => readonly string[] {
  const renamed = members.filter(({ previously }) => previously !== undefined);
  if (renamed.length === 0) return (address) => [address.toLowerCase()];
  const entries = entriesByAddress(renamed);
  return (address) => addressesOfPerson(entries.get(address.toLowerCase()) ?? { email: address });
}

/** Returns a function that gives the current address of a person, by one of their addresses. */
export function openCurrentAddresses(members: readonly DesiredMember[] = []): (address: string) => string {
  const renamed = members.filter(({ previously }) => previously !== undefined);
  const entries = entriesByAddress(renamed);
  return (address) => entries.get(address.toLowerCase())?.email ?? address;
}

/**
 * Returns a function that gives one key to all addresses of a person at some merchants, current and previous ones, and the
 * live one of the membership that an entry is pinned to. Two who are listed at one merchant stay two people.
 */
export function openPersonKeys(
  merchants: readonly Pick<DesiredState, "merchant" | "members">[],
  liveAddressOf: (merchant: string, id: string) => string | undefined,
): (address: string) => string {
  const links = merchants.flatMap(({ merchant, members = [] }) =>
    members.flatMap((member) => {
      const [address = "", ...previous] = addressesOfPerson(member);
      const pinned = member.id === undefined ? undefined : liveAddressOf(merchant, member.id)?.toLowerCase();
      const others = pinned === undefined || pinned === address ? previous : [...previous, pinned];
      return others.length === 0 ? [] : [{ address, others }];
    }),
  );
  const listedAt = new Map(
    links.flatMap(({ address, others }) =>
      [address, ...others].map((linked) => [linked, new Set<string>()] as const),
    ),
  );
  for (const { merchant, members = [] } of merchants) {
    for (const { email } of members) listedAt.get(email.toLowerCase())?.add(merchant);
  }
  const current = new Map<string, string>();
  const keyOf = (address: string): string => {
    let key = address;
    for (let next = current.get(key); next !== undefined; next = current.get(key)) {
      // Shortens the way for the next one who asks.
      current.set(key, current.get(next) ?? next);
      key = next;
    }
    return key;
  };
  for (const { address, others } of links) {
    const own = listedAt.get(address) ?? new Set();
    for (const other of others) {
      const areTwo = [...(listedAt.get(other) ?? [])].some((listed) => own.has(listed));
      const [key, otherKey] = [keyOf(address), keyOf(other)];
      if (key !== otherKey && !areTwo) current.set(otherKey, key);
    }
  }
  return (address) => keyOf(address.toLowerCase());
}
