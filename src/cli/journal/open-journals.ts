import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { OpenJournal } from "./open-journal.ts";

/** A plan that is about to be applied, with the passwords that are set besides. */
interface Planned {
  readonly plan: Plan;
  readonly passwords?: readonly unknown[];
}

/** Opens one journal for each plan, or none: those that are open already then say that nothing was done. */
export async function openJournals<Due extends Planned>(
  due: readonly Due[],
  open: (plan: Plan) => Promise<OpenJournal>,
): Promise<readonly (Due & { readonly journal: OpenJournal })[]> {
  const opened: (Due & { readonly journal: OpenJournal })[] = [];
  try {
    for (const one of due) opened.push({ ...one, journal: await open(one.plan) });
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    await Promise.all(opened.map((one) => abandon(one, error.message)));
    const { code, message, hint = "Make the folder writable." } = error;
    throw new RolecallError(code, message, { hint: `${hint} Nothing was changed.`, cause: error });
  }
  return opened;
}

async function abandon(
  { journal, plan, passwords = [] }: Planned & { readonly journal: OpenJournal },
  cause: string,
): Promise<void> {
  const left = plan.changes.length + passwords.length;
  const outcomes = { done: 0, failed: 0, unknown: 0, stale: 0, unfinished: 0, "not-started": left };
  // That it could not be kept either is no second problem.
  await journal.write({ type: "end", status: "stopped", cause, outcomes }).catch(() => undefined);
  await journal.close();
}
