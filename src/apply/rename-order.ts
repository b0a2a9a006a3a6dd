import type { RoleChange } from "../model/plan.ts";
import type { Step } from "./step.ts";

/**
 * The renames of a plan, in an order that the service allows: it knows no two roles of one name. A role that has to
 * go, or that is part of a circle of renames, is set aside under another name first.
 */
export function renameSteps(
  changes: readonly RoleChange[],
): readonly (Step & { readonly change: RoleChange })[] {
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
