import { onCircles } from "../../lib/circles.ts";
import { by } from "../../lib/text.ts";
import type { Phase, Step } from "../../model/apply.ts";
import type { LiveMember } from "../../model/live.ts";
import type { Change, MemberChange } from "../../model/plan.ts";
import { PHASES, rolesOnlyIn, stepsOf } from "./steps.ts";

/** Steps that run side by side, once all earlier rounds have ended. */
export interface Round {
  readonly phase: Phase;
  /** Never empty. */
  readonly steps: readonly Step[];
}

/** What determines the order of steps, besides the plan. */
export interface OrderOptions {
  /** The member that the API key belongs to, whose access is reduced last; absent or `null`: unknown. */
  readonly caller?: Pick<LiveMember, "id" | "roles"> | null;
  /** Names or ids of the roles that must keep a minimum number of holders; absent if there are none. */
  readonly keptRoles?: readonly string[];
}

/**
 * Returns the rounds of a plan's changes, in the order of the phases. A role is given before it is taken from others,
 * so that nobody loses a role if the service refuses its new holder. The caller's own changes come last in their
 * rounds, or at the very end if they reduce its access.
 */
export function roundsOf(changes: readonly Change[], options: OrderOptions): readonly Round[] {
  const { caller = null, keptRoles = [] } = options;
  const steps = stepsOf(changes);
  const rank = ranksOf(changes, keptRoles);
  const own = caller === null ? [] : ownAccess(steps, changes, caller, rank);
  const postponed = new Set(own.flat());
  const isOwn = ({ change }: Step): boolean => change.id !== null && change.id === caller?.id;
  const rounds = PHASES.flatMap((phase) => {
    const due = steps.filter((step) => step.phase === phase && !postponed.has(step));
    const ordered = phase === "write-members" ? givenBeforeTaken(due, rank) : [due];
    return ordered
      .flatMap((some) => [some.filter((step) => !isOwn(step)), some.filter(isOwn)])
      .map((some): Round => ({ phase, steps: some }));
  });
  const last = own.map((some): Round => {
    const phase = "own-access";
    return { phase, steps: some.map((step) => ({ ...step, phase })) };
  });
  return [...rounds, ...last].filter((round) => round.steps.length > 0);
}

/**
 * Returns the steps that reduce the caller's access, after which it may lack the right to make other changes, and
 * those that must follow them, in rounds.
 */
function ownAccess(
  steps: readonly Step[],
  changes: readonly Change[],
  caller: NonNullable<OrderOptions["caller"]>,
  rank: Rank,
): readonly (readonly Step[])[] {
  const members = changes.filter((change) => change.resource === "member");
  const others = members.filter(({ id }) => id !== caller.id);
  const givenToOthers = new Set(others.flatMap(givenBy));
  const takenFromOthers = new Set(others.flatMap(takenBy));
  const isReduced = (change: MemberChange): boolean => {
    if (change.kind === "delete") return true;
    // A more valuable role of others is given to the caller before the others lose it.
    const handedOver = givenBy(change).filter((role) => takenFromOthers.has(role));
    return takenBy(change).some((role) => handedOver.every((other) => rank(role) <= rank(other)));
  };
  const own = members.find((change) => change.id === caller.id && isReduced(change));
  const lost = new Set(own && takenBy(own));
  const freed = own?.kind === "delete" ? own.before.email?.toLowerCase() : undefined;
  // A role that others get first loses its permissions.
  const narrowed = steps.filter(
    ({ phase, change: { id, fields } }) =>
      phase === "update-roles" &&
      id !== null &&
      caller.roles.includes(id) &&
      !givenToOthers.has(id) &&
      fields.some((diff) => diff.field === "permissions" && diff.removed.length > 0),
  );
  const narrowedRoles = new Set(narrowed.map(({ change }) => change.id));
  const follows = ({ phase, change }: Step): boolean => {
    switch (phase) {
      case "reuse-addresses":
        return freed !== undefined && change.name.toLowerCase() === freed;
      case "widen-roles":
        return narrowedRoles.has(change.id) || lost.has(change.id ?? "");
      case "delete-roles":
        return lost.has(change.id ?? "");
      default:
        return false;
    }
  };
  return [narrowed, steps.filter(({ change }) => change === own), steps.filter(follows)];
}

/** A step on a member, with the ids of the roles that it gives and takes. */
interface Move {
  readonly step: Step;
  readonly gives: readonly string[];
  readonly takes: readonly string[];
}

/** Divides steps on members into rounds: a role is given in an earlier round than it is taken. */
function givenBeforeTaken(steps: readonly Step[], rank: Rank): readonly (readonly Step[])[] {
  const moves = steps.flatMap((step): readonly Move[] =>
    step.change.resource === "member"
      ? [{ step, gives: givenBy(step.change), takes: takenBy(step.change) }]
      : [],
  );
  const awaited = awaitedRoles(moves, rank);
  const rounds: (readonly Step[])[] = [];
  let left = moves;
  while (left.length > 0) {
    const given = new Set(left.flatMap(({ gives }) => gives));
    const waits = ({ takes }: Move): boolean => takes.some((role) => awaited.has(role) && given.has(role));
    rounds.push(left.filter((move) => !waits(move)).map(({ step }) => step));
    left = left.filter(waits);
  }
  return rounds;
}

/**
 * Returns the roles that are given before they are taken. If people exchange roles, this is not possible for all of
 * them: the roles of the lowest rank are left out, until no cycle remains.
 */
function awaitedRoles(moves: readonly Move[], rank: Rank): ReadonlySet<string> {
  const given = new Set(moves.flatMap(({ gives }) => gives));
  const awaited = new Set(moves.flatMap(({ takes }) => takes.filter((role) => given.has(role))));
  /** Role → the roles that are given only after it. */
  const next = new Map<string, Set<string>>();
  for (const { gives, takes } of moves) {
    for (const role of takes) {
      const roles = next.get(role) ?? new Set();
      next.set(role, roles);
      for (const other of gives) roles.add(other);
    }
  }
  for (;;) {
    const circles = onCircles(awaited, (role) => [...(next.get(role) ?? [])].filter((id) => awaited.has(id)));
    const last = [...circles].sort(by((role) => `${rank(role)} ${role}`)).at(-1);
    if (last === undefined) return awaited;
    awaited.delete(last);
  }
}

/** The rank of a role by its id: the lower the rank, the more depends on the role's holders. */
type Rank = (role: string) => number;

/**
 * Ranks the roles of a plan: owners, roles that must keep a minimum number of holders, administrators, then all
 * others.
 */
function ranksOf(changes: readonly Change[], keptRoles: readonly string[]): Rank {
  const names = new Map(
    changes.flatMap(({ before, after }) =>
      [before, after].flatMap((image) =>
        image && "roles" in image ? image.roles.map(({ id, name }) => [id, name] as const) : [],
      ),
    ),
  );
  const kept = new Set(keptRoles.flatMap((role) => [role, `role_${role.toLowerCase()}`]));
  return (role) => {
    if (role === "role_owner") return 0;
    if (kept.has(role) || kept.has(names.get(role) ?? role)) return 1;
    return role === "role_admin" ? 2 : 3;
  };
}

/** Returns the ids of the roles that a change gives; an expired invitation holds none. */
function givenBy({ kind, before, after }: MemberChange): readonly string[] {
  return rolesOnlyIn(after, kind === "update" ? before : null);
}

/** Returns the ids of the roles that a change takes. */
function takenBy({ kind, before, after }: MemberChange): readonly string[] {
  return kind === "replace" ? [] : rolesOnlyIn(before, after);
}
