import type { PasswordChange, Phase } from "../model/apply.ts";
import type { Change, RoleChange } from "../model/plan.ts";

/** The phases in the order they run: additions come before removals, and a role goes only when nobody holds it. */
export const PHASES: readonly Phase[] = [
  "free-names",
  "create-roles",
  "update-roles",
  "clear-invitations",
  "write-members",
  "set-passwords",
  "delete-members",
  "delete-roles",
];

/** Returns the steps of a plan's changes, in the order of the phases. */
export function stepsOf(changes: readonly Change[]): readonly Step[] {
  const roles = changes.filter((change) => change.resource === "role");
  const named = renameSteps(roles);
  const renamed = new Set(named.filter(({ part }) => part === "whole").map(({ change }) => change));
  const rest = changes.flatMap((change) => (renamed.has(change as RoleChange) ? [] : partsOf(change)));
  return [...named, ...PHASES.flatMap((phase) => rest.filter((step) => step.phase === phase))];
}

function partsOf(change: Change): readonly Step[] {
  if (change.resource === "member") {
    // After the member's own update, so that its recheck finds the planned state.
    if (isPasswordChange(change)) return [{ phase: "set-passwords", change, part: "whole" }];
    if (change.kind !== "delete") return [{ phase: "write-members", change, part: "whole" }];
    // An expired invitation grants nothing, and may conflict with a new one.
    const phase = change.reason === "invitation-expired" ? "clear-invitations" : "delete-members";
    return [{ phase, change, part: "whole" }];
  }
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

/** The part of a change in one phase; a change has one or several. */
export interface Step {
  readonly phase: Phase;
  readonly change: Change | PasswordChange;
  /**
   * `set-aside` renames a role temporarily to free its name; `create` and `remove` make up a replacement; `restore`
   * restores fields of a member that the service has emptied.
   */
  readonly part: "whole" | "set-aside" | "create" | "remove" | "restore";
}

/** Tells if a change only sets a new password. */
export function isPasswordChange(change: Change | PasswordChange): change is PasswordChange {
  return "passwordEnv" in change;
}

/**
 * Returns the renames of a plan in an order without conflicts, since names of roles are unique. A role that is deleted
 * or part of a cycle of renames gets a temporary name first.
 */
function renameSteps(changes: readonly RoleChange[]): readonly (Step & { readonly change: RoleChange })[] {
  const steps: (Step & { readonly change: RoleChange })[] = [];
  const add = (change: RoleChange, part: Step["part"]): void =>
    void steps.push({ phase: "free-names", change, part });

  const wanted = new Set(changes.flatMap((change) => (takesName(change) ? change.after.name : [])));
  for (const change of changes) {
    const replaced = change.kind === "replace" && change.resumed === null;
    if (replaced || (change.kind === "delete" && wanted.has(change.before.name))) add(change, "set-aside");
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
