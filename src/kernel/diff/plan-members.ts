import type { DesiredMember, Grant, SyncOptions } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Deferred, MemberChange, RecordedInput } from "../../model/plan.ts";
import { inheriting, isManaged } from "../fields/member.ts";
import type { FindingData } from "../findings/findings.ts";
import { parseFrom } from "../values/dates.ts";
import { type ActiveMember, activeAt, isMention, reasonOf } from "./active-member.ts";
import {
  addressKeysOf,
  divideMemberships,
  type EntryMemberships,
  isDisabled,
  isExpired,
} from "./entry-memberships.ts";
import { type FormerChanges, givesAccess, planFormer } from "./former-members.ts";
import type { Match } from "./match.ts";
import { createMember, deleteMember, moveMember, reinviteMember, updateMember } from "./member-changes.ts";
import type { ReportFinding, RoleResolver } from "./resolve.ts";
import { addressOf, isServiceAccount, type Scope } from "./scope.ts";

/** The planned changes of members. */
export interface MemberPlan {
  readonly changes: readonly MemberChange[];
  readonly unchanged: number;
  /** Number of live members that the file neither lists nor removes. */
  readonly unlisted: number;
  readonly findingData: readonly FindingData[];
  /** Findings about roles that members will hold later. */
  readonly laterFindingData: readonly FindingData[];
  /** Updates that errors prevent, without the unresolvable roles: only their removals may be made. */
  readonly unresolved: readonly MemberChange[];
  /**
   * Removals that wait until the invitation to a new address is accepted: of `changes`, or of members whom `changes`
   * change.
   */
  readonly waiting: readonly Deferred[];
}

/** The time of an entry's last commit, as a day in UTC and in ms since the epoch. */
export interface Committed {
  readonly day: string;
  readonly at: number;
}

/** The input about invitations, besides the file; addresses are in lower case. */
export interface Renewal {
  /** Addresses whose invitation is renewed even if the file does not ask for it. */
  readonly asked?: ReadonlySet<string>;
  /** Times of the entries' last commits; an entry without one is renewed. */
  readonly committed?: ReadonlyMap<string, Committed>;
  /** The recorded live state; if absent, nothing is held back. */
  readonly recorded?: RecordedInput;
}

/** The input for planning members, besides the members. */
export interface MemberContext {
  readonly sync: Pick<SyncOptions, "members" | "reinvite">;
  readonly roles: RoleResolver;
  /** In ms since the epoch. */
  readonly now: number;
  /** The merchant's own file; other merchants may share included files. */
  readonly file: string;
  readonly renewal: Renewal;
  /** Declared addresses that the file also ignores. */
  readonly ignored: ReadonlySet<string>;
  /** Addresses, in lower case, of people who have left. */
  readonly left: ReadonlySet<string>;
}

/** Compares the declared members with the live ones, and moves the holders of replaced roles. */
export function planMembers(
  desired: readonly DesiredMember[] | undefined,
  scope: Pick<Scope, "members" | "ignoredMembers">,
  context: MemberContext,
): MemberPlan {
  const { members: live } = scope;
  const findingData: FindingData[] = [];
  const laterFindingData: FindingData[] = [];
  const unresolved: MemberChange[] = [];
  const report: ReportFinding = (finding) => void findingData.push(finding);
  const reportLater: ReportFinding = (finding) => void laterFindingData.push(finding);
  const { entries, leaving, pinnedToLeavers, unlisted } = divideMemberships(
    desired ?? [],
    scope,
    context.left,
  );
  for (const { email: name, id = "" } of pinnedToLeavers) report({ code: "member-pin-left", name, id });
  const planned = entries.map((memberships) =>
    planEntry(memberships, { ...context, reportLater, unresolved }, report),
  );
  const declared = planned.flatMap(({ changes }) => changes);
  const removals = [
    ...leaving.map((member) => deleteMember(member, context.roles, "left")),
    ...(desired ? planUnlisted(unlisted, context, report) : []),
  ];
  const moves = planMoves(live, [...declared, ...removals], context.roles);
  const changes = [...declared, ...removals, ...moves];
  const touched = changes.filter(({ kind }) => kind !== "create").length;
  const changed = new Set([...removals, ...moves].map(({ id }) => id));
  for (const { id, status, invite } of live) {
    if (status !== "pending" || invite === undefined || changed.has(id)) continue;
    const { email: name, expiresAt } = invite;
    const expires = parseFrom(expiresAt)?.starts ?? Number.POSITIVE_INFINITY;
    if (expires <= context.now) report({ code: "member-overdue", name, expiresAt });
  }
  const left = desired ? unlisted.filter(({ id }) => !changed.has(id)).length : 0;
  return {
    changes,
    unchanged: live.length - touched - left,
    unlisted: left,
    findingData,
    laterFindingData,
    unresolved,
    waiting: planned.flatMap(({ waiting }) => waiting),
  };
}

