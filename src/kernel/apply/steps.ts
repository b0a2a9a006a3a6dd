import type { Phase, Step } from "../../model/apply.ts";
import type { Change, MemberChange, MemberImage, RoleChange } from "../../model/plan.ts";
import { isPasswordChange, type RoleUpdate } from "./write-change.ts";

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
