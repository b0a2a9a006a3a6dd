import { createHash } from "node:crypto";
import {
  type AccountData,
  type ApiKey,
  type Member,
  PREDEFINED_ROLES_BY_ID,
  type Role,
  type Snapshot,
  type StateChange,
  type Status,
} from "./snapshot.ts";

/** An indexed merchant or organization; mutable, because copying 100,000 members per write would be slow. */
export interface Account extends Omit<AccountData, "roles" | "members"> {
  /** Custom roles by id, in order of creation. */
  readonly roles: Map<string, Role>;
  /** Members by id, in order of creation; a changed one keeps its position. */
  readonly members: Map<string, Member>;
  /** Member ids in the same order; a page is a slice. */
  readonly memberIds: string[];
  /** Sort key of each member in that order. */
  readonly places: Map<string, number>;
  /** Member ids by lower-case e-mail address. */
  readonly byAddress: Map<string, readonly string[]>;
  /** Created on the first prefix search. */
  addresses: AddressIndex | null;
  /** Called with each change. */
  readonly onChange: OnChange;
}

/** Receives a state change after it was made. */
export type OnChange = (change: StateChange) => void;

/** The indexed state of the sandbox. */
export interface Store {
  readonly merchants: Map<string, Account>;
  readonly organizations: Map<string, Account>;
  readonly keys: Map<string, ApiKey>;
  counter: number;
  readonly onChange: OnChange;
}

/** Returns a member's e-mail address in lower case, or `null`. */
export function memberAddress(member: Member): string | null {
  return (member.user?.email ?? member.invite?.email)?.toLowerCase() ?? null;
}

/** Returns a member's status at a time; an invitation past its expiry is `expired`. */
export function statusOf(member: Member, now: number): Status {
  const expired =
    member.status === "pending" && member.invite !== undefined && member.invite.expiresAt <= now;
  return expired ? "expired" : member.status;
}

/** Returns the time of a change; always later than the last one, so that `updated_at` distinguishes them. */
export function touch(before: { readonly updatedAt: number }, now: number): number {
  return Math.max(now, before.updatedAt + 1);
}

/** Returns a custom role of the account or a predefined one by id. */
export function findAccountRole(account: Account, id: string): Role | undefined {
  return account.roles.get(id) ?? PREDEFINED_ROLES_BY_ID.get(id);
}

/** Returns the members with an e-mail address, ignoring case. */
export function membersByEmail(account: Account, email: string): Member[] {
  const ids = account.byAddress.get(email.toLowerCase()) ?? [];
  return ids.flatMap((id) => account.members.get(id) ?? []);
}

/** Returns the members whose address has a prefix, in list order; null if scanning all members is as fast. */
export function membersByPrefix(account: Account, prefix: string): readonly Member[] | null {
  account.addresses ??= createAddressIndex(account.byAddress.keys());
  const addresses = account.addresses.startingWith(prefix.toLowerCase(), MAX_PREFIX_MATCHES);
  if (addresses === null) return null;
  const place = ({ id }: Member): number => account.places.get(id) ?? 0;
  return addresses.flatMap((address) => membersByEmail(account, address)).sort((a, b) => place(a) - place(b));
}

const MAX_PREFIX_MATCHES = 1000;

function reportChange(account: Account, change: Omit<StateChange & { of: string }, "change" | "of">): void {
  account.onChange({ change: account.type, of: account.id, ...change });
}

/** Appends a member to the list. */
export function addMember(account: Account, member: Member): void {
  const last = account.memberIds.at(-1);
  account.places.set(member.id, last === undefined ? 0 : (account.places.get(last) ?? 0) + 1);
  account.members.set(member.id, member);
  account.memberIds.push(member.id);
  const address = memberAddress(member);
  if (address !== null) {
    const sameAddress = account.byAddress.get(address);
    account.byAddress.set(address, [...(sameAddress ?? []), member.id]);
    if (sameAddress === undefined) account.addresses?.add(address);
  }
  reportChange(account, { member });
}

/** Replaces a member; its address must be unchanged. */
export function replaceMember(account: Account, member: Member): void {
  account.members.set(member.id, member);
  reportChange(account, { member });
}

/** Removes a member and frees its address. */
export function removeMember(account: Account, member: Member): void {
  account.members.delete(member.id);
  account.memberIds.splice(account.memberIds.indexOf(member.id), 1);
  account.places.delete(member.id);
  const address = memberAddress(member);
  if (address !== null) {
    const sameAddress = (account.byAddress.get(address) ?? []).filter((id) => id !== member.id);
    if (sameAddress.length > 0) account.byAddress.set(address, sameAddress);
    else {
      account.byAddress.delete(address);
      account.addresses?.remove(address);
    }
  }
  reportChange(account, { gone: member.id });
}

/** Moves a member to the front of the list. */
export function moveToFront(account: Account, member: Member): void {
  const first = account.memberIds[0] ?? member.id;
  account.memberIds.splice(account.memberIds.indexOf(member.id), 1);
  account.memberIds.unshift(member.id);
  account.places.set(member.id, (account.places.get(first) ?? 0) - 1);
  const rest = [...account.members.values()].filter(({ id }) => id !== member.id);
  account.members.clear();
  for (const listed of [member, ...rest]) account.members.set(listed.id, listed);
  reportChange(account, { first: member.id });
}