function planEntry(
  { entry, pinnedFormer: previously, match: found, formers, holder }: EntryMemberships,
  context: MemberContext & LaterReport,
  report: ReportFinding,
): FormerChanges {
  const { id = "", ...unpinned } = entry;
  const declared = activeAt(previously === null ? entry : unpinned, context.now);
  const { absent, suspended } = declared;
  if (previously !== null && absent === null) {
    report({ code: "member-pin-former", name: entry.email, id, previously });
  }
  const repeated = roleWithOtherDates(entry, context.roles);
  if (repeated !== null) report({ code: "member-role-conflict", name: entry.email, ...repeated });
  // An entry without a membership needs no pin, unless another member has its address.
  const isPinLost = found.found === "pin-missing" && absent !== null && found.live.length === 0;
  const match: Match<LiveMember> = isPinLost ? { found: "none" } : found;
  const predecessor = predecessorIn(formers);
  const active =
    match.found === "none" && predecessor !== undefined && !suspended
      ? { ...declared, member: successorOf(declared.member, predecessor, context) }
      : declared;
  const former = planFormer(active, match, formers, context, report);
  const [disabled] = predecessor === undefined ? formers : [];
  const own = planMember(active, match, { ...context, predecessor, disabled, holder }, report);
  return { changes: [...own, ...former.changes], waiting: former.waiting };
}

/**
 * Returns the membership whose place a new one takes: the first that is not disabled, with the roles of all those that
 * give access, so that nobody loses any by moving from two addresses to one.
 */
function predecessorIn(formers: readonly LiveMember[]): LiveMember | undefined {
  const first = formers.find((live) => !isDisabled(live));
  if (first === undefined || formers.length === 1) return first;
  const held = formers.filter((live) => live === first || givesAccess(live)).flatMap(({ roles }) => roles);
  return { ...first, roles: [...new Set(held)] };
}

/** Returns an entry that also declares what the membership of its previous address has, except ignored roles. */
function successorOf(
  member: DesiredMember,
  former: LiveMember,
  { roles }: Pick<MemberContext, "roles">,
): DesiredMember {
  return inheriting(member, { ...former, roles: former.roles.filter((id) => !roles.isIgnored(id)) });
}

/** Receives the findings about roles that members will hold later, and the updates of members with unknown roles. */
interface LaterReport {
  readonly reportLater: ReportFinding;
  readonly unresolved: MemberChange[];
}

/** The memberships besides an entry's own that decide whether it can be invited. */
interface Others extends Pick<EntryMemberships, "holder"> {
  /** The membership of a previous address that a new one replaces. */
  readonly predecessor: LiveMember | undefined;
  /** Set if all memberships of previous addresses are disabled. */
  readonly disabled: LiveMember | undefined;
}

function planUnlisted(
  unclaimed: readonly LiveMember[],
  { sync, roles }: MemberContext,
  report: ReportFinding,
): readonly MemberChange[] {
  if (sync.members === "additive") return [];
  const standing = new Set(unclaimed.filter((member) => !isExpired(member)).flatMap(addressKeysOf));
  return unclaimed.flatMap((member) => {
    const address = addressOf(member);
    const isLeftover = isExpired(member) && addressKeysOf(member).some((key) => standing.has(key));
    const moves = member.roles.some(roles.isReplaced);
    if (member.user && isServiceAccount(member) !== false) {
      report({ code: "member-service-account", name: address ?? member.id, type: member.user.type, moves });
      return [];
    }
    if (address !== null)
      return [deleteMember(member, roles, isLeftover ? "invitation-expired" : "unlisted")];
    report({ code: "member-without-address", name: member.id, moves });
    return [];
  });
}

/** Moves the holders of replaced roles who have no other change. */
function planMoves(
  live: readonly LiveMember[],
  changes: readonly MemberChange[],
  roles: RoleResolver,
): readonly MemberChange[] {
  if (!roles.replacesAny) return [];
  const decided = new Set(changes.flatMap(({ id }) => id ?? []));
  return live.flatMap((member) => (decided.has(member.id) ? [] : (moveMember(member, roles) ?? [])));
}

