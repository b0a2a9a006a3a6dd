import type { Plan } from "../../model/plan.ts";
import { approvedPart } from "../../plan/select.ts";
import { changeId } from "../../render/tui/browse-model.ts";
import type { Io } from "../io/io.ts";
import type { Progress } from "../progress/progress.ts";
import { type Planned, planAll, type Session } from "../session/session.ts";
import { objectionsTo } from "./approval.ts";
import { browsePlans } from "./browse-plans.ts";

/** What somebody has selected of the plans, planned afresh. */
export interface Selection {
  readonly planned: readonly Planned[];
  /** What the fresh plans have that nobody has looked at: a sentence each. */
  readonly objections: readonly string[];
  /** How many changes are left out, by merchant. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Lets somebody choose on the terminal; null when they leave. Looking takes time, so everything is planned afresh after
 * it, without what is left out; what was looked at is then the approval of it.
 */
export async function selectChanges(
  planned: readonly Planned[],
  options: { readonly color: boolean },
  progress: Progress,
  io: Io,
): Promise<Selection | null> {
  const looks = planned.flatMap((one) => ("plan" in one && one.plan.changes.length > 0 ? [one] : []));
  const browsed = await browsePlans(
    looks.map(({ plan }) => plan),
    { ...options, selects: true },
    io,
  );
  if (!browsed.apply) return null;
  const selected = looks.map(({ session, plan }) => {
    const leaveOut = leaveOutOf(plan, browsed.leaveOut);
    return {
      session: { ...session, plan: () => session.plan(leaveOut) } satisfies Session,
      approved: approvedPart(plan, leaveOut),
      full: plan,
    };
  });
  progress.reading(selected.map(({ full }) => full.merchant));
  try {
    const fresh = await planAll({ all: selected.map(({ session }) => session), failed: [] }, progress.read);
    const made = fresh.flatMap((one) => ("plan" in one ? [one] : []));
    const again = new Map(selected.map(({ full }, index) => [full.merchant, fresh[index]]));
    return {
      planned: planned.map((one) => again.get("plan" in one ? one.plan.merchant : one.merchant) ?? one),
      objections: await objectionsTo(
        made,
        selected.map(({ approved }) => approved),
      ),
      leftOut: new Map(
        selected.map(({ full, approved }) => [full.merchant, full.changes.length - approved.changes.length]),
      ),
    };
  } finally {
    await progress.rest();
  }
}

/** Where anything is left out, so is what waits: that some other change is left out must not make it due. */
function leaveOutOf({ merchant, changes, deferred }: Plan, chosen: ReadonlySet<string>): ReadonlySet<string> {
  const out = changes.filter((change) => chosen.has(changeId(merchant, change)));
  if (out.length === 0) return new Set();
  return new Set([...out, ...deferred.map(({ change }) => change)].map(({ fingerprint }) => fingerprint));
}