/** Adds or replaces a role. */
export function putRole(account: Account, role: Role): void {
  account.roles.set(role.id, role);
  reportChange(account, { role });
}

/** Removes a role. */
export function removeRole(account: Account, role: Role): void {
  account.roles.delete(role.id);
  reportChange(account, { gone: role.id });
}

/** Returns a new id; runs that create the same things get the same ids. */
export function nextId(store: Store, prefix: "role" | "mem", account: Account): string {
  store.counter += 1;
  store.onChange({ change: "counter", counter: store.counter });
  return stableId(prefix, "created", account.id, store.counter);
}

function index(data: AccountData, onChange: OnChange): Account {
  const account: Account = {
    ...data,
    roles: new Map(data.roles.map((role) => [role.id, role])),
    memberIds: [],
    places: new Map(),
    members: new Map(),
    byAddress: new Map(),
    addresses: null,
    onChange,
  };
  for (const member of data.members) addMember(account, member);
  return account;
}

/** Adds a merchant or an organization. */
export function addAccount(store: Store, data: AccountData): Account {
  const account = index(data, store.onChange);
  (data.type === "merchant" ? store.merchants : store.organizations).set(data.id, account);
  return account;
}

/** Replays a change; false if its account, member or role does not exist. */
export function applyChange(store: Store, change: StateChange): boolean {
  if (change.change === "counter") {
    store.counter = change.counter;
    return true;
  }
  const account = (change.change === "merchant" ? store.merchants : store.organizations).get(change.of);
  if (account === undefined) return false;
  const { member, role, gone, first } = change;
  if (role !== undefined) putRole(account, role);
  if (member !== undefined) {
    if (account.members.has(member.id)) replaceMember(account, member);
    else addMember(account, member);
  }
  const goneRole = account.roles.get(gone ?? "");
  const goneMember = account.members.get(gone ?? "");
  const moved = account.members.get(first ?? "");
  if (goneRole !== undefined) removeRole(account, goneRole);
  if (goneMember !== undefined) removeMember(account, goneMember);
  if (moved !== undefined) moveToFront(account, moved);
  return [role, member, goneRole, goneMember, moved].some((part) => part !== undefined);
}

/** Builds the store of a snapshot; `onChange` receives each change from then on. */
export function openStore(snapshot: Snapshot, onChange: OnChange = () => undefined): Store {
  let ready = false;
  const later: OnChange = (change) => {
    if (ready) onChange(change);
  };
  const of = (type: AccountData["type"]): Map<string, Account> =>
    new Map(
      snapshot.accounts.filter((data) => data.type === type).map((data) => [data.id, index(data, later)]),
    );
  const store: Store = {
    merchants: of("merchant"),
    organizations: of("organization"),
    keys: new Map(snapshot.keys.map((key) => [key.key, key])),
    counter: snapshot.counter,
    onChange: later,
  };
  ready = true;
  return store;
}

/** A sorted index of lower-case e-mail addresses for prefix searches. */
export interface AddressIndex {
  add(address: string): void;
  remove(address: string): void;
  /** Returns the addresses with a prefix; null if more than `max`. */
  startingWith(prefix: string, max: number): readonly string[] | null;
}

/** Returns the first position whose address passes a test that all later ones pass too (binary search). */
function firstWhere(sorted: readonly string[], from: number, test: (address: string) => boolean): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const address = sorted[middle];
    if (address !== undefined && test(address)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Creates an index of unique addresses. */
function createAddressIndex(addresses: Iterable<string>): AddressIndex {
  // Sort by code unit, as `<` compares: a locale's order would separate equal prefixes.
  const sorted = [...addresses].sort((a, b) => (a < b ? -1 : 1));
  const positionOf = (address: string): number => firstWhere(sorted, 0, (candidate) => candidate >= address);
  return {
    add: (address) => {
      const position = positionOf(address);
      if (sorted[position] !== address) sorted.splice(position, 0, address);
    },
    remove: (address) => {
      const position = positionOf(address);
      if (sorted[position] === address) sorted.splice(position, 1);
    },
    startingWith: (prefix, max) => {
      const from = positionOf(prefix);
      const to = firstWhere(sorted, from, (address) => !address.startsWith(prefix));
      return to - from > max ? null : sorted.slice(from, to);
    },
  };
}

function digest(parts: readonly (string | number)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** Derives an id of the form `role_…` or `mem_…` from its parts. */
export function stableId(prefix: "role" | "mem", ...parts: readonly (string | number)[]): string {
  const letters = digest([prefix, ...parts])
    .toString("base64url")
    .replace(/[-_]/g, "");
  return `${prefix}_${letters.slice(0, 20)}`;
}

/** Derives the user id of an e-mail address, a UUID. */
export function userId(email: string): string {
  const bytes = digest(["user", email.toLowerCase()]).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Returns the digest by which a used password is recognised. */
export function passwordDigest(memberId: string, password: string): string {
  return digest(["password", memberId, password]).toString("base64url");
}

/** Derives the user's number in the deprecated `classic` object; fits a signed 32-bit integer. */
export function classicId(email: string): number {
  return digest(["classic", email.toLowerCase()]).readUInt32BE(0) >>> 1;
}
