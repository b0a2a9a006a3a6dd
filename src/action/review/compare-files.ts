import { isFileError } from "../../app/project/file-errors.ts";
import { globMatcher } from "../../app/session/session.ts";
import type { GlobMatch } from "../../kernel/diff/scope.ts";
import { memberAsDeclared } from "../../kernel/fields/member.ts";
import { roleAsDeclared } from "../../kernel/fields/role.ts";
import { buildPlan } from "../../kernel/plan/build-plan.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredMember, DesiredRole, DesiredState } from "../../model/desired.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import { planView } from "../../show/view/plan-view.ts";
import {
  type ActionContext,
  type ActionResult,
  failed,
  markerOf,
  passed,
} from "../context/action-context.ts";
import { ActionError } from "../context/action-error.ts";
import type { PullComment } from "../github/pull-comment.ts";
import { baseStates } from "./base-commit.ts";
import { type LoadedFiles, underBaseRules } from "./load-and-plan.ts";
import { aboutFiles, aboutRun, planOutputs, publish, type ReviewPage } from "./publish-plan.ts";
import { ruleNotes } from "./rule-notes.ts";

/** Compares the files of a pull request with those of its base branch, for runs without an API key. */
export async function compareFiles(
  context: ActionContext,
  read: LoadedFiles,
  comment: PullComment,
): Promise<ActionResult> {
  const { inputs, event, io, log } = context;
  if (event.pull === null) {
    throw new ActionError(
      "key-missing",
      "There is no API key for any merchant.",
      "Set the input api-key or api-keys, or the variables that the files name.",
    );
  }
  const base = await baseStates(context);
  const loaded = await underBaseRules(read, base, inputs, io);
  const plans = configDiff(loaded.states, base?.states ?? [], globMatcher(), io.now());
  log.notice("This run has no API key: the files are only compared with those of the base branch.");
  const fileErrors = loaded.diagnostics.filter(isFileError);
  const views = context.mask(plans).map((plan) => planView(plan));
  const rules = await ruleNotes({ loaded, base, plans: null }, context);
  const page: ReviewPage = {
    marker: markerOf("plan", context.scope),
    review: { command: "plan", views, unplanned: [], fileErrors: fileErrors.length, rules },
    about: [
      aboutRun(context),
      "> [!IMPORTANT]\n> **Not compared with the live state.** This run has no API key, like every run for a fork or by Dependabot. It shows the differences between the files of this pull request and those of its base branch; an apply may make more or fewer changes.",
      ...(loaded.earlier === null ? [] : [loaded.earlier]),
      ...aboutFiles(context, loaded.diagnostics),
    ],
    after: [],
  };
  const changes = plans.some((plan) => plan.changes.length > 0) || rules.length > 0;
  const outputs = { ...planOutputs(plans), ...(await publish(context, page, null, comment, changes)) };
  if (fileErrors.length > 0) {
    return failed(
      "failed",
      "invalid-files",
      `The files have ${counted(fileErrors.length, "error")}.`,
      outputs,
    );
  }
  if (loaded.diagnostics.some(({ refusal }) => refusal)) {
    return failed("refused", "refused", "The files break their own policies or checks.", outputs);
  }
  return passed("compared", outputs);
}

/**
 * Returns the changes of a pull request to the files as plans, treating the files of the base branch as the live state.
 * Without the real live state there are no refusals, and nothing to approve.
 */
export function configDiff(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  matches: GlobMatch,
  now: number,
): readonly Plan[] {
  const before = new Map(base.map((state) => [state.merchant, state]));
  return head.map((state) => {
    const desired: DesiredState = {
      ...state,
      // Show every removed entry, even one that an apply would keep at the service.
      sync: { ...state.sync, roles: "authoritative", members: "authoritative" },
      ignore: { roles: [], members: [] },
    };
    const live = asLive(desired, before.get(state.merchant));
    const plan = buildPlan({ desired, live, service: "the files of the base branch", now, matches });
    return {
      ...plan,
      refusals: [],
      findings: [],
      changes: [...plan.changes, ...plan.deferred.map((d) => d.change)],
      deferred: [],
    };
  });
}

function asLive(head: DesiredState, base: DesiredState | undefined): LiveState {
  const roles = (base?.roles ?? []).map((role) => liveRole(role, head));
  const byName = new Map(roles.map((role) => [role.name, role]));
  const undeclaredRoles = new Map<string, LiveRole>();
  const idOf = (role: string): string => {
    const declaredRole = byName.get(role);
    if (declaredRole) return declaredRole.id;
    undeclaredRoles.set(role, {
      id: role,
      name: role,
      permissions: [],
      predefined: true,
      metadata: {},
      updatedAt: "",
    });
    return role;
  };
  for (const { role } of (head.members ?? []).flatMap((member) => member.roles ?? [])) idOf(role);
  const members = (base?.members ?? []).map((member) => liveMember(member, head, idOf));
  const declared = new Set((head.roles ?? []).map(({ name }) => name));
  const undeclared = [...undeclaredRoles.values()].filter(({ name }) => !declared.has(name));
  return { merchant: head.merchant, roles: [...roles, ...undeclared], members, callerId: null };
}

function liveRole(role: DesiredRole, head: DesiredState): LiveRole {
  const { name } = role;
  const pinned =
    head.roles?.find((entry) => entry.name === name || entry.previously?.includes(name))?.id ?? role.id;
  return roleAsDeclared(role, pinned ?? `file:${name}`);
}

function liveMember(member: DesiredMember, head: DesiredState, idOf: (role: string) => string): LiveMember {
  const { email, roles = [] } = member;
  const same = head.members?.find((entry) => entry.email.toLowerCase() === email.toLowerCase());
  const id = same?.id ?? member.id ?? `file:${email.toLowerCase()}`;
  return memberAsDeclared(
    member,
    id,
    roles.map(({ role }) => idOf(role)),
  );
}
