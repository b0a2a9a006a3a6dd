import { by } from "../../lib/text.ts";
import type { LiveState } from "../../model/live.ts";
import type { Finding } from "../../model/plan.ts";
import { toFinding } from "../findings/findings.ts";

/**
 * Returns the members who were enabled or disabled between two reads, except the ids in `enabled`; a change in an
 * invitation's status is not a finding.
 */
export function statusChanges(
  before: Pick<LiveState, "members">,
  after: Pick<LiveState, "members">,
  enabled: ReadonlySet<string>,
): readonly Finding[] {
  const statuses = new Map(before.members.map(({ id, status }) => [id, status]));
  return after.members
    .flatMap(({ id, status, user, invite }): readonly Finding[] => {
      const former = statuses.get(id) ?? status;
      if (former === status || (former !== "disabled" && status !== "disabled") || enabled.has(id)) return [];
      const name = user?.email ?? invite?.email ?? id;
      return [toFinding({ code: "member-status-changed", name, was: former, is: status })];
    })
    .sort(by(({ name }) => name));
}
