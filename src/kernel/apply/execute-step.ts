import type { Phase, Step } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Change, MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import { checkPrecondition, PLANNED, type Planned, type PreconditionContext } from "./precondition.ts";
import {
  checkFailed,
  type Done,
  failureOf,
  type RunContext,
  type StepResult,
  sendAndRestore,
  sendRecorded,
} from "./send-recorded.ts";
import { runOneUntilKnown } from "./update-member.ts";
import {
  isPasswordChange,
  isReinvitation,
  type Reinvitation,
  type RoleUpdate,
  reinvitationWrites,
  type Write,
  writeOf,
} from "./write-change.ts";

/**
 * The phases in the order they run: additions come before removals, except that a role gains permissions only after
 * those who are to lose it have lost it, and an address is invited only after its member is removed. A role is deleted
 * once nobody holds it. The access of the key's own user is reduced last.
 */
export const PHASES: readonly Phase[] = [
  "free-names",
  "create-roles",
  "update-roles",
  "clear-invitations",
  "write-members",
  "set-passwords",
  "delete-members",
  "reuse-addresses",
  "widen-roles",
  "delete-roles",
  "own-access",
];

/** Returns the steps of a plan's changes, in the order of the phases. */
export function stepsOf(changes: readonly Change[]): readonly Step[] {
  const roles = changes.filter((change) => change.resource === "role");
  const renames = renameSteps(roles);
  const renamed = new Set(renames.filter(({ part }) => part === "whole").map(({ change }) => change));
  const freed = new Set(
    changes.flatMap((change) =>
      change.resource === "member" && change.kind === "delete" && !isLeftover(change)
        ? (change.before.email?.toLowerCase() ?? [])
        : [],
    ),
  );
  const rest = changes.flatMap((change) => (renamed.has(change as RoleChange) ? [] : partsOf(change, freed)));
  const widened = widenedLate(changes);
  const steps = [
    ...[...renames, ...rest].flatMap((step) => narrowing(step, widened) ?? []),
    ...[...widened].map(toWidening),
  ];
  return PHASES.flatMap((phase) => steps.filter((step) => step.phase === phase));
}

/**
 * Returns the updates that add permissions to a role that somebody loses. These are added last, so that an interrupted
 * run gives nobody more than the plan shows.
 */
function widenedLate(changes: readonly Change[]): ReadonlySet<RoleUpdate> {
  const members = changes.filter((change) => change.resource === "member");
  const lost = new Set(members.flatMap(({ before, after }) => rolesOnlyIn(before, after)));
  return new Set(
    changes.flatMap((change) =>
      change.resource === "role" && change.kind === "update" && lost.has(change.id) && isWidening(change)
        ? [change]
        : [],
    ),
  );
}

function isWidening({ fields }: RoleUpdate): boolean {
  return fields.some((diff) => diff.field === "permissions" && diff.added.length > 0);
}

/** Returns the step without the permissions that are added last; `null` if nothing else is left. */
function narrowing(step: Step, widened: ReadonlySet<Step["change"]>): Step | null {
  if (!widened.has(step.change) || step.part !== "whole") return step;
  const onlyWidens = step.change.fields.every(
    (diff) => diff.field === "permissions" && diff.removed.length === 0,
  );
  return onlyWidens ? null : { ...step, part: "narrow" };
}

function toWidening(change: RoleUpdate): Step {
  return { phase: "widen-roles", change, part: "widen" };
}

/** Returns the ids of the roles that one image of a member has and the other does not. */
export function rolesOnlyIn(image: MemberImage | null, other: MemberImage | null): readonly string[] {
  const others = new Set(other?.roles.map(({ id }) => id));
  return image?.roles.flatMap(({ id }) => (id === null || others.has(id) ? [] : id)) ?? [];
}

function partsOf(change: Change, freed: ReadonlySet<string>): readonly Step[] {
  if (change.resource === "member") return [{ phase: phaseOf(change, freed), change, part: "whole" }];
  switch (change.kind) {
    case "create":
      return [{ phase: "create-roles", change, part: "whole" }];
    case "update":
      return [{ phase: "update-roles", change, part: "whole" }];
    case "replace": {
      const remove: Step = { phase: "delete-roles", change, part: "remove" };
      return change.resumed === null ? [{ phase: "create-roles", change, part: "create" }, remove] : [remove];
    }
    case "delete":
      return [{ phase: "delete-roles", change, part: "whole" }];
    default:
      return change satisfies never;
  }
}

/**
 * Returns the phase of a member's change; `freed` are the addresses, in lower case, of the members that are deleted.
 */
function phaseOf(change: MemberChange, freed: ReadonlySet<string>): Phase {
  // Passwords are set after the member's other updates, whose recheck then finds the planned state.
  if (isPasswordChange(change)) return "set-passwords";
  if (change.kind === "delete") return isLeftover(change) ? "clear-invitations" : "delete-members";
  const isInvited = change.kind !== "update" && freed.has(change.after.email?.toLowerCase() ?? "");
  return isInvited ? "reuse-addresses" : "write-members";
}

/** Returns whether a change removes an expired invitation, which grants nothing and may prevent a new one. */
function isLeftover({ kind, reason }: MemberChange): boolean {
  return kind === "delete" && reason === "invitation-expired";
}

/**
 * Returns the renames of a plan in an order that keeps role names unique. A role that is deleted or part of a cycle of
 * renames gets a temporary name first.
 */
