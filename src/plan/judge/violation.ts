import type { Check, DesiredState } from "../../model/desired.ts";
import type { Access, PersonAccess } from "./access.ts";
import type { RefusalData } from "./refusals.ts";

/** The rules of a file on access, and what it says of members, for their end dates. */
export type Rules = Pick<DesiredState, "policies" | "checks" | "members">;

/** An access that rules are judged on. */
export interface Judged {
  readonly access: Access;
  /** The access that the numbers of holders are taken from: without removals that are deferred. */
  readonly settled: Access;
  /** Finds the key of a role by the name or id that a rule uses for it; undefined where there is no such role. */
  readonly find: (nameOrId: string) => string | undefined;
  /** Absent: judging may take as long as it takes. */
  readonly budget?: Budget;
}

/** The steps that judging may still take. */
export interface Budget {
  steps: number;
}

/** An error that says that judging takes more steps than any real access needs. */
export class TooMuchWork extends Error {}

/** Takes steps from the budget; throws `TooMuchWork` when there are too few. */
export function spend({ budget }: Judged, steps: number): void {
  if (budget === undefined) return;
  budget.steps -= steps;
  if (budget.steps < 0) throw new TooMuchWork();
}

/** One thing in an access that a policy or a check does not allow. */
export interface Violation {
  readonly data: RefusalData;
  /** Tells the rule apart from all others of the file. */
  readonly rule: string;
  /** The member or role that breaks it; null where it is all together. */
  readonly subject: Subject | null;
  /** The items that break the rule: it gets worse with any new item, unless they become fewer. */
  readonly extent: readonly string[];
  /** The check that is not met; null for a policy. */
  readonly check: Check | null;
}

/** A member or role; its id is null where it is not there yet, and the name is an address or that of the role. */
export interface Subject {
  readonly id: string | null;
  readonly name: string | null;
}

/** Returns a member as the subject of a violation. */
export function subjectOf({ id, email }: PersonAccess): Subject {
  return { id, name: email };
}
