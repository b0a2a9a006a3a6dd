import type { DesiredState } from "../../model/desired.ts";
import type { PlanView } from "../../render/view/plan-view.ts";
import type { RiskItem } from "../../render/view/risk-view.ts";
import type { ActionContext } from "../action-context.ts";
import { baseStates } from "../github/base-states.ts";
import { GithubError } from "../github/github-api.ts";
import { maskAddresses } from "./mask-addresses.ts";

/**
 * Adds the entries of `ignore` that a pull request introduces to the risks of each merchant: what they match is no longer
 * managed. If the base branch cannot be read, every entry counts as new.
 */
export async function withNewIgnores(
  views: readonly PlanView[],
  head: readonly DesiredState[],
  context: ActionContext,
): Promise<readonly PlanView[]> {
  const ignoring = head.filter(({ ignore }) => ignore.roles.length + ignore.members.length > 0);
  if (context.event.pull === null || ignoring.length === 0) return views;
  const risks = newIgnores(ignoring, await baseOf(context));
  return views.map((view) => {
    const items = risks.get(view.merchant) ?? [];
    const shown = context.masked ? maskAddresses(items) : items;
    return items.length === 0
      ? view
      : { ...view, risks: [...view.risks, { kind: "ignored", items: shown, origin: "plan" }] };
  });
}

async function baseOf({ inputs, event, github, io, log }: ActionContext): Promise<readonly DesiredState[]> {
  const { pull } = event;
  if (pull === null) return [];
  try {
    return await baseStates(inputs.paths, pull, event, github, io.now());
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.notice("The base branch could not be read (contents: read): every entry of ignore is shown as new.");
    return [];
  }
}

/** Returns the entries of `ignore` that the base does not have, by merchant. */
function newIgnores(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
): ReadonlyMap<string, readonly RiskItem[]> {
  const before = new Map(base.map(({ merchant, ignore }) => [merchant, ignore]));
  return new Map(
    head.map(({ merchant, ignore }) => {
      const was = before.get(merchant);
      const added = (["role", "member"] as const).flatMap((resource) => {
        const key = `${resource}s` as const;
        const known = new Set(was?.[key]);
        return ignore[key].filter((pattern) => !known.has(pattern)).map((pattern) => ({ pattern, resource }));
      });
      const items = added.map(({ pattern, resource }): RiskItem => {
        return { name: pattern, what: `${resource}s that match are no longer managed`, resource };
      });
      return [merchant, items];
    }),
  );
}
