import type { DesiredMember, SyncOptions, Until } from "../../model/desired.ts";
import type { LiveMember } from "../../model/live.ts";
import type { MemberChange } from "../../model/plan.ts";
import type { FindingData } from "../judge/findings.ts";
import { type Declared, type Match, matchAll } from "../match.ts";
import type { Report, RoleResolver } from "../resolve.ts";
import { addressOf, isManaged, isServiceAccount, type Scope } from "../scope.ts";
import type { LostInvitation } from "./invitations-after.ts";
import { createMember, deleteMember, moveMember, reinviteMember, updateMember } from "./member-changes.ts";

/** What is planned for members. */
export interface MemberPlan {
  readonly changes: readonly MemberChange[];
  readonly unchanged: number;
  /** Live members that the file does not list and does not remove: under `additive`. */
  readonly unlisted: number;
  readonly findingData: readonly FindingData[];
}

/** When an entry was last committed: the day in UTC, and milliseconds since the epoch. */
export interface Committed {
  readonly day: string;
  readonly at: number;
}

/** Input to the renewal of expired invitations besides the file; addresses in lower case. */
export interface Renewal {
  /** Whose invitation is to be renewed whatever the file says. */
  readonly asked?: ReadonlySet<string>;
  /** When entries were last committed; absent: unknown, and renewed. */
  readonly committed?: ReadonlyMap<string, Committed>;
}

/** What planning members depends on besides the members. */
export interface MemberContext {
  readonly sync: Pick<SyncOptions, "members" | "reinvite">;
  readonly roles: RoleResolver;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** By address in lower case. */
  readonly lost: ReadonlyMap<string, LostInvitation>;
  /** The merchant's own file: the others may be shared with merchants of other members. */
  readonly file: string;
  readonly renewal: Renewal;
  /** Declared addresses that the file also tells to ignore. */
  readonly ignored: ReadonlySet<string>;
}

/** Compares the declared members with the live ones, and moves the holders of replaced roles. */
export function planMembers(
  desired: readonly DesiredMember[] | undefined,
  { members: live }: Pick<Scope, "members">,
  context: MemberContext,
): MemberPlan {
  const findingData: FindingData[] = [];
  const report: Report = (found) => void findingData.push(found);
  const { changes: declared, unclaimed } = planDeclared(desired ?? [], live, context, report);
  const removals = desired ? planUnlisted(unclaimed, context, report) : [];
  const moves = planMoves(live, [...declared, ...removals], context.roles);
  const changes = [...declared, ...removals, ...moves];
  const touched = changes.filter(({ kind }) => kind !== "create").length;
  const moved = new Set(moves.map(({ id }) => id));
  const isAdditive = desired !== undefined && context.sync.members === "additive";
  const unlisted = isAdditive ? unclaimed.filter(({ id }) => !moved.has(id)).length : 0;
  return { changes, unchanged: live.length - touched - unlisted, unlisted, findingData };
}

function planDeclared(
  desired: readonly DesiredMember[],
  live: readonly LiveMember[],
  context: MemberContext,
  report: Report,
): { readonly changes: readonly MemberChange[]; readonly unclaimed: readonly LiveMember[] } {
  const candidates = { live, keysOf: addressKeysOf, isLeftover: isExpired, endedAt };
  const pinning = { ...context, pins: pinsByAddress(desired, live) };
  const { results, unclaimed } = matchAll(desired, DECLARED, candidates, (member, match) =>
    planMember(activeAt(member, context.now), match, pinning, report),
  );
  return { changes: results.flat(), unclaimed };
}

/** A declared member at one moment: without the grants whose end is past. */
export interface ActiveMember {
  readonly member: DesiredMember;
  /** The membership itself, or every one of its grants, has ended. */
  readonly expired: boolean;
  /** Something that the file still grants has ended. */
  readonly partlyExpired: boolean;
}

/** What a declared member has at a moment, in milliseconds since the epoch. */
export function activeAt(member: DesiredMember, now: number): ActiveMember {
  const { roles } = member;
  if (isPast(member.until, now)) return { member, expired: true, partlyExpired: true };
  if (roles === undefined || !roles.some((grant) => isPast(grant.until, now))) {
    return { member, expired: false, partlyExpired: false };
  }
  const left = roles.filter((grant) => !isPast(grant.until, now));
  return { member: { ...member, roles: left }, expired: left.length === 0, partlyExpired: true };
}

function isPast(until: Until | undefined, now: number): boolean {
  return until !== undefined && until.ends <= now;
}

/** Members that an entry of another address is pinned to. */
type Pins = ReadonlyMap<string, { readonly id: string; readonly by: string }>;

function pinsByAddress(desired: readonly DesiredMember[], live: readonly LiveMember[]): Pins {
  const pinning = new Map(
    desired.flatMap(({ id, email }) => (id === undefined ? [] : [[id, email] as const])),
  );
  if (pinning.size === 0) return new Map();
  return new Map(
    live.flatMap((member) => {
      const by = pinning.get(member.id);
      return by === undefined || isExpired(member)
        ? []
        : addressKeysOf(member).map((address) => [address, { id: member.id, by }] as const);
    }),
  );
}