function renameSteps(changes: readonly RoleChange[]): readonly (Step & { readonly change: RoleChange })[] {
  const steps: (Step & { readonly change: RoleChange })[] = [];
  const add = (change: RoleChange, part: Step["part"]): void =>
    void steps.push({ phase: "free-names", change, part });

  const takenNames = new Set(changes.flatMap((change) => (takesName(change) ? change.after.name : [])));
  for (const change of changes) {
    const replaced = change.kind === "replace" && change.resumed === null;
    if (replaced || (change.kind === "delete" && takenNames.has(change.before.name)))
      add(change, "set-aside");
  }

  const renames = new Map(
    changes.flatMap((change) => (isRename(change) ? [[change.before.name, change]] : [])),
  );
  const state = new Map<RoleChange, "open" | "done">();
  const rename = (change: RoleChange & { kind: "update" }): void => {
    if (state.get(change) === "done") return;
    if (state.get(change) === "open") {
      add(change, "set-aside");
      return;
    }
    state.set(change, "open");
    const holder = renames.get(change.after.name);
    if (holder) rename(holder);
    add(change, "whole");
    state.set(change, "done");
  };
  for (const change of renames.values()) rename(change);
  return steps;
}

function isRename(change: RoleChange): change is RoleChange & { kind: "update" } {
  return change.kind === "update" && change.before.name !== change.after.name;
}

function takesName(change: RoleChange): change is RoleChange & { kind: "create" | "update" } {
  return change.kind === "create" || isRename(change);
}

/**
 * Executes a step: for each of its writes, checks the resource, records the intent, sends the request and records the
 * outcome.
 */
export async function executeStep(step: Step, run: RunContext): Promise<StepResult> {
  return runOneUntilKnown(run.putSemantics, step.change, async () =>
    // The run may have stopped while it waited for the update before it.
    run.stopped() ? { status: "not-started" } : executeNow(step, run),
  );
}

async function executeNow({ change, ...step }: Step, run: RunContext): Promise<StepResult> {
  return isReinvitation(change)
    ? reinvite({ ...step, change }, run)
    : sendPlanned({ ...step, change }, writeOf(change, step.part), run);
}

/** Sends a write if the resource is still as planned. */
async function sendPlanned(step: Step, write: Write, run: RunContext): Promise<StepResult> {
  const check = run.recheck ? await checkBefore(step, write, run) : PLANNED;
  if (check.status !== "planned") return check;
  return run.stopped() ? { status: "not-started" } : sendAndRestore(step, write, run, check.found);
}

/**
 * Sends a new invitation beside the expired one. If the service returns a conflict, it removes the expired one
 * first; the journal keeps its content in case the new one is refused.
 */
async function reinvite(
  step: Step & { readonly change: Reinvitation },
  run: RunContext,
): Promise<StepResult> {
  const { invite, remove, again } = reinvitationWrites(step.change);
  const invited = await sendPlanned(step, invite, run);
  if (invited.status === "done") return removeExpired(step, invited, remove, run);
  if (!isConflict(invited)) return invited;
  if (!run.recordable()) return invited;
  const removed = await sendPlanned(step, remove, run);
  if (removed.status === "unknown") return { ...removed, removed: "unknown" };
  if (removed.status !== "done") return removed;
  if (!run.recordable()) return { status: "unfinished", removed: true };
  const sent = await sendRecorded(step, again, run);
  switch (sent.status) {
    case "done":
      return sent;
    case "unknown":
      return { ...sent, removed: true };
    case "failed":
    case "stale":
      return { status: "unfinished", failure: sent.failure, removed: true };
    case "not-started":
      return { status: "unfinished", removed: true };
    default:
      return sent satisfies never;
  }
}

/** Removes the expired invitation, unless the service has renewed or removed it. */
async function removeExpired(step: Step, invited: Done, remove: Write, run: RunContext): Promise<StepResult> {
  if (invited.id === remove.id) return invited;
  if (!run.recordable()) return { status: "unfinished" };
  const removed = await sendPlanned(step, remove, run);
  switch (removed.status) {
    case "done":
    // The invitation is gone, or no longer expired.
    case "stale":
      return invited;
    case "not-started":
    case "unfinished":
      return { status: "unfinished" };
    case "failed":
    case "unknown":
      return removed.failure.code === "not-found"
        ? invited
        : { status: "unfinished", failure: removed.failure };
    default:
      return removed satisfies never;
  }
}

function isConflict(ended: StepResult): boolean {
  return ended.status === "failed" && ended.failure.code === "conflict";
}

/** Returns the result of a step whose write is not to be sent, else the live member. */
async function checkBefore(step: Step, write: Write, run: RunContext): Promise<StepResult | Planned> {
  const { stop } = run;
  // Each check has its own signal: Node warns of a leak if one signal has many listeners.
  const context: PreconditionContext = { ...run, signal: AbortSignal.any([stop]) };
  try {
    const check = await checkPrecondition(step, write, context, false);
    switch (check.status) {
      case "planned":
        return check;
      case "done":
        return { status: "done", id: write.id, adopted: false, already: true };
      case "stale":
        return { status: "stale", failure: { code: "stale", message: check.message } };
      default:
        return check satisfies never;
    }
  } catch (error) {
    // The run was stopped during the check.
    if (stop.aborted && error === stop.reason) return { status: "not-started" };
    if (run.stopped() && error instanceof RolecallError) return { status: "not-started" };
    return { status: "failed", failure: checkFailed(failureOf(error)) };
  }
}