function planMember(
  active: ActiveMember,
  match: Match<LiveMember>,
  context: MemberContext & Others & LaterReport,
  report: ReportFinding,
): readonly MemberChange[] {
  const name = active.member.email;
  if (context.ignored.has(name)) {
    report({ code: "member-ignored", name });
    return [];
  }
  const leftovers = match.found === "one" ? removeLeftovers(active, match, context) : NOTHING;
  const obstacle = obstacleToInvitation(active, match, context);
  if (obstacle !== null) {
    report(obstacle);
    if (obstacle.code === "member-former-disabled") resolveRoles(active, context, report);
    return leftovers;
  }
  if (match.found !== "many" && match.found !== "pin-missing") {
    // Roles of later grants must exist now: otherwise, the error would block all changes on that day.
    context.roles.resolve(name, active.laterRoles, context.reportLater);
  }
  switch (match.found) {
    case "none":
      if (isAway(active) || isMention(active.member, context.file)) return [];
      return present(
        createMember(active.member, context.predecessor, context.roles, report, reasonOf(active)),
      );
    case "pin-missing":
      report({ code: "member-pin-missing", name, id: match.id });
      return [];
    case "many":
      report({ code: "member-ambiguous", name, ids: match.live.map(({ id }) => id) });
      return [];
    case "one":
      return [...planPinned(active, match.live, context, report), ...leftovers];
    default:
      return match satisfies never;
  }
}

function removeLeftovers(
  { member, absent }: ActiveMember,
  { live, leftovers }: Match<LiveMember> & { readonly found: "one" },
  { roles }: MemberContext,
): readonly MemberChange[] {
  // Without the invitation that it is pinned to, the entry would become ambiguous, unless that invitation was renewed.
  const keptId = absent === null && live.status !== "pending" ? member.id : undefined;
  return leftovers.flatMap((leftover) =>
    leftover.id === keptId ? [] : deleteMember(leftover, roles, "invitation-expired"),
  );
}

/** Reports the roles of an entry that cannot be resolved, even though the entry changes nobody. */
function resolveRoles(
  { member, laterRoles }: ActiveMember,
  { roles, reportLater }: MemberContext & LaterReport,
  report: ReportFinding,
): void {
  roles.resolve(member.email, roleNames(member), report);
  roles.resolve(member.email, laterRoles, reportLater);
}

/** Returns a role that an entry grants both by name and by id, with different dates; `null` if there is none. */
function roleWithOtherDates(
  { roles = [] }: DesiredMember,
  resolver: RoleResolver,
): { readonly role: string; readonly again: string } | null {
  if (!roles.some(({ from, until }) => from ?? until)) return null;
  const firsts = new Map<string, Grant>();
  for (const grant of roles) {
    const id = resolver.idOf(grant.role) ?? grant.role;
    const first = firsts.get(id);
    if (first === undefined) firsts.set(id, grant);
    else if (first.from?.starts !== grant.from?.starts || first.until?.ends !== grant.until?.ends) {
      return { role: first.role, again: grant.role };
    }
  }
  return null;
}

function roleNames({ roles = [] }: DesiredMember): readonly string[] {
  return roles.map(({ role }) => role);
}

/** Returns whether an entry invites nobody at the time of its state. */
function isAway({ absent, suspended }: ActiveMember): boolean {
  return absent !== null || suspended;
}

/**
 * Returns the reason not to invite an entry's address: the service would refuse, or the invitation would enable
 * somebody. `null` if there is no reason, or nobody is invited.
 */
function obstacleToInvitation(
  active: ActiveMember,
  match: Match<LiveMember>,
  context: MemberContext & Others,
): FindingData | null {
  if (isAway(active)) return null;
  const name = active.member.email;
  if (!needsInvitation(active.member, match, context)) return null;
  const { disabled, holder } = context;
  if (disabled !== undefined) {
    return { code: "member-former-disabled", name, previously: addressOf(disabled) ?? disabled.id };
  }
  if (holder === null) return departureOf(active.member, match, context);
  const { id, by } = holder;
  return by === null ? { code: "member-ignored", name } : { code: "member-pinned-elsewhere", name, id, by };
}

