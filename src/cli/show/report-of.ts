import type { AccessReport } from "../../model/access-report.ts";
import { liveReport } from "../../plan/report/build-access-report.ts";
import type { Planned } from "../session/session.ts";

/** The report of a merchant that was read; with its plan, also what that would leave behind. */
export function reportOf(
  { session, live, plan }: Extract<Planned, { readonly plan: unknown }>,
  planned: boolean,
): AccessReport {
  const { state, environment } = session;
  return liveReport({
    live,
    desired: state,
    service: plan.service,
    environment,
    plan: planned ? plan : null,
  });
}