function planUnlisted(
  unclaimed: readonly LiveMember[],
  { sync, roles }: MemberContext,
  report: Report,
): readonly MemberChange[] {
  if (sync.members === "additive") return [];
  return unclaimed.flatMap((member) => {
    const address = addressOf(member);
    const moves = member.roles.some(roles.isReplaced);
    if (member.user && isServiceAccount(member) !== false) {
      report({ code: "member-service-account", name: address ?? member.id, type: member.user.type, moves });
      return [];
    }
    if (address !== null) return [deleteMember(member, roles, "unlisted")];
    report({ code: "member-without-address", name: member.id, moves });
    return [];
  });
}

/** Moves whoever holds a role that is replaced, and is not changed anyway. */
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
  at: ActiveMember,
  match: Match<LiveMember>,
  context: MemberContext & { readonly pins: Pins },
  report: Report,
): readonly MemberChange[] {
  const name = at.member.email;
  if (context.ignored.has(name)) {
    report({ code: "member-ignored", name });
    return [];
  }
  const lost = context.lost.get(name.toLowerCase());
  const pinned = context.pins.get(name.toLowerCase());
  if (pinned !== undefined && !at.expired && needsInvitation(name, match, context)) {
    report({ code: "member-pinned-elsewhere", name, ...pinned });
    return [];
  }
  switch (match.found) {
    case "none":
      if (at.expired || (lost === undefined && isMention(at.member, context.file))) return [];
      return present(createMember(at.member, lost, context.roles, report));
    case "pin-missing":
      if (match.heir?.status === "pending") return planPinned(at, match.heir, context, report);
      if (!at.expired && lost?.id === match.id && match.namesakes === 0) {
        return present(createMember(at.member, lost, context.roles, report));
      }
      // Whoever has no access left needs no pin, unless somebody of that address is there to be taken for them.
      if (!at.expired || match.namesakes > 0) report({ code: "member-pin-missing", name, id: match.id });
      return [];
    case "many":
      report({ code: "member-ambiguous", name, ids: match.live.map(({ id }) => id) });
      return [];
    case "one": {
      const found = planPinned(at, match.live, context, report);
      if (match.leftovers.length === 0) return found;
      const leftovers = match.leftovers.map((leftover) =>
        deleteMember(leftover, context.roles, "invitation-expired"),
      );
      return [...found, ...leftovers];
    }
    default:
      return match satisfies never;
  }
}

/** An entry of a shared file that says nothing of roles is about a member wherever there is one, and creates nobody. */
export function isMention({ roles, managed, origin }: DesiredMember, file: string): boolean {
  return roles === undefined && managed === undefined && origin.file !== file;
}

/** Plans for whom an entry stands for, which may be another one than the expired invitation that it is pinned to. */
function planPinned(
  at: ActiveMember,
  live: LiveMember,
  context: MemberContext,
  report: Report,
): readonly MemberChange[] {
  const { email: name, id } = at.member;
  if (id !== undefined && id !== live.id) report({ code: "member-pin-renewed", name, id, now: live.id });
  return planFound(at, live, context, report);
}

function needsInvitation(name: string, match: Match<LiveMember>, context: MemberContext): boolean {
  if (match.found !== "one") return match.found === "none";
  return isExpired(match.live) && obstacleToRenewal(name, context) === null;
}

function planFound(
  { member, expired, partlyExpired }: ActiveMember,
  live: LiveMember,
  context: MemberContext,
  report: Report,
): readonly MemberChange[] {
  const { roles } = context;
  const name = member.email;
  const address = addressOf(live);
  // An expired invitation is renewed under the address of the entry.
  const isOther = member.id !== undefined && !isExpired(live) && address !== null;
  if (isOther && !addressKeysOf(live).includes(name.toLowerCase())) {
    report({ code: "member-pin-other", name, id: live.id, address });
  }
  if (expired) return [deleteMember(live, roles, "access-ended")];
  if (live.status === "disabled") report({ code: "member-disabled", name });
  if (live.status === "unknown") report({ code: "member-status-unknown", name });
  if (member.managed && live.user && !isManaged(live)) report({ code: "member-not-managed", name });
  if (live.status === "expired") {
    const obstacle = obstacleToRenewal(name, context);
    if (obstacle === null) return present(reinviteMember(member, live, roles, report));
    report(obstacle);
    if (obstacle.code === "member-not-accepted") return [];
  }
  return present(updateMember(member, live, roles, report, partlyExpired ? "access-ended" : "declared"));
}

/** Why an expired invitation is not renewed; null where it is. */
function obstacleToRenewal(
  name: string,
  { sync: { reinvite }, renewal: { asked, committed }, now }: MemberContext,
): FindingData | null {
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

const DECLARED: Declared<DesiredMember> = {
  idOf: ({ id }) => id,
  keyOf: ({ email }) => email.toLowerCase(),
  nameOf: ({ email }) => email,
};

function addressKeysOf(live: LiveMember): readonly string[] {
  const [one, other] = [live.user?.email?.toLowerCase(), live.invite?.email.toLowerCase()];
  if (one === undefined) return other === undefined ? [] : [other];
  return other === undefined || other === one ? [one] : [one, other];
}

function isExpired(live: LiveMember): boolean {
  return live.status === "expired";
}

/** When an invitation has expired, ISO 8601. */
function endedAt({ invite }: LiveMember): string {
  return invite?.expiresAt ?? "";
}
