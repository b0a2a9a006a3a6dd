import type { Phase } from "../model/apply.ts";
import type { Change, RoleChange } from "../model/plan.ts";
import { renameSteps } from "./rename-order.ts";
import { isPasswordChange, type Step } from "./step.ts";

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

/** Everything that a plan's changes take, in the order of the phases. */
export function stepsOf(changes: readonly Change[]): readonly Step[] {
  const roles = changes.filter((change) => change.resource === "role");
  const named = renameSteps(roles);
  const renamed = new Set(named.filter(({ part }) => part === "whole").map(({ change }) => change));
  const rest = changes.flatMap((change) => (renamed.has(change as RoleChange) ? [] : partsOf(change)));
  return [...named, ...PHASES.flatMap((phase) => rest.filter((step) => step.phase === phase))];
}

function partsOf(change: Change): readonly Step[] {
  if (change.resource === "member") {
    // After the member itself, as which it is looked at again.
    if (isPasswordChange(change)) return [{ phase: "set-passwords", change, part: "whole" }];
    if (change.kind !== "delete") return [{ phase: "write-members", change, part: "whole" }];
    // An expired invitation gives no access, and may stand in the way of a new one.
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
