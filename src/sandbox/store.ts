import type { AccountData, ApiKey, Member, Role, Snapshot, Status } from "./data.ts";
import { stableId } from "./ids.ts";
import { PREDEFINED_ROLES } from "./predefined-roles.ts";

/** A merchant or an organization with its members, indexed; it is changed in place because a copy of 100,000 members per write would be slow. */
export interface Account extends Omit<AccountData, "roles" | "members"> {
  /** Custom roles by id, in the order of their creation. */
  readonly roles: Map<string, Role>;
  /** Members by id, in the order of their creation; a changed one keeps its place. */
  readonly members: Map<string, Member>;
  /** The ids in the same order: a page is a slice of it. */
  readonly memberIds: string[];
  /** Member ids by lower-case e-mail address. */
  readonly byAddress: Map<string, readonly string[]>;
}

/** Everything that the sandbox knows, indexed. */
export interface Store {
  readonly merchants: ReadonlyMap<string, Account>;
  readonly organizations: ReadonlyMap<string, Account>;
  readonly keys: ReadonlyMap<string, ApiKey>;
  counter: number;
}

/** The e-mail address of a member in lower case; null where it has none. */
export function addressOf(member: Member): string | null {
  return (member.user?.email ?? member.invite?.email)?.toLowerCase() ?? null;
}

/** A member's status at a time: an invitation past its expiry is expired. */
export function statusOf(member: Member, now: number): Status {
  const expired =
    member.status === "pending" && member.invite !== undefined && member.invite.expiresAt <= now;
  return expired ? "expired" : member.status;
}

/** The time of a change, always later than the one before, so that `updated_at` tells two changes apart. */
export function touch(before: { readonly updatedAt: number }, now: number): number {
  return Math.max(now, before.updatedAt + 1);
}

/** The role with an id that members of an account may hold: a custom or a predefined one. */
export function findRole(account: Account, id: string): Role | undefined {
  return account.roles.get(id) ?? PREDEFINED_ROLES.get(id);
}

/** The members of an account that have an e-mail address, whatever its case. */
export function membersAt(account: Account, email: string): Member[] {
  const ids = account.byAddress.get(email.toLowerCase()) ?? [];
  return ids.flatMap((id) => account.members.get(id) ?? []);
}

/** Adds a member at the end of the list. */
export function addMember(account: Account, member: Member): void {
  account.members.set(member.id, member);
  account.memberIds.push(member.id);
  const address = addressOf(member);
  if (address !== null)
    account.byAddress.set(address, [...(account.byAddress.get(address) ?? []), member.id]);
}

/** Puts a changed member in the place of the old one; its address has to be the same. */
export function replaceMember(account: Account, member: Member): void {
  account.members.set(member.id, member);
}

/** Removes a member, which frees its address. */
export function removeMember(account: Account, member: Member): void {
  account.members.delete(member.id);
  account.memberIds.splice(account.memberIds.indexOf(member.id), 1);
  const address = addressOf(member);
  if (address === null) return;
  const others = (account.byAddress.get(address) ?? []).filter((id) => id !== member.id);
  if (others.length > 0) account.byAddress.set(address, others);
  else account.byAddress.delete(address);
}

/** A new id, the same in every run that made the same things before. */
export function nextId(store: Store, prefix: "role" | "mem", account: Account): string {
  store.counter += 1;
  return stableId(prefix, "created", account.id, store.counter);
}

function index(data: AccountData): Account {
  const account: Account = {
    ...data,
    roles: new Map(data.roles.map((role) => [role.id, role])),
    memberIds: [],
    members: new Map(),
    byAddress: new Map(),
  };
  for (const member of data.members) addMember(account, member);
  return account;
}

/** Builds the store from plain data. */
export function openStore(snapshot: Snapshot): Store {
  const of = (type: AccountData["type"]): Map<string, Account> =>
    new Map(snapshot.accounts.filter((data) => data.type === type).map((data) => [data.id, index(data)]));
  return {
    merchants: of("merchant"),
    organizations: of("organization"),
    keys: new Map(snapshot.keys.map((key) => [key.key, key])),
    counter: snapshot.counter,
  };
}
