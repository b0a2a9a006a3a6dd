import type { Scenario } from "./scenario.ts";
import type { Sent } from "./service.ts";

/** A member as it stands in the end. */
export interface Standing {
  readonly id: string;
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly metadata?: object | undefined;
}

interface Entry {
  readonly email: string;
  readonly roles?: readonly string[];
  readonly metadata?: object;
}

/**
 * What expired invitations held, no file manages, and nobody holds in the end, although all was applied. `cutShort` are
 * the requests of an apply that may not have come to restore what the service emptied.
 */
export function heldNoMore(
  { world, want, faults }: Scenario,
  list: readonly Standing[],
  cutShort: readonly Sent[],
): readonly string[] {
  const entries = new Map((want.members ?? []).map((one) => [(one as Entry).email, one as Entry]));
  // What somebody else has changed meanwhile was not for us to keep.
  if (faults.some((rule) => ["concurrent-edit", "shift"].includes((rule as { kind: string }).kind)))
    return [];
  const emptied = emptiedIn(cutShort);
  return world.members.flatMap(({ email, status, roles, metadata = {} }) => {
    const entry = entries.get(email);
    if (status !== "expired" || entry === undefined) return [];
    const now = list.filter((one) => one.email?.toLowerCase() === email.toLowerCase());
    const kept = now.some(
      (one) =>
        emptied.has(one.id) ||
        ((entry.roles !== undefined || one.roles.length === roles.length) &&
          (entry.metadata !== undefined || textOf(one.metadata ?? {}) === textOf(metadata))),
    );
    return kept ? [] : [`what the expired invitation of ${email} held is lost`];
  });
}

/** The ids of members whose update the service took for the whole member: no invitation was renewed there. */
function emptiedIn(sent: readonly Sent[]): ReadonlySet<string | null> {
  const puts = sent.filter(({ committed, faults }) => committed && faults.includes("replacing-put"));
  return new Set(puts.map(({ resource }) => resource));
}

function textOf(metadata: object): string {
  return JSON.stringify(Object.entries(metadata).sort());
}