/** Returns the finding about a member who left the merchant themselves; `null` if they have not. */
function departureOf(
  member: DesiredMember,
  match: Match<LiveMember>,
  { renewal: { recorded }, file }: MemberContext,
): FindingData | null {
  const { email: name, managed } = member;
  if (!recorded?.departed.includes(name.toLowerCase())) return null;
  // Managed users cannot leave.
  const isInvited = match.found === "none" && managed === undefined;
  return isInvited && !isMention(member, file) ? { code: "member-departed", name, at: recorded.at } : null;
}

/** Plans the changes of a matched member, who may have renewed the expired invitation that the entry is pinned to. */
function planPinned(
  active: ActiveMember,
  live: LiveMember,
  context: MemberContext & LaterReport,
  report: ReportFinding,
): readonly MemberChange[] {
  const { email: name, id } = active.member;
  if (id !== undefined && id !== live.id) report({ code: "member-pin-renewed", name, id, now: live.id });
  return planFound(active, live, context, report);
}

function needsInvitation(member: DesiredMember, match: Match<LiveMember>, context: MemberContext): boolean {
  if (match.found !== "one") return match.found === "none";
  return isExpired(match.live) && obstacleToRenewal(member, context) === null;
}

function planFound(
  active: ActiveMember,
  live: LiveMember,
  context: MemberContext & LaterReport,
  report: ReportFinding,
): readonly MemberChange[] {
  const { member, absent, suspended } = active;
  const { roles } = context;
  const name = member.email;
  const address = addressOf(live);
  // An expired invitation is renewed under the address of the entry.
  const isOther = member.id !== undefined && !isExpired(live) && address !== null;
  if (isOther && !addressKeysOf(live).includes(name.toLowerCase())) {
    report({ code: "member-pin-other", name, id: live.id, address });
  }
  if (absent === "ended") return [deleteMember(live, roles, "access-ended")];
  if (absent === "not-begun") return [deleteMember(live, roles, "access-not-begun")];
  if (live.status === "disabled") report({ code: "member-disabled", name });
  if (live.status === "unknown") report({ code: "member-status-unknown", name });
  if (member.managed && live.user && !isManaged(live)) report({ code: "member-not-managed", name });
  // Without roles, there is nothing to invite the person to.
  if (suspended && live.status === "expired") return [];
  if (live.status === "expired") {
    const obstacle = obstacleToRenewal(member, context);
    if (obstacle === null) return present(reinviteMember(member, live, roles, report, active.back));
    report(obstacle);
    if (obstacle.code === "member-not-accepted") {
      roles.resolve(name, roleNames(member), report);
      return [];
    }
  }
  const change = updateMember(member, live, roles, report, reasonOf(active));
  context.unresolved.push(...unresolvedUpdate(active, live, roles, change));
  if (suspended && change !== null && !active.listsRoles) {
    const lost = change.fields.flatMap((diff) => (diff.field === "roles" ? diff.removed : []));
    if (lost.length > 0) report({ code: "member-roles-lost", name, roles: lost.map((role) => role.name) });
  }
  return present(change);
}

/**
 * Returns the update of a member without its unresolvable roles; empty if all can be resolved, or an update is already
 * planned.
 */
function unresolvedUpdate(
  active: ActiveMember,
  live: LiveMember,
  resolver: RoleResolver,
  planned: MemberChange | null,
): readonly MemberChange[] {
  const { email, roles = [] } = active.member;
  if (planned !== null) return NOTHING;
  const resolved = roles.filter(({ role }) => resolver.resolve(email, [role], unreported) !== null);
  if (resolved.length === roles.length) return NOTHING;
  return present(
    updateMember({ ...active.member, roles: resolved }, live, resolver, unreported, reasonOf(active)),
  );
}

/** The planned update reports it. */
const unreported: ReportFinding = () => undefined;

/** Returns the reason not to renew an expired invitation; `null` if it is renewed. */
function obstacleToRenewal(
  { email: name, ...member }: DesiredMember,
  { sync, renewal: { asked, committed }, now }: MemberContext,
): FindingData | null {
  const { reinvite = sync.reinvite } = member;
  const key = name.toLowerCase();
  if (reinvite === true || asked?.has(key)) return null;
  if (reinvite === false) return { code: "member-expired", name };
  const since = committed?.get(key);
  if (since === undefined || now - since.at < reinvite.ms) return null;
  return { code: "member-not-accepted", name, since: since.day, period: reinvite.text };
}

const NOTHING: readonly never[] = [];

function present(change: MemberChange | null): readonly MemberChange[] {
  return change ? [change] : NOTHING;
}
