import { type MemberIdentity, memberImage, newMemberValues } from "../../src/kernel/fields/member.ts";
import { buildPlan } from "../../src/kernel/plan/build-plan.ts";
import { judgeRun } from "../../src/kernel/rules/overrides.ts";
import type {
  DesiredMember,
  DesiredRole,
  DesiredState,
  From,
  Grant,
  GuardSettings,
  Leaver,
  Policies,
  SyncOptions,
  Until,
} from "../../src/model/desired.ts";
import type { MemberValues } from "../../src/model/field-values.ts";
import type { LiveMember, LiveRole, LiveState } from "../../src/model/live.ts";
import type { Change, MemberImage, Plan } from "../../src/model/plan.ts";

/** The place of what tests declare. */
export const ORIGIN = { file: "shop.yaml", path: [] };
const UPDATED = "2026-01-01T00:00:00.000Z";

/** A declared role; only what a test gives is managed. */
export function role(name: string, rest: Partial<DesiredRole> = {}): DesiredRole {
  return { name, permissions: [], origin: ORIGIN, ...rest };
}

/** A declared member; roles stand as names, or as grants with an end; only what a test gives is managed. */
export function member(
  email: string,
  {
    roles = [],
    ...rest
  }: Omit<Partial<DesiredMember>, "roles"> & { readonly roles?: readonly (string | Grant)[] } = {},
): DesiredMember {
  return {
    email,
    roles: roles.map((role) => (typeof role === "string" ? { role } : role)),
    origin: ORIGIN,
    ...rest,
  };
}

/** An end date; `ends` in milliseconds since the epoch. */
export function until(text: string): Until {
  return { text, ends: Date.parse(`${text}T24:00:00.000Z`) };
}

/** The start of a day; `starts` in milliseconds since the epoch. */
export function from(text: string): From {
  return { text, starts: Date.parse(`${text}T00:00:00.000Z`) };
}

/** Somebody who leaves at the start of a day. */
export function leaver(email: string, day: string): Leaver {
  return { email, from: from(day), origin: ORIGIN };
}

/** How the files of these tests are brought together with what is live. */
export const SYNC: SyncOptions = {
  roles: "authoritative",
  members: "authoritative",
  reinvite: true,
  replaceRoles: false,
};

/** Like `SYNC`, but members that no file lists are left alone. */
export const ADDITIVE: SyncOptions = { ...SYNC, members: "additive" };

/** No guards but the default ones. */
export const NO_GUARDS: GuardSettings = { protect: { roles: [], members: [] } };

export const NO_POLICIES: Policies = {
  separate: [],
  maxHolders: {},
  requireUntil: {},
  requireMfa: [],
  forbidPermissions: [],
};

/** The image of a member that has some values, and no others. */
export function image(
  email: string,
  values: Partial<MemberValues> = {},
  rest: Partial<MemberIdentity> = {},
): MemberImage {
  const identity = { email, status: null, passwordEnv: undefined, ...rest };
  return memberImage(identity, newMemberValues(values));
}

/** A desired state; without `roles` and `members` nothing is managed. */
export function desired(rest: Partial<DesiredState> = {}): DesiredState {
  return {
    merchant: "MC1",
    sync: SYNC,
    ignore: { roles: [], members: [] },
    guards: NO_GUARDS,
    policies: NO_POLICIES,
    checks: [],
    origin: ORIGIN,
    ...rest,
  };
}

/** Judges plans as one run; of the files only what a test gives. */
export function judgedRun(
  parts: readonly { readonly plan: Plan; readonly files: Partial<DesiredState> }[],
): readonly Plan[] {
  return judgeRun(parts.map(({ plan, files }) => ({ plan, files: desired(files), live: live() })));
}

/** A live custom role. */
export function liveRole(id: string, name: string, rest: Partial<LiveRole> = {}): LiveRole {
  return { id, name, permissions: [], predefined: false, metadata: {}, updatedAt: UPDATED, ...rest };
}

/** A live member who has accepted. */
export function liveMember(id: string, email: string, rest: Partial<LiveMember> = {}): LiveMember {
  return {
    id,
    roles: [],
    status: "accepted",
    user: { id: `user-${id}`, email, mfaOnLogin: false, type: "user" },
    metadata: {},
    updatedAt: UPDATED,
    ...rest,
  };
}

/** The predefined role of owners. */
export const OWNER: LiveRole = liveRole("role_owner", "Owner", { predefined: true });

/** A live member who owns the account. */
export const ADA: LiveMember = liveMember("mem_1", "ada@example.com", { roles: ["role_owner"] });

/** Any number of live members without roles. */
export function people(count: number): readonly LiveMember[] {
  return Array.from({ length: count }, (_, index) => liveMember(`mem_x${index}`, `p${index}@example.com`));
}

/** A live member who has been invited and has not accepted, or not in time. */
export function invited(id: string, email: string, rest: Partial<LiveMember> = {}): LiveMember {
  const { user: _, ...base } = liveMember(id, email);
  return { ...base, status: "pending", invite: { email, expiresAt: "2030-01-08T00:00:00.000Z" }, ...rest };
}

/** A live state. */
export function live(roles: readonly LiveRole[] = [], members: readonly LiveMember[] = []): LiveState {
  return { merchant: "MC1", roles, members, callerId: null };
}

/** The moment at which these tests plan. */
export const NOW: number = Date.parse("2026-06-15T12:00:00.000Z");

/** The plan for a desired and a live state. */
export function planOf(
  want: DesiredState,
  is: LiveState,
  now: number = NOW,
  leaveOut: ReadonlySet<string> = new Set(),
): Plan {
  return buildPlan({ desired: want, live: is, service: "https://service.example", now, matches, leaveOut });
}

/** Globs with `*` only, which is all that these tests need. */
export function matches(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  if (rest.length === 0) return glob === text;
  const last = rest.pop() ?? "";
  return text.startsWith(first) && text.endsWith(last) && text.length >= first.length + last.length;
}

/** A plan's refusals in short: `guard max-removals`, `policy separate ada@example.com`. */
export function briefRefusals(plan: Plan): readonly string[] {
  return plan.refusals.map(({ rule, code, name }) =>
    [rule, code, name].filter((part) => part !== null).join(" "),
  );
}

/** A plan's changes in short: `update member ada@example.com`. */
export function brief(plan: Plan): readonly string[] {
  return plan.changes.map(briefChange);
}

/** A change in short. */
export function briefChange(change: Change): string {
  return `${change.kind} ${change.resource} ${change.name}`;
}

/** A plan's findings in short: `error role-ambiguous Shift Lead`. */
export function briefFindings(plan: Plan): readonly string[] {
  return plan.findings.map(({ severity, code, name }) => `${severity} ${code} ${name}`);
}
