import type { Change } from "../model/plan.ts";
import { isMemberUpdate, type MemberField, omittedFields } from "./member-fields.ts";

/** How a service treats the fields that an update of a member does not hold, as far as a run has seen. */
export interface PutSemantics {
  /** Fields that an update did not hold and the service kept. */
  readonly kept: Set<MemberField>;
  /** The service has emptied a field: from then on members are sent whole. */
  replaces: boolean;
  /** Ends with the update that finds it out, for which all others wait; null while there is none. */
  probe: Promise<void> | null;
}

/** Nothing is known yet. */
export function unknownPutSemantics(): PutSemantics {
  return { kept: new Set(), replaces: false, probe: null };
}

/** Whether the service is known to keep fields that an update leaves out. */
export function isKept({ kept }: PutSemantics, omitted: readonly MemberField[]): boolean {
  return omitted.every((field) => kept.has(field));
}

/**
 * Does the work of a change; one by one while it would show how the service treats what an update leaves out, so that
 * a service that empties it does so to one member only.
 */
export async function oneUntilKnown<T>(
  semantics: PutSemantics,
  change: Change,
  work: () => Promise<T>,
): Promise<T> {
  if (!isMemberUpdate(change)) return work();
  const omitted = omittedFields(change);
  for (;;) {
    if (semantics.replaces || isKept(semantics, omitted)) return work();
    if (semantics.probe === null) break;
    await semantics.probe;
  }
  const probing = work();
  const ended = (): void => {
    semantics.probe = null;
  };
  semantics.probe = probing.then(ended, ended);
  return probing;
}
