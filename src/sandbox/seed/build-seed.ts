import { INVITATION_MS, userAt } from "../routes/member-operations.ts";
import type { AccountData, ApiKey, Member, Role, Snapshot } from "../state/snapshot.ts";
import { stableId } from "../state/store.ts";
import { resolveRole, type Seed, type SeedMember, type SeedMerchant, seedSchema } from "./parse-seed.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SEEDED_AT = "2026-01-05T09:00:00.000Z";

/** The seed of a sandbox that is given none. */
export const DEFAULT_SEED: Seed = seedSchema.parse({
  merchants: [
    {
      code: "MC0DEMO1",
      name: "Demo Merchant",
      members: [{ email: "owner@example.com", roles: ["role_owner"], mfa: true }],
    },
  ],
  keys: [{ key: "sk_test_sandbox", owner: "owner@example.com" }],
});

interface Times {
  readonly created_at?: string | undefined;
  readonly updated_at?: string | undefined;
}

function timesOf({ created_at, updated_at }: Times): { createdAt: number; updatedAt: number } {
  const createdAt = Date.parse(created_at ?? SEEDED_AT);
  return { createdAt, updatedAt: updated_at === undefined ? createdAt : Date.parse(updated_at) };
}

function buildRole(role: SeedMerchant["roles"][number], code: string): Role {
  const { name, description, permissions, metadata } = role;
  const id = role.id ?? stableId("role", "seed", code, name);
  return { id, name, description, permissions, metadata, ...timesOf(role) };
}

/** Returns the expiry of a seeded invitation: in the future if pending, in the past if expired, whatever the clock. */
function expiryOf(member: SeedMember, createdAt: number, now: number): number {
  if (member.expires_at !== undefined) return Date.parse(member.expires_at);
  return member.status === "pending"
    ? now + INVITATION_MS
    : Math.min(createdAt + INVITATION_MS, now - DAY_MS);
}

function typeOf({ type, managed, service_account }: SeedMember): string {
  return type ?? (managed ? "managed_user" : service_account ? "service_account" : "user");
}

function userOf(member: SeedMember, email: string, updatedAt: number): Member["user"] {
  const user = userAt(email, {
    mfa: member.mfa,
    type: typeOf(member),
    nickname: member.managed?.nickname,
    disabledAt: member.status === "disabled" && typeOf(member) === "managed_user" ? updatedAt : undefined,
  });
  return member.user_id === undefined ? user : { ...user, id: member.user_id.toLowerCase() };
}

function buildMember(member: SeedMember, id: string, roles: readonly string[], now: number): Member {
  const times = timesOf(member);
  const { email, metadata, attributes, permissions } = member;
  const status = member.status === "expired" ? "pending" : member.status;
  const common = { id, roles, status, metadata, attributes, permissions, ...times };
  if (member.no_address || email === undefined) return common;
  return status === "pending"
    ? { ...common, invite: { email, expiresAt: expiryOf(member, times.createdAt, now) } }
    : { ...common, user: userOf(member, email, times.updatedAt) };
}

function buildMembers(
  members: readonly SeedMember[],
  account: string,
  roleIds: ReadonlyMap<string, string>,
  now: number,
): Member[] {
  const times = new Map<string, number>();
  return members.map((member) => {
    const name = member.email?.toLowerCase() ?? "";
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const id = member.id ?? stableId("mem", "seed", account, name, nth);
    const roles = member.roles.flatMap((role) => resolveRole(role, roleIds) ?? []);
    return buildMember(member, id, [...new Set(roles)], now);
  });
}

/** Returns whether only live keys reach a merchant. */
function isLive(code: string, keys: readonly ApiKey[]): boolean {
  const merchantKeys = keys.filter(({ merchants }) => merchants?.includes(code) ?? true);
  return merchantKeys.length > 0 && merchantKeys.every(({ key }) => key.startsWith("sk_live_"));
}

/** Builds a merchant of a seed with these keys; only the expiry of invitations depends on the time. */
export function buildMerchant(merchant: SeedMerchant, keys: readonly ApiKey[], now: number): AccountData {
  const { code, name = code, logo, sandbox = !isLive(code, keys), parent } = merchant;
  const roles = merchant.roles.map((role) => buildRole(role, code));
  // Names last: a name wins over an identical id.
  const ids = new Map([
    ...roles.map(({ id }) => [id, id] as const),
    ...roles.map((role) => [role.name, role.id] as const),
  ]);
  const members = buildMembers(merchant.members, code, ids, now);
  return { type: "merchant", id: code, name, logo, sandbox, parent, ...timesOf(merchant), roles, members };
}

function buildOrganization(organization: Seed["organizations"][number], now: number): AccountData {
  const { id, name = id, logo, sandbox, parent } = organization;
  const members = buildMembers(organization.members, id, new Map(), now);
  return {
    type: "organization",
    id,
    name,
    logo,
    sandbox,
    parent,
    ...timesOf(organization),
    roles: [],
    members,
  };
}

function defaultKey(accounts: readonly AccountData[]): ApiKey {
  const accepted = accounts[0]?.members.filter((member) => member.status === "accepted") ?? [];
  const owner = accepted.find((member) => member.roles.includes("role_owner")) ?? accepted[0];
  return { key: "sk_test_sandbox", owner: owner?.user?.email };
}

/** Builds the state that a seed describes; only the expiry of invitations depends on the time. */
export function buildSeed(seed: Seed, now: number): Snapshot {
  const merchants = seed.merchants.map((merchant) => buildMerchant(merchant, seed.keys ?? [], now));
  const organizations = seed.organizations.map((organization) => buildOrganization(organization, now));
  const accounts = [...merchants, ...organizations];
  return {
    format: "rolecall-sandbox",
    version: 1,
    counter: 0,
    keys: seed.keys ?? [defaultKey(accounts)],
    accounts,
  };
}

function rolesOf(index: number, account: AccountData): string[] {
  const roles = [index % 10 === 0 ? "role_manager" : "role_employee"];
  const custom = account.roles[index % (account.roles.length + 1)];
  return custom === undefined ? roles : [...roles, custom.id];
}

/** Returns the nth generated member: an employee; every 10th a manager, every 25th still invited. */
function generateMember(index: number, account: AccountData, now: number): Member {
  const email = `member-${String(index).padStart(6, "0")}@example.com`;
  const common = {
    id: stableId("mem", "generated", account.id, index),
    roles: rolesOf(index, account),
    metadata: { employee_id: String(index) },
    createdAt: account.createdAt,
    updatedAt: account.createdAt,
  };
  return index % 25 === 0
    ? { ...common, status: "pending", invite: { email, expiresAt: now + INVITATION_MS } }
    : { ...common, status: "accepted", user: userAt(email) };
}

/** Generates members for an account, the same ones on every run. */
export function generateMembers(count: number, account: AccountData, now: number): Member[] {
  return Array.from({ length: count }, (_, position) => generateMember(position + 1, account, now));
}
