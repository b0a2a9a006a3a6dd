import { type DriftTimes, driftOf } from "../../ask/report/detect-drift.ts";
import { resultsAcross } from "../../kernel/rules/across-merchants.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Drift } from "../../model/reports.ts";
import type { Io } from "../io/io.ts";
import { driftTimes } from "../project/drift-times.ts";
import { globMatcher, type Planned, plannedOnly } from "../session/session.ts";

/** Returns the drift of the planned merchants; `declared` are all merchants that rules across merchants count. */
export async function driftsOf(
  planned: readonly Planned[],
  declared: readonly DesiredState[],
  io: Io,
): Promise<readonly Drift[]> {
  const run = plannedOnly(planned).map(({ plan, live, session }) => ({ plan, live, files: session.state }));
  const broken = resultsAcross(run, declared, io.now()).flatMap((rule) => rule.broken);
  const drifts = await Promise.all(
    planned.map(async (outcome): Promise<readonly Drift[]> => {
      if (outcome.status === "failed") return [];
      const { session, plan, live } = outcome;
      const times =
        plan.changes.length + plan.refusals.length === 0
          ? NO_TIMES
          : await driftTimes(session.state, { live, matches: globMatcher() }, plan, io);
      const across = broken.flatMap(({ refusal, of }) => (of.has(plan.merchant) ? refusal : []));
      return [driftOf({ desired: session.state, live }, plan, times, across)];
    }),
  );
  return drifts.flat();
}

const NO_TIMES: DriftTimes = { file: () => null, live: () => null };
